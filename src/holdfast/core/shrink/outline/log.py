"""Outline logs and build output: lines of each level, and every distinct error and warning."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from holdfast.core.shrink.outline.fit import Detail, Sketch, best_lines, with_noun
from holdfast.core.shrink.outline.reading import TextReading
from holdfast.text.patterns import Pattern

MAX_ROW_CHARS = 240
"""Characters of a line that are searched for its level."""
LEVEL_WORDS = {
    **dict.fromkeys(("FATAL", "CRITICAL", "PANIC", "ERROR", "ERR", "SEVERE", "ERR!"), 0),
    **dict.fromkeys(("WARN", "WARNING"), 1),
    **dict.fromkeys(("INFO", "LOG", "NOTICE"), 2),
    **dict.fromkeys(("DEBUG", "TRACE", "VERBOSE"), 3),
}
PUNCTUATION = "[]()<>:|,;*-="
LEVEL_HINTS = (
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
"""`LEVEL` is searched only in lines with one of these: it is slow."""
LEVEL = Pattern(
    r"\b(?:level|lvl|severity)\"?[=:] ?\"?(?:(error|fatal|crit|err|panic)|(warn)|(info)|(debug"
    r"|trace))"
    r"|(?<![\w-])(?:((?:error|fatal|panic)(?:\[\w{1,12}\])?[:\]]|error [A-Z]{1,4}\d|error  )"
    r"|(warning(?:\[\w{1,12}\])?[:\]]|npm WARN|warning  ))"
    r"|(?:(?:##|(?<![\w#]))\[(?:(error)|(warn)))"
    r"|((?:Error|Exception)(?::| \[)|\b[Ff]ailed (?:to|with)\b|\bFAIL(?:ED)?\b"
    r"|exit code [1-9]|[Ee]xit status [1-9]|ELIFECYCLE|: \*\*\* \[|cannot find\b|not (?:found"
    r"|met)\b)"
)
LEVEL_NOUNS = ("errors", "warnings", "info", "debug")
GROUP_LEVELS = (0, 1, 2, 3, 0, 1, 0, 1, 0)
"""The level that each group of `LEVEL` means."""
MAX_USUAL_STARTS = 12
VARYING_PART = Pattern(r"[0-9a-fA-F]{8,}|\d+")


class LogMessage(Struct):
    """A message, with its first line and how often it occurs."""

    level: int
    at: int
    count: int


def outline_log(reading: TextReading, lines: int, _width: int) -> Sketch:
    """Show the distinct errors and warnings, and the first and the last line."""
    counts: Counter[int] = Counter()
    messages: dict[str, LogMessage] = {}
    levels = [row_level(row) for row in reading.rows]
    for at, (row, level) in enumerate(zip(reading.rows, levels, strict=True)):
        if level is None:
            continue
        counts[level] += 1
        if level <= 1:
            message = messages.setdefault(mask_varying(row), LogMessage(level, at, 0))
            message.count += 1
    details = [
        *_message_details(reading, list(messages.values()), levels),
        *_first_and_last(reading),
    ]
    if len(details) < lines:
        details += _usual_starts(reading, levels)
    by_position = {detail.position: detail for detail in reversed(details)}
    return Sketch(_summary(reading, counts, messages), best_lines(by_position.values(), lines))


def mask_varying(row: str) -> str:
    """Replace the numbers and ids of a line, so that repeated messages are equal."""
    return VARYING_PART.sub("#", row[:MAX_ROW_CHARS]).strip()


def row_level(row: str) -> int | None:
    """Return the level of a line; 0 is an error, 3 is debug output, None is unknown."""
    start = row[:MAX_ROW_CHARS]
    for word in start.split(maxsplit=12)[:12]:
        level = (
            LEVEL_WORDS.get(word) if word.isalpha() else LEVEL_WORDS.get(word.strip(PUNCTUATION))
        )
        if level is not None:
            return level
    lowered = start.lower()
    if not any(hint in lowered for hint in LEVEL_HINTS):
        return None
    match = LEVEL.search(start)
    return GROUP_LEVELS[match.lastindex - 1] if match and match.lastindex else None


def _message_details(
    reading: TextReading, messages: Sequence[LogMessage], levels: Sequence[int | None]
) -> list[Detail]:
    details: list[Detail] = []
    for order, message in enumerate(messages):
        details.append(
            Detail(
                message.level * 2 + 1,
                message.at * 2,
                _message_line(reading, message.at, message.count),
            )
        )
        after = message.at + 1
        # A line with a level is another message, not the rest of this one.
        if after < len(levels) and levels[after] is None and reading.rows[after].strip():
            rank = message.level * 2 + (1 if order < 4 else 2)
            details.append(Detail(rank, message.at * 2 + 1, f"    {reading.rows[after].strip()}"))
    return details


def _usual_starts(reading: TextReading, levels: Sequence[int | None]) -> list[Detail]:
    """Return the most frequent starts of the other lines, each once."""
    starts: dict[str, LogMessage] = {}
    for at, row in enumerate(reading.rows):
        level = levels[at]
        is_shown = level in (0, 1) or (level is None and at and levels[at - 1] in (0, 1))
        if row.strip() and not is_shown:
            starts.setdefault(mask_varying(row[:60])[:24], LogMessage(2, at, 0)).count += 1
    frequent = sorted(starts.values(), key=lambda message: (-message.count, message.at))[
        :MAX_USUAL_STARTS
    ]
    return [
        Detail(9, message.at * 2, _message_line(reading, message.at, message.count))
        for message in frequent
    ]


def _message_line(reading: TextReading, at: int, count: int) -> str:
    times = f" ×{count}" if count > 1 else ""
    return f"L{reading.numbers[at]}{times}: {reading.rows[at].strip()}"


def _first_and_last(reading: TextReading) -> list[Detail]:
    """Return the first and the last line that are not blank."""
    filled = [index for index, row in enumerate(reading.rows) if row.strip()]
    if not filled:
        return []
    ends = sorted({filled[0], filled[-1]})
    # They have the best rank, so that even a log full of errors shows how it starts and ends.
    return [
        Detail(0, index * 2, f"L{reading.numbers[index]}: {reading.rows[index].strip()}")
        for index in ends
    ]


def _summary(reading: TextReading, counts: Counter[int], messages: dict[str, LogMessage]) -> str:
    parts = [f"{counts[level]:,} {LEVEL_NOUNS[level]}" for level in range(4) if counts[level]]
    if counts[0]:
        distinct = sum(1 for message in messages.values() if message.level == 0)
        parts[0] = f"{with_noun(counts[0], 'error')} ({distinct:,} distinct)"
    levels = ", ".join(parts) or "no errors or warnings"
    read = " in the parts read" if reading.partial else ""
    return f"log, {with_noun(reading.total, 'line')}: {levels}{read}"
