"""Open a SQLite file with settings under which committed writes are durable.

SQLite 3.7.0 to 3.51.2 can lose committed writes when one connection resets the write-ahead log
while another writes. An engine with that defect uses the rollback journal, which does not have it.
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
    """The result rows of a statement."""

    def __iter__(self) -> Iterator[Row]: ...

    def fetchone(self) -> Row | None:
        """Return the next row, or None."""
        ...

    def fetchall(self) -> list[Row]:
        """Return all remaining rows."""
        ...


class Blob(Protocol):
    """The content of one column, opened for writing in place."""

    def write(self, data: bytes) -> None:
        """Write `data` after the bytes written so far."""
        ...

    def close(self) -> None:
        """Close the blob."""
        ...


class Database(Protocol):
    """The methods of a SQLite connection that the stores use."""

    @property
    def in_transaction(self) -> bool:
        """Return whether a transaction is open."""
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
        """Return the number of the row that was inserted last."""
        ...

    def pragma(self, name: str, value: str | int | None = None) -> Any:
        """Read or change a SQLite setting."""
        ...

    def set_busy_handler(self, callable: Callable[[int], bool]) -> None:
        """Set the function that is called while another process holds the lock."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


MAX_LOCK_TRIES = 15_000
"""Pauses of 2 ms on average before a lock is given up: half a minute."""
MAX_LOG_BYTES = 4 * 1024 * 1024
"""Size to which the write-ahead log is truncated between writes."""


def has_reset_defect(version: str) -> bool:
    """Return whether a SQLite version can lose committed writes in write-ahead mode."""
    numbers = tuple(int(part) for part in version.split("."))[:3]
    if numbers[:2] == (3, 44):
        return numbers < (3, 44, 6)
    if numbers[:2] == (3, 50):
        return numbers < (3, 50, 7)
    return numbers < (3, 51, 3)


def wait_for_lock(tries: int) -> bool:
    """Pause, and return whether to try again for the lock that another process holds.

    SQLite's own back-off sleeps longer and longer, so that some processes never get the lock. Short
    and uneven pauses give all of them the same chance.
    """
    if tries >= MAX_LOCK_TRIES:
        return False
    sleep((1 + (tries * 5 + getpid()) % 7) / 2_000)
    return True


def connect(path: str) -> Database:
    """Open a connection to an existing file without changing the file."""
    # No file is created at the target of a symbolic link.
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
    db = cast(Database, apsw.Connection(path, flags))
    # Set first: every later call may have to wait for another process.
    db.set_busy_handler(wait_for_lock)
    return db


def make_durable(db: Database, path: str, version: str | None = None) -> bool:
    """Configure a connection so that committed bytes are on the disk.

    Returns whether this SQLite version must not use the write-ahead log.

    Raises:
        StoreRefused: it must not, and another process uses the log on this file.
    """
    unsafe = has_reset_defect(version or apsw.sqlite_lib_version())
    if unsafe:
        _use_rollback_journal(db, path)
    else:
        _use_write_ahead_log(db)
    # Content is looked up by hash, in random order, which needs a larger page cache.
    db.pragma("cache_size", -16_000)
    # NORMAL can lose commits in a power cut; without the write-ahead log, FULL can as well.
    db.pragma("synchronous", "extra" if unsafe else "full")
    # An idle reader must not let the log grow without limit.
    db.pragma("journal_size_limit", MAX_LOG_BYTES)
    return unsafe


def _use_write_ahead_log(db: Database) -> None:
    for tries in range(MAX_LOCK_TRIES):
        try:
            db.pragma("journal_mode", "wal")
        except apsw.BusyError:
            # Switching the mode fails at once when busy, without calling the busy handler.
            wait_for_lock(tries)
        else:
            return
    db.pragma("journal_mode", "wal")


def _use_rollback_journal(db: Database, path: str) -> None:
    # Connections in rollback mode cause the same error; only the log is a reason to refuse.
    with suppress(apsw.BusyError):
        db.pragma("journal_mode", "delete")
    refuse_log_in_use(db, path)


def refuse_log_in_use(db: Database, path: str) -> None:
    """Refuse to write with a defective SQLite version while the write-ahead log is in use.

    Raises:
        StoreRefused: the log is in use.
    """
    if db.pragma("journal_mode") == "wal":
        reason = "this SQLite is older than 3.51.3 and another process has the file open"
        raise StoreRefused(path, reason)


# The private folder of a store: other users can neither read it nor place files in it.
#
# All steps use a descriptor of the folder, so a folder that is replaced by a link between two steps
# is never followed.


FOLDER_MODE, FILE_MODE = 0o700, 0o600
CREATE_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
GITIGNORE = b"*\n"
STORE_FOLDER = ".holdfast"
"""Name of the store's own folder; it gets a .gitignore even if another program created it."""


def prepare_place(path: str) -> str:
    """Create the folder and the empty file of a store, or check that both are private.

    Returns the path without symbolic links.

    Raises:
        StoreRefused: one of them is a link, not a plain file, of another user, or open to others.
    """
    parent, name = os.path.split(os.path.dirname(path) or ".")
    try:
        parent = os.path.realpath(parent or ".")
        folder = os.path.join(parent, name) if name != "." else parent
        is_new = _make_folder(parent, folder)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (OSError, ValueError) as error:
        raise _refusal(os.path.dirname(path) or ".", error) from None
    try:
        _check_folder(folder, os.fstat(descriptor))
        if is_new:
            _sync_folder(parent)
        if is_new or name == STORE_FOLDER:
            _write_gitignore(descriptor)
        _prepare_file(path, descriptor)
    except OSError as error:
        raise _refusal(path, error) from None
    finally:
        os.close(descriptor)
    return os.path.join(folder, os.path.basename(path))


def _refusal(path: str, error: Exception) -> HoldfastError:
    words = error.strerror if isinstance(error, OSError) else None
    reason = (words or str(error)).lower()
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return StoreFull(path, reason) if full else StoreRefused(path, reason)


def _sync_folder(folder: str) -> None:
    """Flush a folder to disk, so that a new entry in it survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make_folder(parent: str, folder: str) -> bool:
    """Create a folder; return whether it is new."""
    os.makedirs(parent, exist_ok=True)
    try:
        os.mkdir(folder, FOLDER_MODE)
    except FileExistsError:
        return False
    return True


def _check_folder(path: str, info: os.stat_result) -> None:
    if info.st_uid != os.geteuid():
        raise StoreRefused(path, "it belongs to another user")
    if info.st_mode & 0o022:
        raise StoreRefused(path, "others may write to it; `chmod go-w` it")


def _write_gitignore(folder: int) -> None:
    """Keep the store out of the project's repository."""
    try:
        file = os.open(".gitignore", CREATE_FLAGS, FILE_MODE, dir_fd=folder)
    except FileExistsError:
        return
    try:
        os.write(file, GITIGNORE)
    except OSError:
        os.unlink(".gitignore", dir_fd=folder)
        raise
    finally:
        os.close(file)


def _prepare_file(path: str, folder: int) -> None:
    name = os.path.basename(path)
    try:
        file = os.open(name, CREATE_FLAGS, FILE_MODE, dir_fd=folder)
    except FileExistsError:
        _check_file(path, os.stat(name, dir_fd=folder, follow_symlinks=False))
        return
    # The umask may have removed bits; the mode has to be exactly this one.
    os.fchmod(file, FILE_MODE)
    os.close(file)


def _check_file(path: str, info: os.stat_result) -> None:
    if not stat.S_ISREG(info.st_mode):
        raise StoreRefused(path, "it is not a plain file")
    if info.st_uid != os.geteuid():
        raise StoreRefused(path, "it belongs to another user")
    if info.st_nlink > 1:
        raise StoreRefused(path, "it has a second hard link")


def make_private(path: str) -> None:
    """Remove the permissions of other users, which a copy or move of the file may have added."""
    try:
        if os.stat(path, follow_symlinks=False).st_mode & 0o077:
            os.chmod(path, FILE_MODE)
    except OSError as error:
        raise _refusal(path, error) from None
