"""Copy a store file while other processes write to it.

The copy is a consistent snapshot of one moment.
"""

import os
from typing import cast

import apsw

from holdfast.errors import StoreFull, StoreRefused
from holdfast.stores.connection import CREATE_FLAGS, FILE_MODE, Database


def copy_to(source: Database, path: str) -> int:
    """Write a copy of a database to a new file and return its size in bytes.

    Raises:
        StoreRefused: the file exists already, or its folder cannot be written to.
        StoreFull: the disk is full; the partial copy is deleted.
    """
    try:
        os.close(os.open(path, CREATE_FLAGS, FILE_MODE))
    except OSError as error:
        raise StoreRefused(path, (error.strerror or str(error)).lower()) from None
    try:
        target = apsw.Connection(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
        try:
            # All pages in one step, so that no other write can come in between.
            with target.backup("main", cast(apsw.Connection, source), "main") as backup:
                backup.step(-1)
            # Without a write-ahead log the copy is a single file.
            cast(Database, target).pragma("journal_mode", "delete")
        finally:
            target.close()
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except (apsw.FullError, apsw.IOError) as error:
        os.unlink(path)
        raise StoreFull(path, str(error)) from None
    return os.stat(path).st_size
