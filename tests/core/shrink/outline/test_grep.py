from holdfast.core.shrink.outline.outline import Outline, outline


def test_files_come_with_counts_and_first_matches() -> None:
    text = """\
src/app/a.py:3:def load(path):
src/app/a.py:9:    load(other)
--
src/app/b.py-4-import a
src/app/b.py:5:a.load(x)
"""
    assert outline(text) == Outline(
        "grep",
        "grep: 3 matches in 2 files",
        ("src/app/a.py (2) L3: def load(path):", "  L9: load(other)", "src/app/b.py L5: a.load(x)"),
    )


def test_a_file_named_above_its_matches_is_found() -> None:
    text = """\
Found 3 matches
/home/me/a.py:
  Line 3: def load(path):
  Line 9:     load(other)
/home/me/b.py:
  Line 5: a.load(x)
"""
    assert outline(text) == Outline(
        "grep",
        "grep: 3 matches in 2 files",
        (
            "/home/me/a.py (2) L3: def load(path):",
            "  L9: load(other)",
            "/home/me/b.py L5: a.load(x)",
        ),
    )


def test_a_file_named_in_full_and_relative_is_one_file() -> None:
    text = """\
src/deep/er/a.py:3:def load(path):
/home/me/src/deep/er/a.py:9:    load(other)
src/deep/er/b.py:4:load(x)
"""
    assert outline(text) == Outline(
        "grep",
        "grep: 3 matches in 2 files",
        (
            "src/deep/er/a.py (2) L3: def load(path):",
            "  L9: load(other)",
            "src/deep/er/b.py L4: load(x)",
        ),
    )


def test_more_files_than_lines_show_one_match_each() -> None:
    text = "".join(f"src/f{at}.py:{line}:x = {line}\n" for at in range(4) for line in (1, 2, 3))
    assert outline(text, lines=4) == Outline(
        "grep",
        "grep: 12 matches in 4 files",
        (
            "src/f0.py (3) L1: x = 1",
            "src/f1.py (3) L1: x = 1",
            "src/f2.py (3) L1: x = 1",
            "src/f3.py (3) L1: x = 1",
        ),
    )


def test_more_than_twenty_files_of_one_name_are_all_listed() -> None:
    rows = [f"src/part{number}/index.ts:{number}:export const x = 1" for number in range(1, 31)]
    assert outline("\n".join(rows), lines=40).summary == "grep: 30 matches in 30 files"
