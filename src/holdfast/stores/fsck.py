"""Checking a store file: the database, every row, every piece of content, every reference."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import apsw

from holdfast.core.ledger.append import Batch
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.snapshot import keep
from holdfast.core.ledger.window import fold
from holdfast.errors import StoreDamaged
from holdfast.stores import packing
from holdfast.stores.checks import check_session, replayed
from holdfast.stores.connection import Database
from holdfast.stores.store import Damage, Listed

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
"""Where damage is said to be that searching again makes good."""
BLOBS = "select project, hash from blobs"
USED = """
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
SEEN = """
select source, count(*) from sightings
where session = (select key from sessions where project = ? and name = ?) group by source
"""
NAMES = "select name from sessions where project = ?"


def check_file(store: "SqliteStore", db: Database) -> Iterator[Damage]:
    """Everything that is not as it was given, in every project of the file."""
    # One look at one moment: others may go on writing.
    db.execute("begin")
    store.contents.forget()
    mine = store.project
    try:
        yield from _check_all(store, db)
    finally:
        store.project = mine
        db.execute("rollback")


def _check_all(store: "SqliteStore", db: Database) -> Iterator[Damage]:
    broken = [*_check_database(db), *_check_tables(db)]
    yield from broken
    if any(damage.where != INDEX for damage in broken):
        # What the engine cannot read in order cannot be judged row by row.
        return
    yield from _check_rows(store, db)
    for project in store.projects():
        store.project = project
        yield from _check_project(store, db)


def _check_database(db: Database) -> Iterator[Damage]:
    try:
        for (word,) in db.execute("pragma integrity_check"):
            if word != "ok":
                yield _of_engine(str(word))
    except (apsw.Error, UnicodeDecodeError) as error:
        yield _of_engine(str(error))


def _of_engine(word: str) -> Damage:
    """What the engine complains of; the index can be made again from what is not."""
    of_index = "fts5" in word.lower()
    return Damage("cache", INDEX, word) if of_index else Damage("lost", "database", word)


def _check_tables(db: Database) -> Iterator[Damage]:
    there = {row[0] for row in db.execute("select name from sqlite_schema where type = 'table'")}
    for table in TABLES:
        if table not in there:
            yield Damage("lost", "database", f"the table {table} is missing")


def _check_rows(store: "SqliteStore", db: Database) -> Iterator[Damage]:
    try:
        yield from _check_blobs(store, db)
        for what, count in db.execute(ORPHANS):
            if count:
                yield Damage("lost", "database", f"{count} {what} belong to no session")
        for name, what, data in db.execute(CACHES):
            if packing.unsealed(data) is None:
                yield Damage("cache", name, f"its {what} cannot be read")
    except (apsw.Error, UnicodeDecodeError) as error:
        yield Damage("lost", "database", str(error))


def _check_blobs(store: "SqliteStore", db: Database) -> Iterator[Damage]:
    used = {row[0] for row in db.execute(USED)}
    for project, name in db.execute(BLOBS):
        named = isinstance(name, bytes)  # a flipped bit can make a number of what was a blob
        where = f"content {name.hex()[:12] if named else name}"
        if not named or not store.contents.is_whole(project, name):
            yield Damage("lost", where, "it is not what it was")
        if name not in used:
            yield Damage("waste", where, "nothing refers to it")


def _check_project(store: "SqliteStore", db: Database) -> Iterator[Damage]:
    for name in [str(row[0]) for row in db.execute(NAMES, (store.project,))]:
        try:
            head = store.head(name) or Head()
            yield from _check_session(store, db, Listed(name, head, 0))
        except StoreDamaged as damage:
            yield Damage("lost", name, damage.reason)


def _check_session(store: "SqliteStore", db: Database, listed: Listed) -> Iterator[Damage]:
    yield from check_session(store, listed)
    seen = {str(row[0]): row[1] for row in db.execute(SEEN, (store.project, listed.name))}
    for source, document in listed.head.documents.items():
        if seen.get(source, 0) != document.seen:
            what = f"{document.seen} sightings were written and {seen.get(source, 0)} are there"
            yield Damage("lost", listed.name, what)
    yield from _check_windows(store, listed)


def _check_windows(store: "SqliteStore", listed: Listed) -> Iterator[Damage]:
    for lane in listed.head.lanes:
        kept = store.window(listed.name, lane)
        if kept is None:
            continue
        upto = [entry for entry in store.read(listed.name) if entry.seq <= kept.seq]
        if keep(fold(upto, lane=lane), kept.seq) != kept:
            yield Damage("cache", listed.name, "the window kept is not what its entries fold to")


def repair(store: "SqliteStore") -> list[str]:
    """Rebuild what can be rebuilt, and say what was done. Content is never touched."""
    damages = list(store.check())
    if any(damage.where == "database" for damage in damages):
        return []
    mended = [_emptied(store)] if any(damage.where == INDEX for damage in damages) else []
    lost = {damage.where.split(",")[0] for damage in damages if damage.kind == "lost"}
    wrong = {damage.where for damage in damages if damage.kind == "cache"}
    # Where content is missing, a rebuilt head would only hide it.
    whole = [one for one in store.sessions() if one.name in wrong - lost]
    return [*mended, *(_rebuilt(store, listed) for listed in whole)]


def _emptied(store: "SqliteStore") -> str:
    store.drop_index()
    return "the index was dropped; the next search makes it again"


def _rebuilt(store: "SqliteStore", listed: Listed) -> str:
    entries = list(store.read(listed.name))
    true = replayed(store, listed, entries)

    def build(head: Head) -> Batch:
        return Batch(true if head == listed.head else head)

    store.append(listed.name, build)
    store.forget_readings(listed.name)
    for lane in true.lanes:
        if store.window(listed.name, lane) is not None or entries:
            store.keep(listed.name, keep(fold(entries, lane=lane), true.seq))
    return f"{listed.name}: rebuilt from {len(entries):,} entries"
