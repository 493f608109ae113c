"""Words that mean nearly the same, from a table that ships with the package.

The table was distilled from all-MiniLM-L6-v2 (Apache-2.0) by `tools/thesaurus.py`: for each of some
twenty thousand English words, the words whose vectors are nearest. Looking one up is reading a few
bytes; nothing is multiplied, and no model is needed.
"""

from bisect import bisect_left
from functools import cache
from pathlib import Path

from msgspec import Struct

FILE = Path(__file__).parent / "data" / "thesaurus.bin"
EACH = 3
"""Bytes of a neighbour: two for which word, one for how alike."""


class Table(Struct, frozen=True):
    """The table as it lies in memory."""

    words: tuple[str, ...]
    neighbours: int
    rows: bytes


@cache
def table() -> Table:
    """The table, read when it is first needed."""
    data = FILE.read_bytes()
    end = data.index(b"\n")
    _, words, neighbours = (int(number) for number in data[:end].split())
    size = words * neighbours * EACH
    listed = data[end + 1 : len(data) - size].decode().split("\n")
    return Table(tuple(listed[:words]), neighbours, data[len(data) - size :])


def like(word: str) -> tuple[tuple[str, float], ...]:
    """Words that mean nearly the same, and how nearly from 0 to 1; none for a word not known."""
    known = table()
    at = bisect_left(known.words, word)
    if at == len(known.words) or known.words[at] != word:
        return ()
    start, size = at * known.neighbours * EACH, known.neighbours * EACH
    row = known.rows[start : start + size]
    found = (
        (known.words[row[at] | row[at + 1] << 8], row[at + 2] / 255)
        for at in range(0, size, EACH)
        if row[at + 2]
    )
    return tuple(found)
