"""Checking a store file: the database, every row, every piece of content, every reference."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import apsw
from msgspec.structs import replace

from holdfast.core.ledger.arrive import Batch
from holdfast.core.ledger.head import Head
from holdfast.errors import StoreDamaged
from holdfast.stores import packing
from holdfast.stores.checks import check_session, replayed
from holdfast.stores.engine import Database
from holdfast.stores.store import Damage, Listed

if TYPE_CHECKING:
    from holdfast.stores.sqlite import SqliteStore

BLOBS = "select hash, data from blobs where project = ?"
USED = """
select body from entries where stored = 1 union
select raw from sightings where stored = 1
"""


def check_file(store: "SqliteStore", db: Database) -> Iterator[Damage]:
    """Everything that is not as it was given."""
    broken = list(_check_database(db))
    yield from broken
    if broken:
        # What the engine cannot read in order cannot be judged row by row.
        return
    yield from _check_blobs(store, db)
    for listed in store.sessions():
        yield from _check_session(store, listed)


def _check_database(db: Database) -> Iterator[Damage]:
    try:
        for (word,) in db.execute("pragma integrity_check"):
            if word != "ok":
                yield Damage("lost", "database", str(word))
    except apsw.Error as error:
        yield Damage("lost", "database", str(error))


def _check_blobs(store: "SqliteStore", db: Database) -> Iterator[Damage]:
    used = {row[0] for row in db.execute(USED)}
    for name, data in db.execute(BLOBS, (store.project,)):
        try:
            whole = packing.digest(packing.unsqueeze(data)) == name
        except ValueError:
            whole = False
        if not whole:
            yield Damage("lost", f"content {name.hex()[:12]}", "it is not what it was")
        if name not in used:
            yield Damage("waste", f"content {name.hex()[:12]}", "nothing refers to it")


def _check_session(store: "SqliteStore", listed: Listed) -> Iterator[Damage]:
    try:
        yield from check_session(store, listed)
        for lane in listed.head.lanes:
            store.window(listed.name, lane)
    except StoreDamaged as damage:
        yield Damage("lost", listed.name, damage.reason)


def repair(store: "SqliteStore") -> list[str]:
    """Rebuild what can be rebuilt, and say what was done. Content is never touched."""
    return [done for listed in store.sessions() for done in _repair_head(store, listed)]


def _repair_head(store: "SqliteStore", listed: Listed) -> Iterator[str]:
    try:
        entries = list(store.read(listed.name))
    except StoreDamaged:
        return
    true = replayed(store, listed, entries)

    def rebuilt(head: Head) -> Batch:
        return Batch(true if head == listed.head else head)

    if replace(true, stale=listed.head.stale) != listed.head:
        store.append(listed.name, rebuilt)
        yield f"{listed.name}: head rebuilt from {len(entries):,} entries"
