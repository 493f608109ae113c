from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.project.integrations.notes import (
    BLOCK_BEGIN,
    BLOCK_END,
    LoggedDecision,
    NotesUpdate,
    create_sections,
    decode,
    encode,
    find_sections,
    notes_path,
    update_notes,
    update_text,
    with_sections,
)
from holdfast.text.markdown import newline_of, sections_of

NOTES = """# Working memory

## Session Continuity
<!-- load this first -->
mine, by hand

### Decision Log
| When | What |
|---|---|
| monday | we keep SQLite as the store |

## Blockers
none
"""
LINES = ["- **Session:** s1, revision 1", "- **Request:** fix the export"]
KEEP = LoggedDecision(
    "We keep SQLite as the store", "- 2026-01-02 we keep SQLite as the store [aaaa1111]"
)
CENTS = LoggedDecision(
    "totals are decimals", "- 2026-01-02 totals are decimals: floats lose cents [bbbb2222]"
)

pieces = st.one_of(
    st.sampled_from(
        [
            "## Session Continuity",
            "### Decision Log",
            "## Decision Log",
            "# Top",
            "```",
            "~~~",
            "<!--",
            "-->",
            "<!-- holdfast:begin 0123456789ab -->",
            BLOCK_END,
            "- totals are decimals",
            "",
            "   ",
            "words \udcff of someone",
            "## Session Continuity ##",
        ]
    ),
    st.text(
        alphabet=st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20
    ),
)


def join_lines(lines: list[str], end: str, last: bool) -> str:
    return end.join(lines) + (end if last else "")


texts = st.builds(
    join_lines,
    st.lists(pieces, max_size=14),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)


def without_ours(text: str, rows: Sequence[LoggedDecision]) -> str:
    """A text without the block and the lines that are ours, as they stand there."""
    begin = text.find("<!-- holdfast:begin ")
    end = text.find(BLOCK_END)
    newline = newline_of(text)
    if 0 <= begin < end:
        text = text[:begin] + text[end + len(BLOCK_END) :].removeprefix(newline)
    for row in rows:
        text = text.replace(row.line + newline, "", 1)
    return text


def outside_of_block(text: str) -> tuple[str, str]:
    begin, end = text.find("<!-- holdfast:begin "), text.find(BLOCK_END)
    return text[:begin], text[end:]


def test_the_block_stands_in_its_section_and_decisions_at_the_end_of_theirs() -> None:
    done = update_text(NOTES, LINES, [KEEP, CENTS])
    assert done.added == 1
    assert without_ours(done.text, [CENTS]) == NOTES
    assert done.text.index("fix the export") < done.text.index("mine, by hand")
    assert f"store |\n{CENTS.line}\n\n## Blockers" in done.text


@given(texts, st.lists(st.sampled_from([KEEP, CENTS]), max_size=2))
def test_all_other_text_stays_byte_for_byte(text: str, rows: list[LoggedDecision]) -> None:
    done = update_text(text, LINES, rows)
    if done.text == text:
        return
    fresh = [row for row in rows if row.line in done.text and row.line not in text]
    ours = (len(BLOCK_BEGIN.findall(text)), text.count(BLOCK_END))
    if "<!-- holdfast:begin" in text and ours != (1, 1):
        # A block that is not whole is left alone; a decision may stand behind it.
        assert without_rows(done.text, fresh) in (text, text + newline_of(text))
    elif "<!-- holdfast:begin" in text:
        was, now = outside_of_block(text), outside_of_block(without_rows(done.text, fresh))
        # A line can be added behind a text that did not end in one.
        assert now in (was, (was[0], was[1] + newline_of(text)))
    else:
        left = without_ours(done.text, fresh)
        assert left in (text, text + newline_of(text))


def without_rows(text: str, rows: Sequence[LoggedDecision]) -> str:
    for row in rows:
        text = text.replace(row.line + newline_of(text), "", 1)
    return text


@given(texts)
def test_doing_it_again_changes_nothing(text: str) -> None:
    once = update_text(text, LINES, [CENTS])
    again = update_text(once.text, LINES, [CENTS])
    assert (again.text, again.added, again.edited) == (once.text, 0, "")


@given(texts)
def test_our_lines_make_no_section_and_take_none_away(text: str) -> None:
    done = update_text(text, LINES, [CENTS])
    assert [section.title for section in sections_of(done.text)] == [
        section.title for section in sections_of(text)
    ]


@given(st.binary(max_size=200))
def test_any_bytes_come_back_as_they_were(content: bytes) -> None:
    assert encode(decode(content)) == content


def test_lines_end_as_the_lines_of_the_file_do() -> None:
    done = update_text(NOTES.replace("\n", "\r\n"), LINES, [CENTS])
    assert done.text.count("\n") == done.text.count("\r\n")
    assert done.text.replace("\r\n", "\n") == update_text(NOTES, LINES, [CENTS]).text.replace(
        "\r\n", "\n"
    )


def test_an_older_block_gives_way_to_a_newer_one() -> None:
    first = update_text(NOTES, LINES, [])
    second = update_text(first.text, ["- **Session:** s2"], [])
    assert (second.edited, second.text.count("holdfast:begin")) == ("", 1)
    assert "fix the export" not in second.text
    assert without_ours(second.text, []) == NOTES


@pytest.mark.seed("R122")
def test_what_someone_wrote_into_our_block_is_handed_back_and_the_ledger_stands() -> None:
    text = update_text(NOTES, LINES, []).text.replace("fix the export", "delete the export")
    done = update_text(text, LINES, [])
    assert done.edited == f"{LINES[0]}\n- **Request:** delete the export\n"
    assert done.text == update_text(NOTES, LINES, []).text


@pytest.mark.parametrize("lost", ["<!-- holdfast:end -->\n", "<!-- holdfast:begin "])
def test_a_block_that_lost_an_end_is_left_alone(lost: str) -> None:
    text = update_text(NOTES, LINES, []).text.replace(lost, "")
    assert update_text(text, ["- new"], []) == NotesUpdate(text, broken=True)


def test_of_two_sections_of_one_name_the_first_counts(tmp_path: Path) -> None:
    text = "## Session Continuity\na\n## Decision Log\nb\n## Session Continuity\nc\n"
    (tmp_path / "NOTES.md").write_text(text)
    continuity, log = find_sections(str(tmp_path), "NOTES.md")
    assert (continuity.status, log.status) == ("kept", "kept")
    assert "2 sections of that name" in continuity.detail
    assert update_text(text, LINES, []).text.startswith(
        "## Session Continuity\n<!-- holdfast:begin"
    )


def test_a_text_without_sections_is_not_touched() -> None:
    assert update_text("just words\n", LINES, [CENTS]) == NotesUpdate("just words\n")


def test_a_megabyte_of_notes_is_updated_in_one_go(tmp_path: Path) -> None:
    path = tmp_path / "NOTES.md"
    text = "# Top\n" + "- words of someone\n" * 55_000 + NOTES
    path.write_text(text)
    done = update_notes(str(tmp_path), "NOTES.md", LINES, [KEEP, CENTS])
    assert done.added == 1
    assert without_ours(path.read_text(), [CENTS]) == text


def test_short_choices_are_known_by_their_whole_line_only() -> None:
    yes = LoggedDecision("yes", "- 2026-01-02 yes [cccc3333]")
    text = "## Decision Log\n- yesterday we met\n"
    done = update_text(text, [], [yes])
    assert done.added == 1
    assert update_text(done.text, [], [yes]).added == 0


def test_sections_are_made_at_the_end_and_only_where_they_are_missing() -> None:
    both = ("session_continuity", "decision_log")
    assert with_sections("", both) == "# Notes\n\n## Session Continuity\n\n## Decision Log\n"
    assert with_sections("words", both) == "words\n\n## Session Continuity\n\n## Decision Log\n"
    assert with_sections(NOTES, both) == NOTES
    assert with_sections("a\r\n", ("decision_log",)) == "a\r\n\r\n## Decision Log\r\n"


def test_making_sections_makes_the_file(tmp_path: Path) -> None:
    assert create_sections(str(tmp_path), "grimoires/loa/NOTES.md", ("decision_log",))
    assert (tmp_path / "grimoires/loa/NOTES.md").read_text() == "# Notes\n\n## Decision Log\n"


def test_notes_are_found_where_they_continue_sessions(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert (notes_path(root), notes_path(root, expected=True)) == ("", "NOTES.md")
    (tmp_path / "grimoires" / "loa").mkdir(parents=True)
    assert notes_path(root, expected=True) == "grimoires/loa/NOTES.md"
    (tmp_path / "NOTES.md").write_text("a shopping list")
    assert notes_path(root) == "NOTES.md"
    (tmp_path / "grimoires" / "loa" / "NOTES.md").write_text(NOTES)
    assert notes_path(root) == "grimoires/loa/NOTES.md"


@pytest.mark.seed("R109", "R110")
def test_a_missing_section_a_missing_file_and_a_link_out_are_told_apart(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    assert [one.status for one in find_sections(str(root), "NOTES.md")] == ["missing", "missing"]
    (root / "NOTES.md").write_text("## Decision Log\n- one\n- two\n")
    continuity, log = find_sections(str(root), "NOTES.md")
    assert (continuity.status, log.status, log.detail) == ("missing", "kept", "lines: 2")
    (root / "NOTES.md").unlink()
    (root / "NOTES.md").symlink_to("../elsewhere.md")
    (tmp_path / "elsewhere.md").write_text(NOTES)
    assert [one.status for one in find_sections(str(root), "NOTES.md")] == ["refused", "refused"]
