"""Opening SQLite so that what was acknowledged stays: the settings, and which engines to trust.

SQLite 3.7.0 to 3.51.2 can lose committed writes when one connection resets the write-ahead log
while another writes. An engine with that defect gets the rollback journal, which does not have it.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from os import getpid
from time import sleep
from typing import Any, Protocol, TypeAlias, cast

import apsw

from holdfast.errors import HoldfastError, StoreFull, StoreRefused

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


# The private folder a store lives in: nobody else can read it or plant things in it.
#
# Everything is done through a descriptor of the folder: a folder that is swapped for a link between
# two steps is then never written through.


FOLDER_MODE, FILE_MODE = 0o700, 0o600
NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
IGNORE = b"*\n"
OWN = ".holdfast"
"""The name of a folder that is ours whoever made it."""


def prepare(path: str) -> str:
    """Make the folder and the empty file of a store, or make sure that both are ours alone.

    Returns the path with no link in it.

    Raises:
        StoreRefused: something of it is a link, a pipe, somebody else's, or open to others.
    """
    above, name = os.path.split(os.path.dirname(path) or ".")
    try:
        above = os.path.realpath(above or ".")
        folder = os.path.join(above, name) if name != "." else above
        made = _make(above, folder)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (OSError, ValueError) as error:
        raise _refused(os.path.dirname(path) or ".", error) from None
    try:
        _check_folder(folder, os.fstat(descriptor))
        if made:
            _sync_entry(above)
        if made or name == OWN:
            _ignore(descriptor)
        _prepare_file(path, descriptor)
    except OSError as error:
        raise _refused(path, error) from None
    finally:
        os.close(descriptor)
    return os.path.join(folder, os.path.basename(path))


def _refused(path: str, error: Exception) -> HoldfastError:
    words = error.strerror if isinstance(error, OSError) else None
    reason = (words or str(error)).lower()
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return StoreFull(path, reason) if full else StoreRefused(path, reason)


def _sync_entry(folder: str) -> None:
    """Make sure that a new folder is still there after a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make(above: str, folder: str) -> bool:
    """Whether the folder had to be made."""
    os.makedirs(above, exist_ok=True)
    try:
        os.mkdir(folder, FOLDER_MODE)
    except FileExistsError:
        return False
    return True


def _check_folder(path: str, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise StoreRefused(path, "it belongs to another user")
    if found.st_mode & 0o022:
        raise StoreRefused(path, "others may write to it; `chmod go-w` it")


def _ignore(folder: int) -> None:
    """Keep the store out of the project's repository."""
    try:
        made = os.open(".gitignore", NEW, FILE_MODE, dir_fd=folder)
    except FileExistsError:
        return
    try:
        os.write(made, IGNORE)
    except OSError:
        os.unlink(".gitignore", dir_fd=folder)
        raise
    finally:
        os.close(made)


def _prepare_file(path: str, folder: int) -> None:
    name = os.path.basename(path)
    try:
        made = os.open(name, NEW, FILE_MODE, dir_fd=folder)
    except FileExistsError:
        _check_file(path, os.stat(name, dir_fd=folder, follow_symlinks=False))
        return
    # The umask can only take bits away; a file of ours has exactly these.
    os.fchmod(made, FILE_MODE)
    os.close(made)


def _check_file(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise StoreRefused(path, "it is not a plain file")
    if found.st_uid != os.geteuid():
        raise StoreRefused(path, "it belongs to another user")
    if found.st_nlink > 1:
        raise StoreRefused(path, "it has a second name elsewhere")


def close_to_others(path: str) -> None:
    """Take from others what an earlier copy or move may have given them."""
    try:
        if os.stat(path, follow_symlinks=False).st_mode & 0o077:
            os.chmod(path, FILE_MODE)
    except OSError as error:
        raise _refused(path, error) from None
