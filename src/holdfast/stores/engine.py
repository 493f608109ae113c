"""Opening SQLite so that what was acknowledged stays: the settings, and which engines to trust.

SQLite 3.7.0 to 3.51.2 can lose committed writes when one connection resets the write-ahead log
while another writes. An engine with that defect gets the rollback journal, which does not have it.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, TypeAlias, cast

import apsw

from holdfast.errors import StoreRefused

Row: TypeAlias = tuple[Any, ...]


class Rows(Protocol):
    """What a statement gave."""

    def __iter__(self) -> Iterator[Row]: ...

    def fetchone(self) -> Row | None:
        """The next row."""
        ...

    def fetchall(self) -> list[Row]:
        """All rows that are left."""
        ...


class Database(Protocol):
    """As much of an SQLite connection as we use."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        ...

    def execute(self, statements: str, bindings: Row | None = None) -> Rows:
        """Run statements."""
        ...

    def executemany(self, statements: str, sequenceofbindings: Iterable[Row]) -> Rows:
        """Run a statement for each row."""
        ...

    def pragma(self, name: str, value: str | int | None = None) -> Any:
        """Read or set a setting of the engine."""
        ...

    def set_busy_timeout(self, milliseconds: int) -> None:
        """How long to wait for another writer."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


WAIT = 5_000
"""Milliseconds to wait for another writer."""
LARGEST_LOG = 4 * 1024 * 1024
"""Bytes of write-ahead log kept on disk between writes."""


def has_reset_defect(version: str) -> bool:
    """Whether an SQLite of this version can lose committed writes in write-ahead mode."""
    numbers = tuple(int(part) for part in version.split("."))[:3]
    if numbers[:2] == (3, 44):
        return numbers < (3, 44, 6)
    if numbers[:2] == (3, 50):
        return numbers < (3, 50, 7)
    return numbers < (3, 51, 3)


def _without_log(db: Database, path: str) -> None:
    db.set_busy_timeout(0)
    try:
        mode = db.pragma("journal_mode", "delete")
    except apsw.BusyError:
        mode = "wal"
    if mode == "wal":
        db.close()
        reason = "this SQLite is older than 3.51.3 and another process has the file open"
        raise StoreRefused(path, reason)
    db.set_busy_timeout(WAIT)


def connect(path: str, *, version: str | None = None) -> Database:
    """A connection on which a commit means that the bytes are on the disk.

    Raises:
        StoreRefused: the engine is not safe with the way others have the file open.
    """
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_NOFOLLOW
    db = cast(Database, apsw.Connection(path, flags))
    # First of all: everything after it may have to wait for another process.
    db.set_busy_timeout(WAIT)
    if has_reset_defect(version or apsw.sqlite_lib_version()):
        _without_log(db, path)
    else:
        db.pragma("journal_mode", "wal")
    # Content is found by hash, in no order: room for the pages that takes.
    db.pragma("cache_size", -16_000)
    # NORMAL would lose acknowledged commits when the power goes.
    db.pragma("synchronous", "full")
    # An idle reader must not let the log grow without end.
    db.pragma("journal_size_limit", LARGEST_LOG)
    return db
