"""Lines of a text that hold words the agent used since: those it would go back for."""

from collections.abc import Iterator

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.shrink.outline.fit import clip, squeezed
from holdfast.core.shrink.outline.reading import LARGE, LONG, Reading

MOST_WORDS = 100
"""Each word costs a search of the text."""
SHORTEST = 3
"""A shorter word is in every text and tells nothing."""
TRIES = 40
"""Places looked at for one where the word stands alone."""


class Hit(Struct, frozen=True):
    """A word, how often the text holds it, and where it first stands alone."""

    count: int
    word: str
    at: int


@rule(())
def telling_lines(
    reading: Reading, words: frozenset[str], lines: int, width: int
) -> tuple[str, ...]:
    """One line for each word that the text holds, the rarest words first, in document order."""
    if not words or lines <= 0:
        return ()
    shown: list[tuple[int, int, int, str]] = []
    for hit in sorted(_hits(reading.whole, words), key=lambda hit: (hit.count, -len(hit.word))):
        if len(shown) == lines:
            break
        if any(start <= hit.at and hit.at + len(hit.word) <= end for start, end, _, _ in shown):
            continue
        shown.append(_line(reading, hit, width))
    return tuple(line for _, _, _, line in sorted(shown))


def _hits(text: str, words: frozenset[str]) -> Iterator[Hit]:
    usable = (word for word in words if len(word) >= SHORTEST and "\n" not in word)
    text = text if len(text) <= LARGE * 4 else text[: LARGE * 4]
    for word in sorted(usable, key=lambda word: (-len(word), word))[:MOST_WORDS]:
        at = _alone(text, word)
        if at >= 0:
            yield Hit(text.count(word), word, at)


def _alone(text: str, word: str) -> int:
    """Where the word first stands by itself, or -1."""
    at = -1
    for _ in range(TRIES):
        at = text.find(word, at + 1)
        if at < 0:
            break
        before, after = text[at - 1 : at], text[at + len(word) : at + len(word) + 1]
        if not (_joins(before) or _joins(after)):
            return at
    return -1


def _joins(char: str) -> bool:
    return char.isalnum() or char == "_"


def _line(reading: Reading, hit: Hit, width: int) -> tuple[int, int, int, str]:
    """Where the shown part starts and ends in the text, and the line that shows it."""
    text = reading.whole
    start = text.rfind("\n", 0, hit.at) + 1
    end = text.find("\n", hit.at)
    end = len(text) if end < 0 else end
    number = text.count("\n", 0, hit.at) + 1
    label = f"L{_own_number(reading, number)}: "
    room = width - len(label)
    if end - start <= room or (end - start <= LONG and hit.at - start < room // 2):
        bare = _bare(reading, number, text[start : min(end, start + LONG)])
        return start, min(end, start + room), number, clip(label + bare.strip(), width)
    # A long line is shown around the word.
    start = max(hit.at - room // 3, start)
    part = squeezed(text[start : start + room], room - 2)
    return start, start + room, number, clip(f"{label}…{part}", width)


def _index(reading: Reading, number: int) -> int:
    """The row that a line of the text is, or -1 if it was not read."""
    if number <= len(reading.rows) and not reading.partial:
        return number - 1
    return -1


def _own_number(reading: Reading, number: int) -> int:
    at = _index(reading, number)
    return reading.numbers[at] if at >= 0 else number


def _bare(reading: Reading, number: int, line: str) -> str:
    at = _index(reading, number)
    return reading.rows[at] or line if at >= 0 else line
