"""Look up words of similar meaning in a table that ships with the package.

`tools/thesaurus.py` made the table from the model all-MiniLM-L6-v2 (Apache-2.0): for each of about
twenty thousand English words, the words with the nearest vectors in texts about software. A lookup
reads a few bytes; no model is needed.
"""

from bisect import bisect_left
from functools import cache
from pathlib import Path

from msgspec import Struct

TABLE_FILE = Path(__file__).parent / "data" / "thesaurus.bin"
NEIGHBOUR_BYTES = 3
"""Bytes of a neighbour: two for the number of the word, one for the similarity."""


class SynonymTable(Struct, frozen=True):
    """The table in memory."""

    words: tuple[str, ...]
    row_numbers: bytes
    """Two bytes for each word: the number of its row. All forms of a word share a row."""
    neighbours_per_row: int
    rows: bytes


@cache
def load_table() -> SynonymTable:
    """Read the table at the first call."""
    data = TABLE_FILE.read_bytes()
    end = data.index(b"\n")
    _, words, rows, neighbours = (int(number) for number in data[:end].split())
    last = len(data) - rows * neighbours * NEIGHBOUR_BYTES
    names = data[end + 1 : last - 2 * words].decode().split("\n")
    return SynonymTable(
        tuple(names[:words]), data[last - 2 * words : last], neighbours, data[last:]
    )


def similar_words(word: str) -> tuple[tuple[str, float], ...]:
    """Return words of similar meaning, each with its similarity from 0 to 1; none if unknown."""
    table = load_table()
    at = bisect_left(table.words, word)
    if at == len(table.words) or table.words[at] != word:
        return ()
    number, size = (
        table.row_numbers[2 * at] | table.row_numbers[2 * at + 1] << 8,
        table.neighbours_per_row * NEIGHBOUR_BYTES,
    )
    start = number * size
    row = table.rows[start : start + size]
    similar = (
        (table.words[row[at] | row[at + 1] << 8], row[at + 2] / 255)
        for at in range(0, size, NEIGHBOUR_BYTES)
        if row[at + 2]
    )
    return tuple(similar)
