"""Outline: what a text is, with counts, and the details worth keeping, each line cut to size."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from holdfast.core.shrink.outline.blobs import outline_blob
from holdfast.core.shrink.outline.diffs import outline_diff
from holdfast.core.shrink.outline.ends import head_of, tail_of
from holdfast.core.shrink.outline.fitting import Sketch, clip, squeezed
from holdfast.core.shrink.outline.kinds import kind_of
from holdfast.core.shrink.outline.listings import outline_listing
from holdfast.core.shrink.outline.logs import outline_log
from holdfast.core.shrink.outline.matches import outline_matches
from holdfast.core.shrink.outline.pages import outline_page
from holdfast.core.shrink.outline.prose import outline_prose
from holdfast.core.shrink.outline.reading import Reading, read
from holdfast.core.shrink.outline.records import outline_records
from holdfast.core.shrink.outline.runs import outline_run
from holdfast.core.shrink.outline.symbols import outline_code
from holdfast.core.shrink.outline.tables import outline_table
from holdfast.core.shrink.outline.telling import telling_lines
from holdfast.core.shrink.outline.traces import outline_trace

__all__ = ["Outline", "head_of", "outline", "tail_of"]

SUMMARY = 160


class Outline(Struct, frozen=True):
    """What a text is and what stays of it."""

    kind: str
    summary: str
    """One line that says what it is, with counts."""
    lines: tuple[str, ...]


def _outline_nothing(_reading: Reading, _lines: int, _width: int) -> Sketch:
    return Sketch("empty", ())


OUTLINES: Mapping[str, Callable[[Reading, int, int], Sketch]] = {
    "binary": outline_blob,
    "code": outline_code,
    "diff": outline_diff,
    "empty": _outline_nothing,
    "grep": outline_matches,
    "html": outline_page,
    "json": outline_records,
    "jsonl": outline_records,
    "listing": outline_listing,
    "log": outline_log,
    "prose": outline_prose,
    "table": outline_table,
    "tests": outline_run,
    "trace": outline_trace,
}


def outline(
    text: str, *, lines: int = 24, width: int = 160, telling: frozenset[str] = frozenset()
) -> Outline:
    """Say what a text is; lines that hold a `telling` word are shown before others."""
    kind = kind_of(text)
    reading = read(text)
    notices = reading.notices[: max(lines // 4, 0)]
    told = () if kind == "binary" else telling_lines(reading, telling, lines // 2, width)
    room = max(lines - len(told) - len(notices), 0)
    sketch = OUTLINES[kind](reading, room, width)
    shown = [clip(line, width) for line in sketch.lines[:room] if line]
    seen = "\n".join(shown)
    shown += [line for line in told if line.partition(": ")[2].strip() not in seen]
    shown += [clip(notice, width) for notice in notices]
    return Outline(kind, _summary(sketch, reading), tuple(shown[: max(lines, 0)]))


def _summary(sketch: Sketch, reading: Reading) -> str:
    ended = f" (exit code {reading.exit_code})" if reading.exit_code else ""
    return squeezed(sketch.summary, SUMMARY - len(ended)) + ended
