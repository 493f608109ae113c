"""Stack traces: what was thrown, and the frames nearest to it."""

import re
from bisect import bisect
from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from holdfast.core.shrink.outline.fit import Detail, Sketch, chosen, count_of
from holdfast.core.shrink.outline.reading import Reading

PYTHON = re.compile(r'^(\s{1,12})File "([^"]{1,300})", line (\d+)(?:, in (.{1,200}))?')
CALL = re.compile(
    r"^\s{1,24}at (?:(?:async |new )?(\S{1,200}) )?\(?([^()]{1,300}:\d+)(?::\d+)?\)?$"
    r"|^\s{1,12}at (\S{1,300})\(([^()]{1,200})\)$"
)
"""JavaScript: `at f (file:1:2)`; Java: `at a.b.C.f(C.java:1)`."""
GO = re.compile(r"^\t(\S{1,300}\.go:\d+)")
RUBY = re.compile(r"^\s{0,12}(?:from )?(\S{1,300}:\d+):in [`'](.{1,120})'")
THROWN = re.compile(
    r"^(?:Uncaught |Caused by: |panic: |Exception in thread .{1,80}? |fatal error: "
    r"|Unhandled .{1,40}: )?"
    r"(?:[A-Za-z_$][\w.$]{0,120}(?:Error|Exception|Interrupt|Exit|Warning|Iteration"
    r"|Failure)\b.{0,400}|[a-z][\w.]{2,80}: .{1,400})$"
    r"|^(?:panic: |Caused by: |fatal error: |thread '.{1,80}' panicked at "
    r").{0,400}"
)
CHAIN = re.compile(
    r"^(?:During handling of the above exception|The above exception was the direct cause)"
)
FRAMES = 6
"""How much nearer a frame of a library must be to be shown before one of our own."""
FOREIGN = ("site-packages", "node_modules", "<frozen", "node:internal", "/usr/lib")


class Frame(Struct, frozen=True):
    """One call on the stack."""

    at: int
    place: str
    function: str
    code: str = ""


def outline_trace(reading: Reading, lines: int, _width: int) -> Sketch:
    """Each thing thrown, with its innermost frames."""
    rows = reading.rows
    frames = [frame for at, row in enumerate(rows) if (frame := _frame(rows, at, row))]
    thrown = [(at, _thrown(rows, at)) for at, row in enumerate(rows) if _is_thrown(row)]
    details = [Detail(0, at * 2, text) for at, text in thrown]
    details += [Detail(4, at * 2, row) for at, row in enumerate(rows) if CHAIN.match(row)]
    python = any(frame.code for frame in frames) or any(PYTHON.match(row) for row in rows)
    details += _frames(frames, [at for at, _ in thrown], innermost_last=python)
    last = _last(thrown, python)
    return Sketch(
        f"stack trace: {last} ({count_of(len(frames), 'frame')}"
        + (f", {len(thrown)} exceptions)" if len(thrown) > 1 else ")"),
        chosen(details, lines),
    )


def _last(thrown: Sequence[tuple[int, str]], python: bool) -> str:
    """The exception that ended it all: Python writes it last, the others first."""
    if not thrown:
        return "no exception line"
    return (thrown[-1] if python else thrown[0])[1][:110]


def _is_thrown(row: str) -> bool:
    return bool(row) and not row[0].isspace() and bool(THROWN.match(row)) and not CHAIN.match(row)


def _thrown(rows: Sequence[str], at: int) -> str:
    """What was thrown; Rust says where first, and what on the next line."""
    row = rows[at].strip()
    more = rows[at + 1].strip() if row.endswith(":") and at + 1 < len(rows) else ""
    return f"{row} {more}" if "panicked at" in row else row


def _frame(rows: Sequence[str], at: int, row: str) -> Frame | None:
    if match := PYTHON.match(row):
        code = rows[at + 1].strip() if at + 1 < len(rows) else ""
        is_code = bool(code) and not PYTHON.match(rows[at + 1])
        return Frame(at, f"{match[2]}:{match[3]}", match[4] or "", code if is_code else "")
    if match := CALL.match(row):
        return Frame(at, match[2] or match[4], match[1] or match[3] or "")
    if match := GO.match(row):
        return Frame(at, match[1], rows[at - 1].partition("(")[0].strip() if at else "")
    if match := RUBY.match(row):
        return Frame(at, match[1], match[2])
    return None


def _frames(
    frames: Sequence[Frame], thrown: Sequence[int], *, innermost_last: bool
) -> list[Detail]:
    """The frames of each trace, ranked by how near they are to what was thrown."""
    details: list[Detail] = []
    traces = groupby(frames, key=lambda frame: bisect(thrown, frame.at))
    for _, trace in traces:
        nearest = list(trace)[::-1] if innermost_last else trace
        for near, frame in enumerate(nearest):
            own = not any(part in frame.place for part in FOREIGN)
            rank = 1 + near + (0 if own else FRAMES)
            details.append(Detail(rank, frame.at * 2 + 1, _line(frame)))
    return details


def _line(frame: Frame) -> str:
    function = f" in {frame.function}" if frame.function else ""
    return f"  {frame.place}{function}" + (f": {frame.code}" if frame.code else "")
