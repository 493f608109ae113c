"""Logs and build output: how many lines of each level, and every distinct error and warning."""

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from holdfast.core.shrink.outline.fit import Detail, Sketch, chosen, count_of
from holdfast.core.shrink.outline.reading import Reading

SEEN = 240
"""Characters of a line in which its level stands."""
WORDS = {
    **dict.fromkeys(("FATAL", "CRITICAL", "PANIC", "ERROR", "ERR", "SEVERE", "ERR!"), 0),
    **dict.fromkeys(("WARN", "WARNING"), 1),
    **dict.fromkeys(("INFO", "LOG", "NOTICE"), 2),
    **dict.fromkeys(("DEBUG", "TRACE", "VERBOSE"), 3),
}
AROUND = "[]()<>:|,;*-="
HINTS = (
    "error",
    "warn",
    "fail",
    "exception",
    "fatal",
    "panic",
    "level",
    "not found",
    "not met",
    "*** [",
    "exit ",
)
"""A line without any of these is of no level that a word does not name."""
LEVEL = re.compile(
    r"\b(?:level|lvl|severity)\"?[=:] ?\"?(?:(error|fatal|crit|err|panic)|(warn)|(info)|(debug"
    r"|trace))"
    r"|(?<![\w-])(?:((?:error|fatal|panic)(?:\[\w{1,12}\])?[:\]]|error [A-Z]{1,4}\d|error  )"
    r"|(warning(?:\[\w{1,12}\])?[:\]]|npm WARN|warning  ))"
    r"|(?:(?:##|(?<![\w#]))\[(?:(error)|(warn)))"
    r"|((?:Error|Exception)(?::| \[)|\b[Ff]ailed (?:to|with)\b|\bFAIL(?:ED)?\b"
    r"|exit code [1-9]|[Ee]xit status [1-9]|ELIFECYCLE|: \*\*\* \[|cannot find\b|not (?:found"
    r"|met)\b)"
)
LEVELS = ("errors", "warnings", "info", "debug")
GROUP_LEVELS = (0, 1, 2, 3, 0, 1, 0, 1, 0)
"""Which level each group of the pattern stands for."""
USUAL = 12
VARYING = re.compile(r"[0-9a-fA-F]{8,}|\d+")


class Found(Struct):
    """A message, as often as it came."""

    level: int
    at: int
    count: int


def outline_log(reading: Reading, lines: int, _width: int) -> Sketch:
    """The errors and warnings with their lines, and how it begins and ends."""
    counts: Counter[int] = Counter()
    found: dict[str, Found] = {}
    levels = [level_of(row) for row in reading.rows]
    for at, (row, level) in enumerate(zip(reading.rows, levels, strict=True)):
        if level is None:
            continue
        counts[level] += 1
        if level <= 1:
            known = found.setdefault(masked(row), Found(level, at, 0))
            known.count += 1
    details = [*_messages(reading, list(found.values()), levels), *_ends(reading)]
    if len(details) < lines:
        details += _usual(reading, levels)
    once = {detail.at: detail for detail in reversed(details)}
    return Sketch(_summary(reading, counts, found), chosen(once.values(), lines))


def masked(row: str) -> str:
    """A line less what differs from one time to the next."""
    return VARYING.sub("#", row[:SEEN]).strip()


def level_of(row: str) -> int | None:
    """The level a line is of, 0 the worst."""
    start = row[:SEEN]
    for word in start.split(maxsplit=12)[:12]:
        level = WORDS.get(word) if word.isalpha() else WORDS.get(word.strip(AROUND))
        if level is not None:
            return level
    lowered = start.lower()
    if not any(hint in lowered for hint in HINTS):
        return None
    match = LEVEL.search(start)
    return GROUP_LEVELS[match.lastindex - 1] if match and match.lastindex else None


def _messages(
    reading: Reading, found: Sequence[Found], levels: Sequence[int | None]
) -> list[Detail]:
    details: list[Detail] = []
    for order, one in enumerate(found):
        details.append(Detail(one.level * 2 + 1, one.at * 2, _line(reading, one.at, one.count)))
        after = one.at + 1
        # A line of its own level is another message, not the rest of this one.
        if after < len(levels) and levels[after] is None and reading.rows[after].strip():
            rank = one.level * 2 + (1 if order < 4 else 2)
            details.append(Detail(rank, one.at * 2 + 1, f"    {reading.rows[after].strip()}"))
    return details


def _usual(reading: Reading, levels: Sequence[int | None]) -> list[Detail]:
    """The other lines by how they start, each start once: what the log is about."""
    starts: dict[str, Found] = {}
    for at, row in enumerate(reading.rows):
        level = levels[at]
        told = level in (0, 1) or (level is None and at and levels[at - 1] in (0, 1))
        if row.strip() and not told:
            starts.setdefault(masked(row[:60])[:24], Found(2, at, 0)).count += 1
    often = sorted(starts.values(), key=lambda one: (-one.count, one.at))[:USUAL]
    return [Detail(9, one.at * 2, _line(reading, one.at, one.count)) for one in often]


def _line(reading: Reading, at: int, count: int) -> str:
    times = f" ×{count}" if count > 1 else ""
    return f"L{reading.numbers[at]}{times}: {reading.rows[at].strip()}"


def _ends(reading: Reading) -> list[Detail]:
    """The first and the last line that say something."""
    at = [index for index, row in enumerate(reading.rows) if row.strip()]
    if not at:
        return []
    ends = sorted({at[0], at[-1]})
    # Even a log full of errors keeps where it starts and how it ended.
    return [
        Detail(0, index * 2, f"L{reading.numbers[index]}: {reading.rows[index].strip()}")
        for index in ends
    ]


def _summary(reading: Reading, counts: Counter[int], found: dict[str, Found]) -> str:
    parts = [f"{counts[level]:,} {LEVELS[level]}" for level in range(4) if counts[level]]
    if counts[0]:
        distinct = sum(1 for one in found.values() if one.level == 0)
        parts[0] = f"{count_of(counts[0], 'error')} ({distinct:,} distinct)"
    told = ", ".join(parts) or "no errors or warnings"
    read = " in the parts read" if reading.partial else ""
    return f"log, {count_of(reading.total, 'line')}: {told}{read}"
