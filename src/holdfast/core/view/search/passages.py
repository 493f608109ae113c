"""Texts cut into passages: what the index knows, and what a hit is a part of.

The cut depends on the text alone, so a passage is known by its number and need not be stored.
"""

from msgspec import Struct

SIZE = 1_200
"""Characters of a passage: a screenful."""
MOST = 60_000
"""Passages of one text; a longer text has longer ones."""
VERSION = 2
"""Grows when texts are cut or spelled out otherwise: an index of another version is made again."""


class Passage(Struct, frozen=True):
    """A run of whole lines, or a piece of a very long one."""

    start: int
    stop: int


def passages_of(text: str) -> list[Passage]:
    """A text from beginning to end, in passages that end with a line where they can."""
    size = max(SIZE, len(text) // MOST + 1)
    if len(text) <= size + size // 4:
        return [Passage(0, len(text))]
    cut: list[Passage] = []
    start = 0
    while len(text) - start > size + size // 4:
        stop = _end(text, start, size)
        cut.append(Passage(start, stop))
        start = stop
    cut.append(Passage(start, len(text)))
    return cut


def _end(text: str, start: int, size: int) -> int:
    """Behind the last line that fits, else behind the last word, else where the room ends."""
    for sign in ("\n", " "):
        at = text.rfind(sign, start + size // 2, start + size)
        if at >= 0:
            return at + 1
    return start + size
