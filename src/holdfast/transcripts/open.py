"""Open a session file that may be compressed or inside a database."""

import gzip
import zlib
from pathlib import Path
from typing import BinaryIO, cast

from holdfast.errors import Unreadable
from holdfast.project.regular_files import open_regular
from holdfast.transcripts import opencode_db

GZIP = b"\x1f\x8b"


def open_session_file(path: Path) -> BinaryIO:
    """Open a session file for reading; a gzip file is decompressed.

    Raises:
        Unreadable: the file is missing, must not be read, or is not a regular file.
    """
    if opencode_db.is_inside(path):
        return opencode_db.read_session(path)
    try:
        file = open_regular(path, links=True)
    except (OSError, ValueError) as error:
        raise Unreadable(str(path), error_reason(error)) from None
    magic = file.read(len(GZIP))
    file.seek(0)
    return cast(BinaryIO, _GzipReader(file)) if magic == GZIP else file


def error_reason(error: Exception) -> str:
    """Return the reason of an error, in lower case like other messages."""
    words = error.strerror if isinstance(error, OSError) else None
    return (words or str(error)).lower()


def breaks_off(stream: BinaryIO) -> bool:
    """Return whether a compressed file was found to break off before its end."""
    return isinstance(stream, _GzipReader) and stream.broken


class _GzipReader(gzip.GzipFile):
    """A gzip file that ends without an error where its data breaks off."""

    def __init__(self, packed: BinaryIO) -> None:
        super().__init__(fileobj=packed, mode="rb")
        self._file = packed
        self.broken = False

    def close(self) -> None:
        """Close the compressed file as well, which GzipFile leaves open."""
        super().close()
        self._file.close()

    def readline(self, size: int | None = -1) -> bytes:
        """Return the next line, or nothing if the rest cannot be decompressed."""
        try:
            return super().readline(-1 if size is None else size)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            self.broken = True
            return b""
