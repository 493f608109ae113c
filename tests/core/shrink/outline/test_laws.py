"""What holds for every text, whatever it is."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.shrink.outline.kinds import detect_kind
from holdfast.core.shrink.outline.outline import (
    OUTLINES,
    first_lines,
    last_lines,
    outline,
    outliner_for,
)
from holdfast.core.shrink.outline.reading import MAX_WHOLE_CHARS, read_text
from tests.examples import examples

ANY_CHAR = st.characters(min_codepoint=0, max_codepoint=sys.maxunicode)
ANY_TEXT = st.text(ANY_CHAR, max_size=400)

PIECES = (
    '{"id": 1, "error": null}',
    '[{"a": 1}, {"a": 2, "b": [1, {"c": "x',
    "2026-01-02 03:04:05 ERROR no such file",
    "error[E0425]: cannot find value",
    "  --> src/main.rs:3:5",
    "=== RUN   TestOne",
    "--- FAIL: TestOne (0.00s)",
    "    one_test.go:12: got 1, want 2",
    "FAILED tests/a.py::test_b - assert 1 == 2",
    "========= 1 failed, 2 passed in 0.10s =========",
    "Traceback (most recent call last):",
    '  File "a.py", line 3, in f',
    "ValueError: no",
    "    at f (a.js:1:2)",
    "src/a.py:12:def f():",
    "src/a.py-13-    pass",
    "diff --git a/x.py b/x.py",
    "--- a/x.py",
    "+++ b/x.py",
    "@@ -1,2 +1,3 @@ def f():",
    "+def g(): pass",
    "def f(x):",
    "class A:",
    "   12→func main() {",
    "   13→}",
    "<!doctype html><title>T</title>",
    "<h1>Head</h1><script>",
    "a,b,c",
    "1,2,3",
    "| a | b |",
    "├── src",
    "│   └── a.py",
    "-rw-r--r-- 1 me me 12 Jan  1 10:00 a.txt",
    "/usr/lib/a/b.so",
    "# Title",
    "Some words that make a sentence, more or less.",
    "\x1b[31mred\x1b[0m",
    "\x00\x01",
    "\ud800",
    "Exit code 1",
    "... [12 lines truncated] ...",
    "",
)
LIKELY_TEXT = st.lists(st.sampled_from(PIECES) | st.text(ANY_CHAR, max_size=30), max_size=40).map(
    "\n".join
)
TEXT = ANY_TEXT | LIKELY_TEXT
WORDS = st.frozensets(
    st.sampled_from(("TestOne", "src/a.py", "error", "x.py", "\ud800", "")) | ANY_TEXT, max_size=6
)


@given(TEXT, st.integers(-2, 40), st.integers(1, 200), WORDS)
@settings(max_examples=examples(400))
def test_an_outline_keeps_its_bounds(
    text: str, lines: int, width: int, telling: frozenset[str]
) -> None:
    found = outline(text, lines=lines, width=width, key_words=telling)

    assert found.kind in OUTLINES
    assert len(found.summary) <= 200
    assert len(found.lines) <= max(lines, 0)
    for line in (found.summary, *found.lines):
        assert line.isprintable(), "one line, and nothing that a terminal would obey"
    assert all(len(line) <= width + 1 for line in found.lines)


@given(TEXT, WORDS)
@settings(max_examples=examples(100))
def test_the_same_text_has_the_same_outline(text: str, telling: frozenset[str]) -> None:
    assert outline(text, key_words=telling) == outline(text, key_words=frozenset(sorted(telling)))


@given(TEXT)
@settings(max_examples=examples(100))
def test_every_kind_can_outline_every_text(text: str) -> None:
    reading = read_text(text)
    for sketch in (outliner_for(kind)(reading, 5, 40) for kind in OUTLINES):
        assert len(sketch.lines) <= 5


@given(TEXT, st.integers(0, 12), st.integers(1, 80), st.integers(0, 300))
@settings(max_examples=examples(200))
def test_the_head_keeps_its_bounds(text: str, lines: int, width: int, total: int) -> None:
    head = first_lines(text, lines=lines, width=width, total=total)

    assert len(head) <= lines
    assert all(len(line) <= width + 1 and line.isprintable() for line in head)
    assert sum(map(len, head)) <= total


@given(st.lists(st.text("abc", min_size=1, max_size=5), max_size=20), st.integers(0, 12))
def test_head_and_tail_never_show_a_line_twice(rows: list[str], lines: int) -> None:
    named = [f"{at} {row}" for at, row in enumerate(rows)]
    text = "\n".join(named)
    head = first_lines(text, lines=lines)
    tail = last_lines(text, lines=lines, after=len(head))

    assert head == tuple(named[:lines])
    assert tail == tuple(named[len(head) :][-lines:] if lines else ())


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        " " * 1_000_000 + "x",
        "[" * 1_000_000,
        '{"a":' * 200_000,
        '["' + '\\"' * 400_000,
        "<" * 1_000_000,
        "<div " * 200_000,
        "<script>" * 100_000,
        "# " * 400_000,
        "\n" * 1_000_000,
        "\r" * 1_000_000,
        "a/b/c.py:1:x\n" * 80_000,
        "\ta\tb\t2026-01-01T00:00:00Z x\n" * 40_000,
        "\x1b[" * 300_000,
        "1→a\n2→b\n" * 100_000,
        "│   " * 250_000 + "\n├── a" * 3,
        '{"a": 1, "b": [1, 2, {"c": null}]}\n' * 28_000,
        "\u0130" * 500_000,
        "1" * 1_000_000,
        "9" * 5_000,
        "-" * 1_000_000,
        "=" * 1_000_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_text_made_to_be_slow_or_deep_is_outlined(text: str) -> None:
    found = outline(text, key_words=frozenset({"abc", "x", "a/b/c.py"}))
    assert found.kind == detect_kind(text)
    assert len(found.lines) <= 24


def test_of_a_large_text_all_lines_are_counted_and_the_last_keeps_its_number() -> None:
    rows = [f"2026-01-02 03:04:05 INFO request {at} served by worker" for at in range(20_000)]
    rows[-1] = "2026-01-02 03:04:05 ERROR out of memory"
    text = "\n".join(rows)
    assert len(text) > MAX_WHOLE_CHARS

    found = outline(text)

    assert found.summary.startswith("log, 20,000 lines: 1 error ")
    assert found.lines[-1] == "L20000: 2026-01-02 03:04:05 ERROR out of memory"
