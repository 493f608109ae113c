"""Erasing from the embedded store so that no byte is left: rows, content, log and free pages."""

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

FORGET = (
    "delete from counts where session = ?",
    "delete from windows where session = ?",
    "delete from readings where session = ?",
)
"""What is derived from entries and made again when it is needed. A table that is filled from
entries is forgotten here and with the index, and nowhere else."""
REMOVE = (
    "delete from entries where session = ?",
    "delete from sightings where session = ?",
    "delete from sessions where key = ?",
)
REPLACE_ENTRY = "update entries set stored = ?, body = ?, sum = ? where session = ? and seq = ?"
REPLACE_SIGHTING = """
update sightings set lead = ?, stored = ?, raw = ?, sum = ?
where session = ? and source = ? and pos = ? and version = ?
"""
HELD = """
select body from entries where session = ? and stored = 1 union
select raw from sightings where session = ? and stored & 15 = 1
"""
USED = """
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
"""What is erased once stays so; but a call that went later is no longer named."""
TOMBSTONES = """
select session, seq, id, size, reason, at, again from tombstones
where project = ? and (? is null or session = ?) and (? = '' or hex(id) like ? || '%')
order by session, seq
"""
TRIES = 200
"""Pauses of a twentieth of a second for readers to be done with the log."""


def erase_rows(store: "SqliteStore", db: Database, session: str, erasure: Erasure) -> None:
    """Put in the place of what is erased what is left of it; inside a transaction."""
    found = db.execute(
        "select key from sessions where project = ? and name = ?", (store.project, session)
    ).fetchone()
    head = store.head(session)
    if found is None or head is None or head.seq != erasure.seq:
        raise Conflict(session, expected=erasure.seq, found=head.seq if head else "nothing")
    key = found[0]
    held = {row[0] for row in db.execute(HELD, (key, key))}
    for statement in FORGET:
        db.execute(statement, (key,))
    index.forget(db, key)
    db.execute(index.TIDY)
    if erasure.whole:
        for statement in REMOVE:
            db.execute(statement, (key,))
    else:
        _replace(store, db, key, replace(erasure, sightings=_pieces(store, session, erasure)))
    db.executemany(
        ADD_TOMBSTONE, [_tombstone_row(store.project, one) for one in erasure.tombstones]
    )
    used = {row[0] for row in db.execute(USED, (store.project, store.project))}
    store.contents.drop(store.project, held - used)


def _pieces(store: "SqliteStore", session: str, erasure: Erasure) -> tuple[Sighting, ...]:
    """What is rewritten, and what is told by words that are: those bytes are laid down by them."""
    changed = {entry.seq for entry in erasure.entries if not isinstance(entry.body, Derived)}
    given = {(seen.source, seen.pos, seen.version) for seen in erasure.sightings}
    told = (
        seen
        for seen in store.pieces(session)
        if not changed.isdisjoint(range(seen.first, seen.first + seen.parts))
        and (seen.source, seen.pos, seen.version) not in given
    )
    return (*erasure.sightings, *told)


def _replace(store: "SqliteStore", db: Database, key: int, erasure: Erasure) -> None:
    from holdfast.stores.sqlite import entry_row, sighting_row  # late: it imports this

    blobs: dict[bytes, bytes] = {}
    for entry in erasure.entries:
        row = entry_row(key, store.shorter(key, entry), blobs)
        db.execute(REPLACE_ENTRY, (*row[-3:], key, entry.seq))
    for seen in erasure.sightings:
        row = sighting_row(key, seen, blobs)
        db.execute(REPLACE_SIGHTING, (*row[-4:], key, seen.source, seen.pos, seen.version))
    store.write(key, Batch(erasure.head, erasure.added), blobs)


def _tombstone_row(project: str, one: Tombstone) -> Row:
    id_ = bytes.fromhex(one.id)
    return (project, one.session, one.seq, id_, one.size, one.reason, one.at, one.again)


def tombstones(db: Database, project: str, session: str | None, ref: str) -> Iterable[Tombstone]:
    """What was erased: of a session or of all, and whose name begins as given."""
    rows = db.execute(TOMBSTONES, (project, session, session, ref, ref.upper())).fetchall()
    for name, seq, id_, size, reason, at, again in rows:
        yield Tombstone(name, seq, id_.hex(), size, reason, at, again)


def scrub(db: Database, path: str) -> None:
    """Leave no byte behind: in free pages, in what is left between rows, in the log.

    Raises:
        StoreBusy: others kept reading, so that the log could not be emptied.
    """
    _empty_log(db, path)
    db.execute("vacuum")
    _empty_log(db, path)


def _empty_log(db: Database, path: str) -> None:
    for _ in range(TRIES):
        busy = db.execute("pragma wal_checkpoint(truncate)").fetchone()
        if busy is None or not busy[0]:
            return
        sleep(0.05)
    raise StoreBusy(path)
