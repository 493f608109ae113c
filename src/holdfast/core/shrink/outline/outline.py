"""Outline a text of any kind: one line that describes it, with counts, and its key lines.

`outline` detects the kind and calls the module of that kind.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TypeAlias, cast

from msgspec import Struct

from holdfast.core.faults import attempt
from holdfast.core.shrink.outline.fit import (
    Sketch,
    clip_printable,
    first_lines,
    last_lines,
    squeeze,
    with_noun,
)
from holdfast.core.shrink.outline.key_lines import lines_with_words
from holdfast.core.shrink.outline.kinds import detect_kind
from holdfast.core.shrink.outline.reading import TextReading, read_text

__all__ = ["Outline", "first_lines", "last_lines", "outline"]

MAX_SUMMARY_CHARS = 160


class Outline(Struct, frozen=True):
    """The kind of a text, a description of it, and the lines that are shown."""

    kind: str
    summary: str
    """One line that describes the text, with counts."""
    lines: tuple[str, ...]


def outline_empty(_reading: TextReading, _lines: int, _width: int) -> Sketch:
    """Outline a text without any character but white space."""
    return Sketch("empty", ())


Outliner: TypeAlias = Callable[[TextReading, int, int], Sketch]

OUTLINES: Mapping[str, tuple[str, str]] = {
    "binary": ("binary", "outline_blob"),
    "code": ("code", "outline_code"),
    "diff": ("diff", "outline_diff"),
    "empty": ("outline", "outline_empty"),
    "grep": ("grep", "outline_matches"),
    "html": ("html", "outline_page"),
    "json": ("json", "outline_records"),
    "jsonl": ("json", "outline_records"),
    "listing": ("listing", "outline_listing"),
    "log": ("log", "outline_log"),
    "prose": ("prose", "outline_prose"),
    "table": ("table", "outline_table"),
    "tests": ("tests", "outline_run"),
    "trace": ("trace", "outline_trace"),
}
"""The module and the function that outline each kind of text.

They are loaded on first use: a hook outlines one kind at most."""


def outliner_for(kind: str) -> Outliner:
    """Load the function that outlines a kind of text."""
    module, name = OUTLINES[kind]
    loaded = import_module(f"holdfast.core.shrink.outline.{module}")
    return cast(Outliner, getattr(loaded, name))


def outline(
    text: str, *, lines: int = 24, width: int = 160, key_words: frozenset[str] = frozenset()
) -> Outline:
    """Outline a text in at most `lines` lines; half of them may be lines with a key word."""
    kind = detect_kind(text)
    reading = attempt("shrink.outline.read", lambda: read_text(text), lambda: None)
    if reading is None:
        return Outline(kind, f"text of {len(text):,} characters", ())
    notices = reading.notices[: max(lines // 4, 0)]
    key_lines = () if kind == "binary" else lines_with_words(reading, key_words, lines // 2, width)
    room = max(lines - len(key_lines) - len(notices), 0)
    rows = len(reading.rows)
    sketch = attempt(
        f"shrink.outline.{kind}",
        lambda: outliner_for(kind)(reading, room, width),
        lambda: Sketch(f"{kind} of {with_noun(rows, 'line')}", ()),
    )
    shown = [clip_printable(line, width) for line in sketch.lines[:room] if line]
    seen = "\n".join(shown)
    shown += [line for line in key_lines if line.partition(": ")[2].strip() not in seen]
    shown += [clip_printable(notice, width) for notice in notices]
    return Outline(kind, _summary(sketch, reading), tuple(shown[: max(lines, 0)]))


def _summary(sketch: Sketch, reading: TextReading) -> str:
    exit_note = f" (exit code {reading.exit_code})" if reading.exit_code else ""
    return squeeze(sketch.summary, MAX_SUMMARY_CHARS - len(exit_note)) + exit_note
