"""Opening SQLite so that what was acknowledged stays: the settings, and which engines to trust.

SQLite 3.7.0 to 3.51.2 can lose committed writes when one connection resets the write-ahead log
while another writes. An engine with that defect gets the rollback journal, which does not have it.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from os import getpid
from time import sleep
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


class Blob(Protocol):
    """Content that is written in place."""

    def write(self, data: bytes) -> None:
        """Write at the end of what was written."""
        ...

    def close(self) -> None:
        """Finish."""
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

    def blob_open(
        self, database: str, table: str, column: str, rowid: int, writeable: bool
    ) -> Blob:
        """Open the content of one column of one row."""
        ...

    def last_insert_rowid(self) -> int:
        """The row that was inserted last."""
        ...

    def pragma(self, name: str, value: str | int | None = None) -> Any:
        """Read or set a setting of the engine."""
        ...

    def set_busy_handler(self, callable: Callable[[int], bool]) -> None:
        """What to do while another process holds the lock."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


TRIES = 15_000
"""Pauses of 2 ms on average before giving up on another writer: half a minute."""
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


def patience(tries: int) -> bool:
    """Whether to try again for the lock that another process holds.

    SQLite's own back-off sleeps longer and longer and lets the unlucky starve. Short and uneven
    pauses give everyone the same chance.
    """
    if tries >= TRIES:
        return False
    sleep((1 + (tries * 5 + getpid()) % 7) / 2_000)
    return True


def connect(path: str) -> Database:
    """A connection to a file that is there; nothing of it is changed yet."""
    # Nothing is made where a link might lead.
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
    db = cast(Database, apsw.Connection(path, flags))
    # First of all: everything after it may have to wait for another process.
    db.set_busy_handler(patience)
    return db


def make_durable(db: Database, path: str, version: str | None = None) -> bool:
    """Set a connection so that a commit means that the bytes are on the disk.

    Returns whether the engine is one that must not use the write-ahead log.

    Raises:
        StoreRefused: it is such an engine, and others use the log on this file.
    """
    unsafe = has_reset_defect(version or apsw.sqlite_lib_version())
    if unsafe:
        _leave_log(db, path)
    else:
        _use_log(db)
    # Content is found by hash, in no order: room for the pages that takes.
    db.pragma("cache_size", -16_000)
    # NORMAL would lose acknowledged commits when the power goes; without the log, so would FULL.
    db.pragma("synchronous", "extra" if unsafe else "full")
    # An idle reader must not let the log grow without end.
    db.pragma("journal_size_limit", LARGEST_LOG)
    return unsafe


def _use_log(db: Database) -> None:
    for tries in range(TRIES):
        try:
            db.pragma("journal_mode", "wal")
        except apsw.BusyError:
            # Switching answers busy at once, without asking for patience.
            patience(tries)
        else:
            return
    db.pragma("journal_mode", "wal")


def _leave_log(db: Database, path: str) -> None:
    # Others who have it open in this mode keep it busy too: only the log is a reason to refuse.
    with suppress(apsw.BusyError):
        db.pragma("journal_mode", "delete")
    refuse_log(db, path)


def refuse_log(db: Database, path: str) -> None:
    """Stop an engine with the defect from writing where the write-ahead log is in use.

    Raises:
        StoreRefused: it is.
    """
    if db.pragma("journal_mode") == "wal":
        reason = "this SQLite is older than 3.51.3 and another process has the file open"
        raise StoreRefused(path, reason)
