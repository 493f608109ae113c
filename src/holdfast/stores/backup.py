"""Copying a store while others write to it: one moment of it, whole, in a file of its own."""

import os
from typing import cast

import apsw

from holdfast.errors import StoreFull, StoreRefused
from holdfast.stores.connection import FILE_MODE, NEW, Database


def copy_to(source: Database, path: str) -> int:
    """Write a copy to a file that is not there yet; returns its bytes.

    Raises:
        StoreRefused: there is such a file, or its folder cannot be written to.
        StoreFull: the disk took no more; no half of a copy is left.
    """
    try:
        os.close(os.open(path, NEW, FILE_MODE))
    except OSError as error:
        raise StoreRefused(path, (error.strerror or str(error)).lower()) from None
    try:
        target = apsw.Connection(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
        try:
            # All pages in one step: nobody can write in between, and nobody waits for it.
            with target.backup("main", cast(apsw.Connection, source), "main") as backup:
                backup.step(-1)
            # A copy is one file: no log beside it that could be left behind.
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
