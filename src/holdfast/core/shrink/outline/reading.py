"""Read a tool's output as lines: remove the prefixes and notes that the tool added to them.

A read tool numbers lines, a build service stamps them, a shell tool adds the exit code. These would
hide the kind of a line, so they are removed; line numbers are kept apart. Of a very large text only
the head and the tail are read; the lines between are counted.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from holdfast.core.shrink.outline.fit import ANSI
from holdfast.text.patterns import Pattern

MAX_WHOLE_CHARS = 400_000
"""Of a longer text, only the two ends are read."""
MAX_LINE_CHARS = 1_000
"""Characters of a line that are read: no detail needs more."""

NUMBER_PREFIX = Pattern(r"^[ \t]{0,12}(\d{1,7})(?:→|\t|\| ?|: )")
STAMP_PREFIX = Pattern(r"^[^\t\n]{1,200}\t[^\t\n]{1,200}\t\ufeff?\d{4}-\d\d-\d\dT[\d:.]{8,20}Z ?")
"""`gh run view --log`: job, step and time, separated by tabs."""
LABEL_PREFIX = Pattern(r"^(?:[\w@./-]{1,60} [\w:-]{1,30}: |[\w.-]{1,40} {1,20}\| )")
"""The source of a line, as `pnpm -r` and `docker compose` print it: "web-1  | ". Must not match
"web-1"."""
EXIT_ROW = Pattern(r"^(?:Exit code|exit status|Exit status:?|\[exit code:?) ?(\d{1,5})\]?$")
NOTICE_ROW = Pattern(
    r"^\W{0,6}(?:results are |the tool call .{0,40}output was |output |content |response )?"
    r"(?:truncated|\d{1,9} (?:more )?(?:lines?|matches|results|characters|files|entries)\b)"
    r"|^\W{0,6}(?:showing|file has more|use offset|remaining)\b",
    re.IGNORECASE,
)
"""A note that a tool left something out: "12 more lines". Must not match "12 apples"."""
CUT_ROW = Pattern(
    r"^\W{1,6}(?:\d[\d,]* (?:lines|characters|chars|tokens) )?(?:truncated|omitted)\b"
)
"""Such a note in the middle of a text: "... 40 lines omitted"."""
WRAPPER_TAG = Pattern(
    r"^</?(?:path|type|entries|file|content|output|retrieval_status|task_id|task_type|status"
    r"|stdout|stderr|result|file_content)\b"
)


class TextReading(Struct, frozen=True):
    """The lines of a text, each with its number, and the notes of its tool."""

    whole: str
    rows: Sequence[str]
    """The lines without their prefix; of a large text those of its two ends."""
    numbers: Sequence[int]
    total: int
    """The number of lines in the whole text."""
    numbered: bool = False
    stamped: bool = False
    """A build service put job, step and time before each line."""
    exit_code: str = ""
    notices: tuple[str, ...] = ()

    @property
    def partial(self) -> bool:
        """Return whether lines in the middle were not read."""
        return len(self.whole) > MAX_WHOLE_CHARS


def read_text(text: str) -> TextReading:
    """Read the lines of a text, and remove prefixes and notes."""
    rows, numbers, total = _split_rows(text)
    _drop_reminder(rows)
    prefix = _common_prefix(rows)
    if prefix is NUMBER_PREFIX:
        rows, numbers = _split_numbers(rows, numbers)
    elif prefix is STAMP_PREFIX:
        rows = [STAMP_PREFIX.sub("", row, count=1) for row in rows]
    elif label := _common_label(rows):
        rows = [row.removeprefix(label) for row in rows]
    exit_code, notices = _take_notes(rows)
    return TextReading(
        text,
        rows,
        numbers,
        total,
        prefix is NUMBER_PREFIX,
        prefix is STAMP_PREFIX,
        exit_code,
        notices,
    )


def _split_rows(text: str) -> tuple[list[str], Sequence[int], int]:
    breaks = "\n" if "\n" in text or "\r" not in text else "\r"
    total = text.count(breaks) + (not text.endswith(breaks))
    if len(text) <= MAX_WHOLE_CHARS:
        rows = _rows(text, breaks)
        return rows, range(1, len(rows) + 1), total
    head = _rows(text[: MAX_WHOLE_CHARS // 2], breaks)
    tail = _rows(text[-MAX_WHOLE_CHARS // 2 :], breaks)
    if total > 1:
        # Both parts probably end inside a line, and half of a line could mislead.
        head, tail = head[:-1] or head, tail[1:] or tail
    first = max(total - len(tail), len(head))
    numbers = [*range(1, len(head) + 1), *range(first + 1, first + len(tail) + 1)]
    return head + tail, numbers, total


def _rows(text: str, breaks: str) -> list[str]:
    if "\x1b" in text:
        text = ANSI.sub("", text)
    rows = text.split(breaks)
    if not rows[-1]:
        del rows[-1]
    if "\r" in text and breaks == "\n":
        # A progress bar overwrites its line; a terminal shows only the last version.
        rows = [row.rstrip("\r").rpartition("\r")[2] for row in rows]
    return [row if len(row) <= MAX_LINE_CHARS else row[:MAX_LINE_CHARS] for row in rows]


def _common_prefix(rows: Sequence[str]) -> Pattern[str] | None:
    sample = [row for row in rows[:40] if row.strip() and not WRAPPER_TAG.match(row)]
    numbers = [match for row in sample if (match := NUMBER_PREFIX.match(row))]
    if len(numbers) >= 2 and len(numbers) * 10 >= len(sample) * 7 and _counts_up(numbers):
        return NUMBER_PREFIX
    stamped = sum(1 for row in sample if STAMP_PREFIX.match(row))
    return STAMP_PREFIX if stamped >= 2 and stamped * 10 >= len(sample) * 8 else None


def _common_label(rows: Sequence[str]) -> str:
    """Return the label that nearly all lines start with; empty if there is none."""
    sample = [row for row in rows[-60:-4] if row.strip()]
    match = LABEL_PREFIX.match(sample[0]) if len(sample) > 8 else None
    if match is None:
        return ""
    same = sum(1 for row in sample if row.startswith(match[0].rstrip()))
    return match[0] if same * 10 >= len(sample) * 9 else ""


def _counts_up(matches: Sequence[re.Match[str]]) -> bool:
    values = [int(match[1]) for match in matches]
    return all(after == before + 1 for before, after in pairwise(values))


def _split_numbers(rows: Sequence[str], numbers: Sequence[int]) -> tuple[list[str], list[int]]:
    without_numbers: list[str] = []
    own_numbers: list[int] = []
    for row, number in zip(rows, numbers, strict=True):
        match = NUMBER_PREFIX.match(row)
        without_numbers.append(row[match.end() :] if match else row)
        own_numbers.append(int(match[1]) if match else number)
    return without_numbers, own_numbers


def _take_notes(rows: list[str]) -> tuple[str, tuple[str, ...]]:
    """Return the exit code and the notices of a tool; empty the rows that contain them."""
    exit_code = ""
    notices: list[str] = []
    for at in sorted({*range(min(12, len(rows))), *range(max(len(rows) - 6, 0), len(rows))}):
        row = rows[at].strip()
        if match := EXIT_ROW.match(row):
            exit_code, rows[at] = match[1], ""
        elif WRAPPER_TAG.match(row) and row.endswith(">"):
            rows[at] = ""
        elif len(row) < 300 and row and NOTICE_ROW.match(row):
            notices.append(row)
            rows[at] = ""
    notices += [row.strip() for row in rows if CUT_ROW.match(row)]
    return exit_code, tuple(notices)


def _drop_reminder(rows: list[str]) -> None:
    """Empty the rows that a host added below a result: they are not the tool's."""
    for at in range(len(rows) - 1, max(len(rows) - 16, -1), -1):
        if rows[at].startswith("<system-reminder>"):
            rows[at:] = [""] * (len(rows) - at)
