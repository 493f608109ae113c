"""What the tests write, and what has to be there afterwards: content follows from its number."""

import json
import os
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import cast

import apsw

import holdfast
from holdfast import Policy, Session
from holdfast.core.ledger.entry import Compressed, Derived, Entry, Said, Step
from holdfast.core.ledger.window import Item, Window
from holdfast.stores.connection import Database
from holdfast.stores.sqlite import SqliteStore

SESSION, TESTS = "s", "tests"
"""The session and the project most tests write to."""
LENGTHS = (1, 3, 30, 12, 2, 140)
"""Of texts, in digests of 64 digits: some stand in their row, some are content of their own."""
PATCH = 8
"""Entries that one compression hides."""


def ledger(root: str) -> str:
    """Where the product keeps the ledger of a project."""
    return os.path.join(root, ".holdfast", "ledger.db")


def opened(root: str, session: str = SESSION, *, project: str = TESTS) -> Session:
    """A session as a user opens it, whatever settings the user has."""
    return holdfast.open(session, root=root, project=project, policy=Policy())


def store_at(path: str, *, project: str = TESTS, engine: str | None = None) -> SqliteStore:
    """A store as `opened` would open it."""
    return SqliteStore(path, project=project, engine=engine)


def engine_at(path: str, *, writing: bool = False) -> Database:
    """The bare engine on a file, with none of our settings."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    return cast(Database, apsw.Connection(path, flags if writing else apsw.SQLITE_OPEN_READONLY))


def setting(path: str, name: str) -> object:
    """A setting that is kept in the file itself."""
    db = engine_at(path)
    try:
        return db.pragma(name)
    finally:
        db.close()


def text(number: int, by: str = "") -> str:
    """A text that hardly compresses, of a length that changes with the number."""
    digest = sha256(f"{by}{number}".encode()).hexdigest()
    return f"{by}{number} {digest * LENGTHS[number % len(LENGTHS)]}"


def message(number: int, by: str = "") -> dict[str, object]:
    """The message that says a text."""
    return {"role": "user", "content": text(number, by)}


def said(count: int, by: str = "") -> list[Said]:
    """The bodies that the first messages become."""
    return [Said("user", text(number, by)) for number in range(count)]


def sources(entries: Iterable[Entry]) -> list[Entry]:
    """What came from outside."""
    return [entry for entry in entries if not isinstance(entry.body, Derived)]


def bodies(store: SqliteStore, session: str = SESSION) -> list[object]:
    """All that a session says."""
    return [entry.body for entry in store.read(session)]


def compressions(entries: Iterable[Entry]) -> list[Compressed]:
    """The compressions of a session."""
    return [entry.body for entry in entries if isinstance(entry.body, Compressed)]


def plan(window: Window) -> Compressed:
    """A compression of the oldest entries in sight, or, now and then, of two stand-ins."""
    stand_ins = [item for item in window.items if item.covers][:2]
    plain = [item for item in window.items if not item.covers][:PATCH]
    chosen = stand_ins if len(stand_ins) == 2 and window.generation % 4 == 3 else plain
    return _compression(window, chosen)


def _compression(window: Window, items: Iterable[Item]) -> Compressed:
    hides = tuple(name for item in items for name in item.shows)
    step = Step(hides, "the oldest in sight", Said("user", f"{len(hides)} entries"))
    watermark = max(entry.seq for entry in window.ledger)
    return Compressed((step,), window.generation, watermark)


def document(number: int) -> bytes:
    """A session file; some take several transactions to read."""
    lines = 2_300 if number % 12 == 2 else 30
    return b"".join(_lines(number, lines))


def _lines(number: int, count: int) -> Iterator[bytes]:
    for at in range(count):
        short = f"{number} {at}" if count > 100 else text(at, by=f"{number}/")
        yield json.dumps({"role": "user", "content": short}).encode() + b"\n"
