"""The index of a store: which passages hold a word, kept by the engine's own full-text search.

It is a cache behind the ledger. Nobody who appends waits for it: whoever searches brings it up to
date first, a bounded batch at a time. A batch is worked out without the lock and written only if
nobody else wrote it meanwhile, so any number of processes may do that at once.

A row's number says where it stands: the session, which of its entries, which passage of that.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import cast

import apsw
import msgspec
from msgspec import Struct

from holdfast.core.index.passages import VERSION, Mark, Rows, rows_of
from holdfast.core.index.terms import Found, Matches, Pool, Spot, Term, pool_of
from holdfast.core.ledger.entry import Entry
from holdfast.stores.connection import Database, Row
from holdfast.stores.migrations import m005_the_index

SPOT_BITS, PASSAGE_BITS = 24, 16
"""Up to sixteen million entries of a session, of 65,536 passages each."""
BATCH, BATCH_BYTES = 1_000, 2_000_000
"""Entries that are read at once; about as many characters as are indexed in one transaction, of as
many sessions as it takes. Small ones cost most of the time, large ones keep others waiting."""
MATCHES = 1_000
"""Rows looked at for one term, the newest first: what bounds the time a search takes."""
LIKES = 300
"""The same for words that mean nearly the same: they say less."""
FREQUENT = 4
"""Terms with more rows than that of which every two are looked for together."""

NEAREST, NEAR = 8, 0.25
"""Words of nearly the same meaning that are looked up, and how near they have to be."""

MARK = "select version, seq, spots, passages, steps from indexed where session = ?"
SET_MARK = "insert or replace into indexed values (?, ?, ?, ?, ?, ?)"
ADD_WORDS = "insert into found(rowid, words, parts) values (?, ?, ?)"
ADD_SPOT = "insert into spots values (?, ?, ?)"
MATCH = """
select json_group_array(number) from (
  select rowid as number from found where found match ? and rowid between ? and ?
  order by rowid desc limit ?)
"""
"""All rows as one text: a thousand of them one by one take longer to fetch than to find."""
SPOT = "select seq, step from spots where id = ?"
SIZE = "select passages from indexed where session = ?"
SIZES = "select sum(passages) from indexed"
FORGET_WORDS = "delete from found where rowid between ? and ?"
FORGET_SPOTS = "delete from spots where id between ? and ?"
FORGET_MARK = "delete from indexed where session = ?"
TIDY = "insert into found(found) values ('optimize')"
"""Forgotten rows leave the file only when what they stand among is written anew."""


class Scope(Struct, frozen=True):
    """The sessions that are searched, by their numbers in the file."""

    keys: tuple[int, ...]
    whole: bool = False
    """Whether that is every session there is, so that one question does for all."""


def in_memory() -> Database:
    """A place for an index that lasts as long as its process."""
    return cast(Database, apsw.Connection(":memory:"))


def mark_of(db: Database, key: int) -> Mark:
    """How far a session is indexed; from the beginning when another version did it."""
    found = db.execute(MARK, (key,)).fetchone()
    if found is None or found[0] != VERSION:
        return Mark()
    _, seq, spots, passages, steps = found
    return Mark(seq, spots, passages, msgspec.msgpack.decode(steps, type=dict[str, int]))


def prepared(mark: Mark, entries: Iterable[Entry]) -> Rows:
    """What a batch of entries adds to the index; no lock is needed to work that out."""
    return rows_of(mark, entries, most=BATCH_BYTES)


def write(db: Database, key: int, rows: Rows) -> bool:
    """Add rows of a session, inside the caller's transaction; whether that was still to do."""
    if mark_of(db, key) != rows.before:
        return False
    if not rows.before.seq:
        forget(db, key)
    words = ((_row(key, at, number), text, parts) for at, number, text, parts in rows.passages)
    db.executemany(ADD_WORDS, words)
    spots = ((key << SPOT_BITS | at, seq, step) for at, seq, step in rows.spots)
    db.executemany(ADD_SPOT, spots)
    after = rows.after
    steps = msgspec.msgpack.encode(after.steps)
    db.execute(SET_MARK, (key, VERSION, after.seq, after.spots, after.passages, steps))
    return True


def forget(db: Database, key: int) -> None:
    """Drop every row of a session, inside the caller's transaction."""
    db.execute(FORGET_WORDS, (_row(key, 0, 0), _row(key + 1, 0, 0) - 1))
    db.execute(FORGET_SPOTS, (key << SPOT_BITS, (key + 1 << SPOT_BITS) - 1))
    db.execute(FORGET_MARK, (key,))


def drop(db: Database) -> None:
    """Put an empty index in the place of this one, inside the caller's transaction."""
    for table in ("found", "spots", "indexed"):
        db.execute(f"drop table {table}")
    m005_the_index(db)


def search(db: Database, terms: Sequence[Term], scope: Scope, *, limit: int) -> Pool:
    """The passages that promise most, and how rare each term is among them all."""
    matches = [
        Matches(term, _matching(db, _phrase(term), scope), _alike(db, term, scope))
        for term in terms
    ]
    together = [
        (pair, _matching(db, " AND ".join(_phrase(terms[at]) for at in pair), scope))
        for pair in _pairs(matches)
    ]
    return pool_of(matches, together, _size(db, scope), limit=limit, place=_placed)


def _size(db: Database, scope: Scope) -> int:
    """Passages that are searched."""
    if scope.whole:
        return sum(row[0] or 0 for row in db.execute(SIZES))
    return sum(row[0] for key in scope.keys for row in db.execute(SIZE, (key,)))


def _pairs(matches: Sequence[Matches]) -> list[tuple[int, ...]]:
    """Frequent terms, two at a time: of each alone, only the newest rows are looked at."""
    cut = [at for at, one in enumerate(matches) if len(one.rows) >= MATCHES]
    return list(combinations(cut[:FREQUENT], 2))


def _alike(db: Database, term: Term, scope: Scope) -> list[int]:
    near = [f'"{word}"' for word, likeness in term.like[:NEAREST] if likeness >= NEAR]
    return _matching(db, " OR ".join(near), scope, LIKES) if near else []


def _phrase(term: Term) -> str:
    return f'"{" ".join(term.words)}"{"*" if term.prefix else ""}'


def _matching(db: Database, phrase: str, scope: Scope, most: int = MATCHES) -> list[int]:
    if scope.whole:
        return _between(db, phrase, 0, (1 << 63) - 1, most)
    found: list[int] = []
    for key in sorted(scope.keys, reverse=True):
        first, last = _row(key, 0, 0), _row(key + 1, 0, 0) - 1
        found += _between(db, phrase, first, last, most - len(found))
        if len(found) >= most:
            break
    return found


def _between(db: Database, phrase: str, first: int, last: int, most: int) -> list[int]:
    (rows,) = db.execute(MATCH, (phrase, first, last, most)).fetchall()
    return msgspec.json.decode(rows[0], type=list[int])


def _row(key: int, spot: int, passage: int) -> int:
    return (key << SPOT_BITS | spot) << PASSAGE_BITS | passage


def _placed(row: int) -> Spot:
    spot = row >> PASSAGE_BITS
    return Spot(spot >> SPOT_BITS, spot & (1 << SPOT_BITS) - 1, row & (1 << PASSAGE_BITS) - 1)


def located(db: Database, found: Iterable[Spot], name: Callable[[int], str]) -> list[Found]:
    """Spots as the ledger knows them; those that were forgotten meanwhile are left out."""
    places: list[Found] = []
    for one in found:
        row: Row | None = db.execute(SPOT, (one.session << SPOT_BITS | one.place,)).fetchone()
        if row is not None:
            where = name(one.session)
            places.append(Found(where, row[0], one.place, one.passage, row[1], one.promise))
    return places
