"""Find the lines of a text that contain given words, such as words that the agent used later."""

from collections.abc import Iterator

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.shrink.outline.fit import clip_printable, squeeze
from holdfast.core.shrink.outline.reading import MAX_LINE_CHARS, MAX_WHOLE_CHARS, TextReading

MAX_WORDS = 100
"""Each word needs a search of the whole text."""
MIN_WORD_CHARS = 3
"""Shorter words occur in every text."""
MAX_PLACES = 40
"""Places that are checked for one where the word is not part of a longer word."""


class WordHit(Struct, frozen=True):
    """A word, how often it occurs in the text, and its first place as a whole word."""

    count: int
    word: str
    at: int


@rule(())
def lines_with_words(
    reading: TextReading, words: frozenset[str], lines: int, width: int
) -> tuple[str, ...]:
    """Return one line for each word of the text, at most `lines`, in the order of the text.

    If there are more, those with the rarest words are returned.
    """
    if not words or lines <= 0:
        return ()
    shown: list[tuple[int, int, int, str]] = []
    for hit in sorted(_hits(reading.whole, words), key=lambda hit: (hit.count, -len(hit.word))):
        if len(shown) == lines:
            break
        if any(start <= hit.at and hit.at + len(hit.word) <= end for start, end, _, _ in shown):
            continue
        shown.append(_line_around(reading, hit, width))
    return tuple(line for _, _, _, line in sorted(shown))


def _hits(text: str, words: frozenset[str]) -> Iterator[WordHit]:
    usable = (word for word in words if len(word) >= MIN_WORD_CHARS and "\n" not in word)
    text = text if len(text) <= MAX_WHOLE_CHARS * 4 else text[: MAX_WHOLE_CHARS * 4]
    for word in sorted(usable, key=lambda word: (-len(word), word))[:MAX_WORDS]:
        at = _find_whole_word(text, word)
        if at >= 0:
            yield WordHit(text.count(word), word, at)


def _find_whole_word(text: str, word: str) -> int:
    """Return the first place of a word that is not part of a longer one, or -1."""
    at = -1
    for _ in range(MAX_PLACES):
        at = text.find(word, at + 1)
        if at < 0:
            break
        before, after = text[at - 1 : at], text[at + len(word) : at + len(word) + 1]
        if not (_is_word_char(before) or _is_word_char(after)):
            return at
    return -1


def _is_word_char(char: str) -> bool:
    return char.isalnum() or char == "_"


def _line_around(reading: TextReading, hit: WordHit, width: int) -> tuple[int, int, int, str]:
    """Return the start and the end of the shown part, its line number, and the line to show."""
    text = reading.whole
    start = text.rfind("\n", 0, hit.at) + 1
    end = text.find("\n", hit.at)
    end = len(text) if end < 0 else end
    number = text.count("\n", 0, hit.at) + 1
    label = f"L{_tools_number(reading, number)}: "
    room = width - len(label)
    if end - start <= room or (end - start <= MAX_LINE_CHARS and hit.at - start < room // 2):
        bare = _without_prefix(reading, number, text[start : min(end, start + MAX_LINE_CHARS)])
        return start, min(end, start + room), number, clip_printable(label + bare.strip(), width)
    # Of a long line, the part around the word is shown.
    start = max(hit.at - room // 3, start)
    part = squeeze(text[start : start + room], room - 2)
    return start, start + room, number, clip_printable(f"{label}…{part}", width)


def _row_index(reading: TextReading, number: int) -> int:
    """Return the index of the row of a line number, or -1 if it was not read."""
    if number <= len(reading.rows) and not reading.partial:
        return number - 1
    return -1


def _tools_number(reading: TextReading, number: int) -> int:
    at = _row_index(reading, number)
    return reading.numbers[at] if at >= 0 else number


def _without_prefix(reading: TextReading, number: int, line: str) -> str:
    at = _row_index(reading, number)
    return reading.rows[at] or line if at >= 0 else line
