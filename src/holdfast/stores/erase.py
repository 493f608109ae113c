"""Erase entries or sessions from a SQLite store without leaving bytes behind.

Rows, blobs, the write-ahead log and free pages are cleared; a tombstone records what was erased.
"""

from collections.abc import Iterable
from time import sleep
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.ledger.append import Batch
from holdfast.core.ledger.entry import Derived, Sighting
from holdfast.errors import Conflict, StoreBusy
from holdfast.stores import index
from holdfast.stores.connection import Database, Row
from holdfast.stores.store import Erasure, Tombstone

if TYPE_CHECKING:
    from holdfast.stores.sqlite import SqliteStore

DELETE_CACHES = (
    "delete from counts where session = ?",
    "delete from windows where session = ?",
    "delete from readings where session = ?",
)
"""Caches that are computed from entries and computed again when needed. Every table that is filled
from entries must be cleared here or with the index."""
DELETE_SESSION = (
    "delete from entries where session = ?",
    "delete from sightings where session = ?",
    "delete from sessions where key = ?",
)
REPLACE_ENTRY = "update entries set stored = ?, body = ?, sum = ? where session = ? and seq = ?"
REPLACE_SIGHTING = """
update sightings set lead = ?, stored = ?, raw = ?, sum = ?
where session = ? and source = ? and pos = ? and version = ?
"""
BLOBS_OF_SESSION = """
select body from entries where session = ? and stored = 1 union
select raw from sightings where session = ? and stored & 15 = 1
"""
BLOBS_OF_PROJECT = """
select e.body from entries as e join sessions as s on s.key = e.session
where s.project = ? and e.stored = 1 union
select p.raw from sightings as p join sessions as s on s.key = p.session
where s.project = ? and p.stored & 15 = 1
"""
ADD_TOMBSTONE = """
insert into tombstones values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do update set
    again = excluded.again,
    size = case reason when 'rewritten' then excluded.size else size end,
    at = case reason when 'rewritten' then excluded.at else at end,
    reason = case reason when 'rewritten' then excluded.reason else reason end
"""
"""A later erasure keeps the first reason, unless that was 'rewritten'; it updates only the call
to repeat, which may be erased itself."""
TOMBSTONES = """
select session, seq, id, size, reason, at, again from tombstones
where project = ? and (? is null or session = ?) and (? = '' or hex(id) like ? || '%')
order by session, seq
"""
MAX_LOG_TRIES = 200
"""Pauses of 0.05 s to wait until no reader uses the log."""


def erase_rows(store: "SqliteStore", db: Database, session: str, erasure: Erasure) -> None:
    """Replace or delete the rows of an erasure and add its tombstones; inside a transaction.

    Raises:
        Conflict: the session changed since the erasure was computed.
    """
    row = db.execute(
        "select key from sessions where project = ? and name = ?", (store.project, session)
    ).fetchone()
    head = store.head(session)
    if row is None or head is None or head.seq != erasure.seq:
        raise Conflict(session, expected=erasure.seq, found=head.seq if head else "nothing")
    key = row[0]
    before = {row[0] for row in db.execute(BLOBS_OF_SESSION, (key, key))}
    for statement in DELETE_CACHES:
        db.execute(statement, (key,))
    index.delete_session(db, key)
    db.execute(index.OPTIMIZE)
    if erasure.whole:
        for statement in DELETE_SESSION:
            db.execute(statement, (key,))
    else:
        _replace_rows(
            store,
            db,
            key,
            replace(erasure, sightings=_sightings_to_rewrite(store, session, erasure)),
        )
    db.executemany(
        ADD_TOMBSTONE,
        [_tombstone_row(store.project, tombstone) for tombstone in erasure.tombstones],
    )
    after = {row[0] for row in db.execute(BLOBS_OF_PROJECT, (store.project, store.project))}
    store.blobs.delete(store.project, before - after)


def _sightings_to_rewrite(
    store: "SqliteStore", session: str, erasure: Erasure
) -> tuple[Sighting, ...]:
    """Return the given sightings, and those whose stored bytes refer to entries that change."""
    changed = {entry.seq for entry in erasure.entries if not isinstance(entry.body, Derived)}
    given = {(sighting.source, sighting.pos, sighting.version) for sighting in erasure.sightings}
    dependent = (
        sighting
        for sighting in store.all_sightings(session)
        if not changed.isdisjoint(range(sighting.first, sighting.first + sighting.parts))
        and (sighting.source, sighting.pos, sighting.version) not in given
    )
    return (*erasure.sightings, *dependent)


def _replace_rows(store: "SqliteStore", db: Database, key: int, erasure: Erasure) -> None:
    from holdfast.stores.sqlite import entry_row, sighting_row  # late: it imports this

    blobs: dict[bytes, bytes] = {}
    for entry in erasure.entries:
        row = entry_row(key, store.entry_to_store(key, entry), blobs)
        db.execute(REPLACE_ENTRY, (*row[-3:], key, entry.seq))
    for sighting in erasure.sightings:
        row = sighting_row(key, sighting, blobs)
        db.execute(
            REPLACE_SIGHTING, (*row[-4:], key, sighting.source, sighting.pos, sighting.version)
        )
    store.write(key, Batch(erasure.head, erasure.added), blobs)


def _tombstone_row(project: str, tombstone: Tombstone) -> Row:
    id_ = bytes.fromhex(tombstone.id)
    return (
        project,
        tombstone.session,
        tombstone.seq,
        id_,
        tombstone.size,
        tombstone.reason,
        tombstone.at,
        tombstone.again,
    )


def read_tombstones(
    db: Database, project: str, session: str | None, ref: str
) -> Iterable[Tombstone]:
    """Yield the tombstones of one session or of all whose id begins with `ref`."""
    rows = db.execute(TOMBSTONES, (project, session, session, ref, ref.upper())).fetchall()
    for name, seq, id_, size, reason, at, again in rows:
        yield Tombstone(name, seq, id_.hex(), size, reason, at, again)


def scrub_file(db: Database, path: str) -> None:
    """Remove deleted bytes from free pages, from unused space in pages, and from the log.

    Raises:
        StoreBusy: other processes kept reading, so the log could not be emptied.
    """
    _empty_log(db, path)
    db.execute("vacuum")
    _empty_log(db, path)


def _empty_log(db: Database, path: str) -> None:
    for _ in range(MAX_LOG_TRIES):
        busy = db.execute("pragma wal_checkpoint(truncate)").fetchone()
        if busy is None or not busy[0]:
            return
        sleep(0.05)
    raise StoreBusy(path)
