"""Outline: what a text is, with counts, and the details worth keeping, each line cut to size."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TypeAlias, cast

from msgspec import Struct

from holdfast.core.faults import attempt
from holdfast.core.shrink.outline.fit import Sketch, clip, count_of, head_of, squeezed, tail_of
from holdfast.core.shrink.outline.key_lines import telling_lines
from holdfast.core.shrink.outline.kinds import kind_of
from holdfast.core.shrink.outline.reading import Reading, read

__all__ = ["Outline", "head_of", "outline", "tail_of"]

SUMMARY = 160


class Outline(Struct, frozen=True):
    """What a text is and what stays of it."""

    kind: str
    summary: str
    """One line that says what it is, with counts."""
    lines: tuple[str, ...]


def outline_nothing(_reading: Reading, _lines: int, _width: int) -> Sketch:
    """The outline of a text with nothing in it."""
    return Sketch("empty", ())


Draw: TypeAlias = Callable[[Reading, int, int], Sketch]

OUTLINES: Mapping[str, tuple[str, str]] = {
    "binary": ("binary", "outline_blob"),
    "code": ("code", "outline_code"),
    "diff": ("diff", "outline_diff"),
    "empty": ("outline", "outline_nothing"),
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
"""The module and the function that outline each kind of text."""


def drawing(kind: str) -> Draw:
    """What outlines a kind of text; loaded when a text is of it: a hook outlines one, if any."""
    module, name = OUTLINES[kind]
    found = import_module(f"holdfast.core.shrink.outline.{module}")
    return cast(Draw, getattr(found, name))


def outline(
    text: str, *, lines: int = 24, width: int = 160, telling: frozenset[str] = frozenset()
) -> Outline:
    """Say what a text is; lines that hold a `telling` word are shown before others."""
    kind = kind_of(text)
    reading = attempt("shrink.outline.read", lambda: read(text), lambda: None)
    if reading is None:
        return Outline(kind, f"text of {len(text):,} characters", ())
    notices = reading.notices[: max(lines // 4, 0)]
    told = () if kind == "binary" else telling_lines(reading, telling, lines // 2, width)
    room = max(lines - len(told) - len(notices), 0)
    rows = len(reading.rows)
    sketch = attempt(
        f"shrink.outline.{kind}",
        lambda: drawing(kind)(reading, room, width),
        lambda: Sketch(f"{kind} of {count_of(rows, 'line')}", ()),
    )
    shown = [clip(line, width) for line in sketch.lines[:room] if line]
    seen = "\n".join(shown)
    shown += [line for line in told if line.partition(": ")[2].strip() not in seen]
    shown += [clip(notice, width) for notice in notices]
    return Outline(kind, _summary(sketch, reading), tuple(shown[: max(lines, 0)]))


def _summary(sketch: Sketch, reading: Reading) -> str:
    ended = f" (exit code {reading.exit_code})" if reading.exit_code else ""
    return squeezed(sketch.summary, SUMMARY - len(ended)) + ended
