"""Words that mean nearly the same, from a table that ships with the package.

The table was distilled from all-MiniLM-L6-v2 (Apache-2.0) by `tools/thesaurus.py`: for each of some
twenty thousand English words, the words whose vectors are nearest, as they are used where software
is talked about. Looking one up is reading a few bytes; nothing is multiplied, no model is needed.
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
    numbers: bytes
    """For each word, which row is its: all forms of a word have the same."""
    neighbours: int
    rows: bytes


@cache
def table() -> Table:
    """The table, read when it is first needed."""
    data = FILE.read_bytes()
    end = data.index(b"\n")
    _, words, rows, neighbours = (int(number) for number in data[:end].split())
    last = len(data) - rows * neighbours * EACH
    listed = data[end + 1 : last - 2 * words].decode().split("\n")
    return Table(tuple(listed[:words]), data[last - 2 * words : last], neighbours, data[last:])


def like(word: str) -> tuple[tuple[str, float], ...]:
    """Words that mean nearly the same, and how nearly from 0 to 1; none for a word not known."""
    known = table()
    at = bisect_left(known.words, word)
    if at == len(known.words) or known.words[at] != word:
        return ()
    number, size = known.numbers[2 * at] | known.numbers[2 * at + 1] << 8, known.neighbours * EACH
    start = number * size
    row = known.rows[start : start + size]
    found = (
        (known.words[row[at] | row[at + 1] << 8], row[at + 2] / 255)
        for at in range(0, size, EACH)
        if row[at + 2]
    )
    return tuple(found)
