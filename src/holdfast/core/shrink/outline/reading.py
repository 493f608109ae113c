"""Reads a text as its tool wrote it: lines less what the tool put before them, and its notes.

A read tool numbers lines, a build service stamps them, a shell tool says how the command ended.
Each would hide what the line is, so it is taken off, and the number kept. Of a text too large
to look at whole, the head and the tail are read; the lines between are only counted.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from holdfast.core.shrink.outline.fit import ANSI

LARGE = 400_000
"""Characters above which only the two ends of a text are read."""
LONG = 1_000
"""Characters of a line that are looked at: no detail needs more."""

NUMBERED = re.compile(r"^[ \t]{0,12}(\d{1,7})(?:→|\t|\| ?|: )")
STAMPED = re.compile(r"^[^\t\n]{1,200}\t[^\t\n]{1,200}\t\ufeff?\d{4}-\d\d-\d\dT[\d:.]{8,20}Z ?")
"""`gh run view --log`: job, step, time."""
LABEL = re.compile(r"^(?:[\w@./-]{1,60} [\w:-]{1,30}: |[\w.-]{1,40} {1,20}\| )")
"""`pnpm -r` and `docker compose` say whose line it is."""
EXIT = re.compile(r"^(?:Exit code|exit status|Exit status:?|\[exit code:?) ?(\d{1,5})\]?$")
NOTICE = re.compile(
    r"^\W{0,6}(?:results are |the tool call .{0,40}output was |output |content |response )?"
    r"(?:truncated|\d{1,9} (?:more )?(?:lines?|matches|results|characters|files|entries)\b)"
    r"|^\W{0,6}(?:showing|file has more|use offset|remaining)\b",
    re.IGNORECASE,
)
"""A tool says that it left something out."""
CUT = re.compile(r"^\W{1,6}(?:\d[\d,]* (?:lines|characters|chars|tokens) )?(?:truncated|omitted)\b")
"""The same in the middle of a text."""
WRAPPER = re.compile(
    r"^</?(?:path|type|entries|file|content|output|retrieval_status|task_id|task_type|status"
    r"|stdout|stderr|result|file_content)\b"
)


class Reading(Struct, frozen=True):
    """A text as lines, each with its number."""

    whole: str
    rows: Sequence[str]
    """The lines, less their prefix; of a large text those of its two ends."""
    numbers: Sequence[int]
    total: int
    """Lines in the whole text."""
    numbered: bool = False
    stamped: bool = False
    """A build service put job, step and time before each line."""
    exit_code: str = ""
    notices: tuple[str, ...] = ()

    @property
    def partial(self) -> bool:
        """Whether lines in the middle were not read."""
        return len(self.whole) > LARGE


def read(text: str) -> Reading:
    """Take a text apart into lines."""
    rows, numbers, total = _split(text)
    _drop_reminder(rows)
    shape = _prefix(rows)
    if shape is NUMBERED:
        rows, numbers = _unnumbered(rows, numbers)
    elif shape is STAMPED:
        rows = [STAMPED.sub("", row, count=1) for row in rows]
    elif label := _label(rows):
        rows = [row.removeprefix(label) for row in rows]
    ended, notices = _notes(rows)
    return Reading(text, rows, numbers, total, shape is NUMBERED, shape is STAMPED, ended, notices)


def _split(text: str) -> tuple[list[str], Sequence[int], int]:
    breaks = "\n" if "\n" in text or "\r" not in text else "\r"
    total = text.count(breaks) + (not text.endswith(breaks))
    if len(text) <= LARGE:
        rows = _rows(text, breaks)
        return rows, range(1, len(rows) + 1), total
    head = _rows(text[: LARGE // 2], breaks)
    tail = _rows(text[-LARGE // 2 :], breaks)
    if total > 1:
        # Both windows end inside a line, most likely: half a line says the wrong thing.
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
        # A progress bar writes its line again and again; what stays on the screen is the last.
        rows = [row.rstrip("\r").rpartition("\r")[2] for row in rows]
    return [row if len(row) <= LONG else row[:LONG] for row in rows]


def _prefix(rows: Sequence[str]) -> re.Pattern[str] | None:
    sample = [row for row in rows[:40] if row.strip() and not WRAPPER.match(row)]
    found = [match for row in sample if (match := NUMBERED.match(row))]
    if len(found) >= 2 and len(found) * 10 >= len(sample) * 7 and _rising(found):
        return NUMBERED
    stamped = sum(1 for row in sample if STAMPED.match(row))
    return STAMPED if stamped >= 2 and stamped * 10 >= len(sample) * 8 else None


def _label(rows: Sequence[str]) -> str:
    """What all lines start with, if it is a label."""
    sample = [row for row in rows[-60:-4] if row.strip()]
    match = LABEL.match(sample[0]) if len(sample) > 8 else None
    if match is None:
        return ""
    same = sum(1 for row in sample if row.startswith(match[0].rstrip()))
    return match[0] if same * 10 >= len(sample) * 9 else ""


def _rising(found: Sequence[re.Match[str]]) -> bool:
    values = [int(match[1]) for match in found]
    return all(after == before + 1 for before, after in pairwise(values))


def _unnumbered(rows: Sequence[str], numbers: Sequence[int]) -> tuple[list[str], list[int]]:
    bare: list[str] = []
    own: list[int] = []
    for row, number in zip(rows, numbers, strict=True):
        match = NUMBERED.match(row)
        bare.append(row[match.end() :] if match else row)
        own.append(int(match[1]) if match else number)
    return bare, own


def _notes(rows: list[str]) -> tuple[str, tuple[str, ...]]:
    """How the command ended and what its tool left out; the rows that say so are emptied."""
    ended = ""
    notices: list[str] = []
    for at in sorted({*range(min(12, len(rows))), *range(max(len(rows) - 6, 0), len(rows))}):
        row = rows[at].strip()
        if match := EXIT.match(row):
            ended, rows[at] = match[1], ""
        elif WRAPPER.match(row) and row.endswith(">"):
            rows[at] = ""
        elif len(row) < 300 and row and NOTICE.match(row):
            notices.append(row)
            rows[at] = ""
    notices += [row.strip() for row in rows if CUT.match(row)]
    return ended, tuple(notices)


def _drop_reminder(rows: list[str]) -> None:
    """Empty the words that a host puts below a result: they are not the tool's."""
    for at in range(len(rows) - 1, max(len(rows) - 16, -1), -1):
        if rows[at].startswith("<system-reminder>"):
            rows[at:] = [""] * (len(rows) - at)
