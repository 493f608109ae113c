"""Fill and query the full-text index of a store, with SQLite's FTS5.

The index is a cache. Appending does not update it; a search first indexes the new entries, in
batches of limited size. A batch is computed without the lock and written only if no other process
has written it meanwhile, so any number of processes may do that at once.

The number of a row encodes its place: the session, the entry in it, and the passage of the entry.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import msgspec
from msgspec import Struct

from holdfast.core.index.passages import INDEX_VERSION, IndexMark, IndexRows, index_rows
from holdfast.core.index.terms import PassageHit, Pool, Spot, Term, TermMatches, pool_of
from holdfast.core.ledger.entry import Entry
from holdfast.stores.connection import Database, Row
from holdfast.stores.migrations import create_index

SPOT_BITS, PASSAGE_BITS = 24, 16
"""Bits for the entry and the passage: up to 16 million entries of 65,536 passages each."""
BATCH_ENTRIES, BATCH_CHARS = 1_000, 2_000_000
"""Entries that are read at once, and about how many characters are indexed in one transaction,
over several sessions. Small transactions are slow, large ones make other processes wait."""
MAX_ROWS_PER_TERM = 1_000
"""Rows read for one term, newest first; this limits the time of a search."""
MAX_ROWS_OF_SIMILAR = 300
"""The same limit for similar words, which matter less."""
MAX_PAIRED_TERMS = 4
"""Frequent terms of which every pair is searched together."""

MAX_SIMILAR_WORDS, MIN_SIMILARITY = 8, 0.25
"""Similar words that are searched for a term, and the least similarity they need."""

MARK = "select version, seq, spots, passages, steps from indexed where session = ?"
SET_MARK = "insert or replace into indexed values (?, ?, ?, ?, ?, ?)"
ADD_WORDS = "insert into found(rowid, words, parts) values (?, ?, ?)"
ADD_SPOT = "insert into spots values (?, ?, ?)"
MATCH = """
select json_group_array(number) from (
  select rowid as number from found where found match ? and rowid between ? and ?
  order by rowid desc limit ?)
"""
"""All rows as one JSON text: fetching a thousand rows one by one is slower than finding them."""
SPOT = "select seq, step from spots where id = ?"
SIZE = "select passages from indexed where session = ?"
SIZES = "select sum(passages) from indexed"
ANY_SPOT = "select 1 from spots where id between ? and ? limit 1"
DELETE_WORDS = "delete from found where rowid between ? and ?"
DELETE_SPOTS = "delete from spots where id between ? and ?"
DELETE_MARK = "delete from indexed where session = ?"
OPTIMIZE = "insert into found(found) values ('optimize')"
"""FTS5 removes deleted rows from the file only when it rewrites their segments."""


class Scope(Struct, frozen=True):
    """The sessions to search, by their keys in the file."""

    keys: tuple[int, ...]
    whole: bool = False
    """Whether these are all sessions of the file, so that one query is enough."""


def read_mark(db: Database, key: int) -> IndexMark:
    """Return how far a session is indexed; an index of another version counts as empty."""
    row = db.execute(MARK, (key,)).fetchone()
    if row is None or row[0] != INDEX_VERSION:
        return IndexMark()
    _, seq, spots, passages, steps = row
    return IndexMark(seq, spots, passages, msgspec.msgpack.decode(steps, type=dict[str, int]))


def prepare_rows(mark: IndexMark, entries: Iterable[Entry]) -> IndexRows:
    """Compute the rows that a batch of entries adds to the index; this needs no lock."""
    return index_rows(mark, entries, max_chars=BATCH_CHARS)


def write(db: Database, key: int, rows: IndexRows) -> bool:
    """Add rows of a session; return False if another process has added them already.

    Runs inside the caller's transaction.
    """
    if read_mark(db, key) != rows.before:
        return False
    # A search of the words makes FTS5 write what it has collected, so that it merges more later.
    if not rows.before.seq and _has_rows(db, key):
        delete_session(db, key)
    words = (
        (_row_number(key, spot, number), text, parts) for spot, number, text, parts in rows.passages
    )
    db.executemany(ADD_WORDS, words)
    spots = ((key << SPOT_BITS | spot, seq, step) for spot, seq, step in rows.spots)
    db.executemany(ADD_SPOT, spots)
    after = rows.after
    steps = msgspec.msgpack.encode(after.steps)
    db.execute(SET_MARK, (key, INDEX_VERSION, after.seq, after.spots, after.passages, steps))
    return True


def _has_rows(db: Database, key: int) -> bool:
    """Return whether the index has rows of a session, of this version or another one."""
    spots = (key << SPOT_BITS, (key + 1 << SPOT_BITS) - 1)
    has_mark = db.execute(MARK, (key,)).fetchone() is not None
    return has_mark or db.execute(ANY_SPOT, spots).fetchone() is not None


def delete_session(db: Database, key: int) -> None:
    """Delete every index row of a session, inside the caller's transaction."""
    db.execute(DELETE_WORDS, (_row_number(key, 0, 0), _row_number(key + 1, 0, 0) - 1))
    db.execute(DELETE_SPOTS, (key << SPOT_BITS, (key + 1 << SPOT_BITS) - 1))
    db.execute(DELETE_MARK, (key,))


def recreate(db: Database) -> None:
    """Replace the index by an empty one, inside the caller's transaction."""
    for table in ("found", "spots", "indexed"):
        db.execute(f"drop table {table}")
    create_index(db)


def search(db: Database, terms: Sequence[Term], scope: Scope, *, limit: int) -> Pool:
    """Return the most promising passages and the rarity of each term."""
    matches = [
        TermMatches(
            term, _rows_matching(db, _phrase(term), scope), _rows_of_similar(db, term, scope)
        )
        for term in terms
    ]
    together = [
        (pair, _rows_matching(db, " AND ".join(_phrase(terms[index]) for index in pair), scope))
        for pair in _frequent_pairs(matches)
    ]
    return pool_of(matches, together, _count_passages(db, scope), limit=limit, place=_spot_of)


def _count_passages(db: Database, scope: Scope) -> int:
    """Count the passages in the scope."""
    if scope.whole:
        return sum(row[0] or 0 for row in db.execute(SIZES))
    return sum(row[0] for key in scope.keys for row in db.execute(SIZE, (key,)))


def _frequent_pairs(matches: Sequence[TermMatches]) -> list[tuple[int, ...]]:
    """Return pairs of frequent terms, for which the single searches reached their limit."""
    frequent = [
        index for index, match_ in enumerate(matches) if len(match_.rows) >= MAX_ROWS_PER_TERM
    ]
    return list(combinations(frequent[:MAX_PAIRED_TERMS], 2))


def _rows_of_similar(db: Database, term: Term, scope: Scope) -> list[int]:
    phrases = [
        f'"{word}"'
        for word, similarity in term.similar[:MAX_SIMILAR_WORDS]
        if similarity >= MIN_SIMILARITY
    ]
    return _rows_matching(db, " OR ".join(phrases), scope, MAX_ROWS_OF_SIMILAR) if phrases else []


def _phrase(term: Term) -> str:
    return f'"{" ".join(term.words)}"{"*" if term.prefix else ""}'


def _rows_matching(
    db: Database, phrase: str, scope: Scope, limit: int = MAX_ROWS_PER_TERM
) -> list[int]:
    if scope.whole:
        return _rows_between(db, phrase, 0, (1 << 63) - 1, limit)
    rows: list[int] = []
    for key in sorted(scope.keys, reverse=True):
        first, last = _row_number(key, 0, 0), _row_number(key + 1, 0, 0) - 1
        rows += _rows_between(db, phrase, first, last, limit - len(rows))
        if len(rows) >= limit:
            break
    return rows


def _rows_between(db: Database, phrase: str, first: int, last: int, limit: int) -> list[int]:
    (rows,) = db.execute(MATCH, (phrase, first, last, limit)).fetchall()
    return msgspec.json.decode(rows[0], type=list[int])


def _row_number(key: int, spot: int, passage: int) -> int:
    return (key << SPOT_BITS | spot) << PASSAGE_BITS | passage


def _spot_of(row: int) -> Spot:
    spot = row >> PASSAGE_BITS
    return Spot(spot >> SPOT_BITS, spot & (1 << SPOT_BITS) - 1, row & (1 << PASSAGE_BITS) - 1)


def locate(db: Database, spots: Iterable[Spot], name: Callable[[int], str]) -> list[PassageHit]:
    """Return the ledger places of spots, without those that were deleted meanwhile."""
    places: list[PassageHit] = []
    for spot in spots:
        row: Row | None = db.execute(SPOT, (spot.session << SPOT_BITS | spot.place,)).fetchone()
        if row is not None:
            where = name(spot.session)
            places.append(PassageHit(where, row[0], spot.place, spot.passage, row[1], spot.promise))
    return places
