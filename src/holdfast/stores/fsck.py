"""Check and repair a SQLite store file: the database, rows, blobs and references.

Entry names must match their content, references must resolve, and the stored head must be equal to
the head that its entries fold to.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import apsw
from msgspec.structs import replace

from holdfast.core.ledger.append import Batch
from holdfast.core.ledger.chain import id_matches
from holdfast.core.ledger.entry import Compressed, Entry, EntryId
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.replay import replay_ledger
from holdfast.core.ledger.snapshot import take_snapshot
from holdfast.core.ledger.window import fold
from holdfast.errors import StoreDamaged
from holdfast.stores import packing
from holdfast.stores.connection import Database
from holdfast.stores.store import Damage, SessionInfo

if TYPE_CHECKING:
    from holdfast.stores.sqlite import SqliteStore

TABLES = (
    "sessions",
    "entries",
    "sightings",
    "blobs",
    "counts",
    "windows",
    "tombstones",
    "looks",
    "readings",
)
INDEX = "index"
"""`Damage.where` of damage in the search index, which the next search can rebuild."""
BLOBS = "select project, hash from blobs"
USED_BLOBS = """
select body from entries where stored = 1 union
select raw from sightings where stored & 15 = 1 union
select base from blobs where base is not null
"""
ORPHANS = """
select 'entries', count(*) from entries where session not in (select key from sessions) union all
select 'pieces', count(*) from sightings where session not in (select key from sessions)
"""
CACHES = """
select s.name, 'counts', c.data from counts as c join sessions as s on s.key = c.session union all
select s.name, 'window', w.data from windows as w join sessions as s on s.key = w.session union all
select s.name, 'reading', r.data from readings as r join sessions as s on s.key = r.session
"""
SIGHTINGS_BY_SOURCE = """
select source, count(*) from sightings
where session = (select key from sessions where project = ? and name = ?) group by source
"""
SESSION_NAMES = "select name from sessions where project = ?"


def check_file(store: "SqliteStore", db: Database) -> Iterator[Damage]:
    """Yield the damage in every project of the file."""
    # One read transaction, so that other processes may continue to write.
    db.execute("begin")
    store.blobs.clear_cached()
    own_project = store.project
    try:
        yield from _check_all(store, db)
    finally:
        store.project = own_project
        db.execute("rollback")


def _check_all(store: "SqliteStore", db: Database) -> Iterator[Damage]:
    broken = [*_check_database(db), *_check_tables(db)]
    yield from broken
    if any(damage.where != INDEX for damage in broken):
        # If SQLite cannot read the file, its rows cannot be checked.
        return
    yield from _check_rows(store, db)
    for project in store.projects():
        store.project = project
        yield from _check_project(store, db)


def _check_database(db: Database) -> Iterator[Damage]:
    try:
        for (word,) in db.execute("pragma integrity_check"):
            if word != "ok":
                yield _engine_damage(str(word))
    except (apsw.Error, UnicodeDecodeError) as error:
        yield _engine_damage(str(error))


def _engine_damage(word: str) -> Damage:
    """Turn a SQLite message into damage: of the index, which can be rebuilt, or of the database."""
    of_index = "fts5" in word.lower()
    return Damage("cache", INDEX, word) if of_index else Damage("lost", "database", word)


def _check_tables(db: Database) -> Iterator[Damage]:
    present = {row[0] for row in db.execute("select name from sqlite_schema where type = 'table'")}
    for table in TABLES:
        if table not in present:
            yield Damage("lost", "database", f"the table {table} is missing")


def _check_rows(store: "SqliteStore", db: Database) -> Iterator[Damage]:
    try:
        yield from _check_blobs(store, db)
        for what, count in db.execute(ORPHANS):
            if count:
                yield Damage("lost", "database", f"{count} {what} belong to no session")
        for name, what, data in db.execute(CACHES):
            if packing.verify_checksum(data) is None:
                yield Damage("cache", name, f"its {what} cannot be read")
    except (apsw.Error, UnicodeDecodeError) as error:
        yield Damage("lost", "database", str(error))


def _check_blobs(store: "SqliteStore", db: Database) -> Iterator[Damage]:
    used = {row[0] for row in db.execute(USED_BLOBS)}
    for project, name in db.execute(BLOBS):
        is_name = isinstance(name, bytes)  # a flipped bit can turn a blob into a number
        where = f"content {name.hex()[:12] if is_name else name}"
        if not is_name or not store.blobs.is_whole(project, name):
            yield Damage("lost", where, "it does not match its hash")
        if name not in used:
            yield Damage("waste", where, "nothing refers to it")


def _check_project(store: "SqliteStore", db: Database) -> Iterator[Damage]:
    for name in [str(row[0]) for row in db.execute(SESSION_NAMES, (store.project,))]:
        try:
            head = store.head(name) or Head()
            yield from _check_session(store, db, SessionInfo(name, head, 0))
        except StoreDamaged as damage:
            yield Damage("lost", name, damage.reason)


def _check_session(store: "SqliteStore", db: Database, info: SessionInfo) -> Iterator[Damage]:
    yield from _check_entries(store, info)
    counts = {
        str(row[0]): row[1] for row in db.execute(SIGHTINGS_BY_SOURCE, (store.project, info.name))
    }
    for source, document in info.head.documents.items():
        if counts.get(source, 0) != document.seen:
            what = f"{document.seen} sightings were written and {counts.get(source, 0)} are present"
            yield Damage("lost", info.name, what)
    yield from _check_windows(store, info)


def _check_entries(store: "SqliteStore", info: SessionInfo) -> Iterator[Damage]:
    """Yield the damage found in one session."""
    entries = list(store.read(info.name))
    names = {entry.id for entry in entries}
    erased_ids = {tombstone.id for tombstone in store.tombstones(info.name)}
    for number, entry in enumerate(entries, start=1):
        yield from _check_entry(info.name, entry, number, names, erased_ids)
    yield from _check_sightings(store, info, {entry.seq for entry in entries})
    if info.head.seq != len(entries):
        what = f"{info.head.seq} entries were written and {len(entries)} are present"
        yield Damage("lost", info.name, what)
    elif not _is_same_head(info.head, _replay_head(store, info, entries)):
        yield Damage("cache", info.name, "the head is not what its entries fold to")


def _check_entry(
    session: str, entry: Entry, number: int, names: set[EntryId], erased: set[EntryId]
) -> Iterator[Damage]:
    where = f"{session}, entry {entry.seq}"
    if entry.seq != number:
        yield Damage("lost", f"{session}, entry {number}", "it is missing")
    if entry.parent is not None and entry.parent not in names:
        yield Damage("lost", where, f"it follows {entry.parent}, which is missing")
    if entry.id not in erased and not id_matches(entry):
        yield Damage("lost", where, "its content does not match its name")
    if isinstance(entry.body, Compressed):
        hidden = {name for step in entry.body.steps for name in step.hides}
        if not hidden <= names:
            yield Damage("lost", where, f"it hides {len(hidden - names)} entries that are missing")


def _check_sightings(store: "SqliteStore", info: SessionInfo, seqs: set[int]) -> Iterator[Damage]:
    for source, document in info.head.documents.items():
        count = 0
        for position, sighting in enumerate(store.sightings(info.name, source)):
            count += 1
            where = f"{info.name}{'/' + source if source else ''}, piece {position + 1}"
            if sighting.pos != position:
                yield Damage("lost", where, "it is missing")
                return
            if sighting.first and sighting.first not in seqs:
                yield Damage("lost", where, f"it holds entry {sighting.first}, which is missing")
        if count != document.length:
            what = f"{document.length} pieces were written and {count} are present"
            yield Damage("lost", info.name, what)


def _replay_head(store: "SqliteStore", info: SessionInfo, entries: list[Entry]) -> Head:
    """Return the head that the entries of a session fold to."""
    return replay_ledger(entries, store.counts(info.name, info.head.vocabulary), info.head)


def _is_same_head(stored: Head, replayed: Head) -> bool:
    """Return whether a stored head equals the replayed one; a stale head is always accepted."""
    return (
        stored.stale or stored.stamp != replayed.stamp or replace(stored, stale=False) == replayed
    )


def _check_windows(store: "SqliteStore", info: SessionInfo) -> Iterator[Damage]:
    for lane in info.head.lanes:
        saved = store.window(info.name, lane)
        if saved is None:
            continue
        folded = [entry for entry in store.read(info.name) if entry.seq <= saved.seq]
        if take_snapshot(fold(folded, lane=lane), saved.seq) != saved:
            yield Damage("cache", info.name, "the saved window is not what its entries fold to")


def repair(store: "SqliteStore") -> list[str]:
    """Rebuild damaged caches and the index, and return what was done. Content is not changed."""
    damages = list(store.check())
    if any(damage.where == "database" for damage in damages):
        return []
    actions = [_drop_index(store)] if any(damage.where == INDEX for damage in damages) else []
    lost = {damage.where.split(",")[0] for damage in damages if damage.kind == "lost"}
    stale = {damage.where for damage in damages if damage.kind == "cache"}
    # If content is missing, a rebuilt head would hide that.
    rebuildable = [info for info in store.sessions() if info.name in stale - lost]
    return [*actions, *(_rebuild(store, info) for info in rebuildable)]


def _drop_index(store: "SqliteStore") -> str:
    store.drop_index()
    return "the index was dropped; the next search builds it again"


def _rebuild(store: "SqliteStore", info: SessionInfo) -> str:
    entries = list(store.read(info.name))
    rebuilt = _replay_head(store, info, entries)

    def build(head: Head) -> Batch:
        return Batch(rebuilt if head == info.head else head)

    store.append(info.name, build)
    store.clear_cache(info.name)
    for lane in rebuilt.lanes:
        if store.window(info.name, lane) is not None or entries:
            store.save_window(info.name, take_snapshot(fold(entries, lane=lane), rebuilt.seq))
    return f"{info.name}: rebuilt from {len(entries):,} entries"
