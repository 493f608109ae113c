"""Outline stack traces: each exception, and the frames nearest to where it was thrown."""

from bisect import bisect
from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from holdfast.core.shrink.outline.fit import Detail, Sketch, best_lines, with_noun
from holdfast.core.shrink.outline.reading import TextReading
from holdfast.text.patterns import Pattern

PYTHON_FRAME = Pattern(r'^(\s{1,12})File "([^"]{1,300})", line (\d+)(?:, in (.{1,200}))?')
AT_FRAME = Pattern(
    r"^\s{1,24}at (?:(?:async |new )?(\S{1,200}) )?\(?([^()]{1,300}:\d+)(?::\d+)?\)?$"
    r"|^\s{1,12}at (\S{1,300})\(([^()]{1,200})\)$"
)
"""JavaScript: `at f (file:1:2)`; Java: `at a.b.C.f(C.java:1)`."""
GO_FRAME = Pattern(r"^\t(\S{1,300}\.go:\d+)")
RUBY_FRAME = Pattern(r"^\s{0,12}(?:from )?(\S{1,300}:\d+):in [`'](.{1,120})'")
THROWN = Pattern(
    r"^(?:Uncaught |Caused by: |panic: |Exception in thread .{1,80}? |fatal error: "
    r"|Unhandled .{1,40}: )?"
    r"(?:[A-Za-z_$][\w.$]{0,120}(?:Error|Exception|Interrupt|Exit|Warning|Iteration"
    r"|Failure)\b.{0,400}|[a-z][\w.]{2,80}: .{1,400})$"
    r"|^(?:panic: |Caused by: |fatal error: |thread '.{1,80}' panicked at "
    r").{0,400}"
)
CHAINED = Pattern(
    r"^(?:During handling of the above exception|The above exception was the direct cause)"
)
FOREIGN_PENALTY = 6
"""Added to the rank of a frame in a library: frames of the project's own code come first."""
FOREIGN_PATHS = ("site-packages", "node_modules", "<frozen", "node:internal", "/usr/lib")


class StackFrame(Struct, frozen=True):
    """One call on the stack."""

    at: int
    place: str
    function: str
    code: str = ""


def outline_trace(reading: TextReading, lines: int, _width: int) -> Sketch:
    """Show each exception with its innermost frames."""
    rows = reading.rows
    frames = [frame for at, row in enumerate(rows) if (frame := _read_frame(rows, at, row))]
    thrown = [(at, _thrown_text(rows, at)) for at, row in enumerate(rows) if _is_thrown(row)]
    details = [Detail(0, at * 2, text) for at, text in thrown]
    details += [Detail(4, at * 2, row) for at, row in enumerate(rows) if CHAINED.match(row)]
    python = any(frame.code for frame in frames) or any(PYTHON_FRAME.match(row) for row in rows)
    details += _frame_details(frames, [at for at, _ in thrown], innermost_last=python)
    exception = _final_exception(thrown, python)
    return Sketch(
        f"stack trace: {exception} ({with_noun(len(frames), 'frame')}"
        + (f", {len(thrown)} exceptions)" if len(thrown) > 1 else ")"),
        best_lines(details, lines),
    )


def _final_exception(thrown: Sequence[tuple[int, str]], python: bool) -> str:
    """Return the exception that ended the program: Python prints it last, others first."""
    if not thrown:
        return "no exception line"
    return (thrown[-1] if python else thrown[0])[1][:110]


def _is_thrown(row: str) -> bool:
    return bool(row) and not row[0].isspace() and bool(THROWN.match(row)) and not CHAINED.match(row)


def _thrown_text(rows: Sequence[str], at: int) -> str:
    """Return the text of an exception; Rust prints its message on the line after the place."""
    row = rows[at].strip()
    more = rows[at + 1].strip() if row.endswith(":") and at + 1 < len(rows) else ""
    return f"{row} {more}" if "panicked at" in row else row


def _read_frame(rows: Sequence[str], at: int, row: str) -> StackFrame | None:
    if match := PYTHON_FRAME.match(row):
        code = rows[at + 1].strip() if at + 1 < len(rows) else ""
        is_code = bool(code) and not PYTHON_FRAME.match(rows[at + 1])
        return StackFrame(at, f"{match[2]}:{match[3]}", match[4] or "", code if is_code else "")
    if match := AT_FRAME.match(row):
        return StackFrame(at, match[2] or match[4], match[1] or match[3] or "")
    if match := GO_FRAME.match(row):
        return StackFrame(at, match[1], rows[at - 1].partition("(")[0].strip() if at else "")
    if match := RUBY_FRAME.match(row):
        return StackFrame(at, match[1], match[2])
    return None


def _frame_details(
    frames: Sequence[StackFrame], thrown: Sequence[int], *, innermost_last: bool
) -> list[Detail]:
    """Rank the frames of each trace by their distance to the exception."""
    details: list[Detail] = []
    traces = groupby(frames, key=lambda frame: bisect(thrown, frame.at))
    for _, trace in traces:
        nearest = list(trace)[::-1] if innermost_last else trace
        for distance, frame in enumerate(nearest):
            own = not any(part in frame.place for part in FOREIGN_PATHS)
            rank = 1 + distance + (0 if own else FOREIGN_PENALTY)
            details.append(Detail(rank, frame.at * 2 + 1, _frame_line(frame)))
    return details


def _frame_line(frame: StackFrame) -> str:
    function = f" in {frame.function}" if frame.function else ""
    return f"  {frame.place}{function}" + (f": {frame.code}" if frame.code else "")
