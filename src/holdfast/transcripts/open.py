"""Opening a file that may be compressed or stand in a database, and saying why it cannot be."""

import gzip
import zlib
from pathlib import Path
from typing import BinaryIO, cast

from holdfast.errors import Unreadable
from holdfast.project.regular_files import open_regular
from holdfast.transcripts import opencode_db

GZIP = b"\x1f\x8b"


def opened(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked when it is a gzip file.

    Raises:
        Unreadable: it is not there, must not be read, or is no regular file.
    """
    if opencode_db.is_inside(path):
        return opencode_db.lines_of(path)
    try:
        file = open_regular(path, links=True)
    except (OSError, ValueError) as error:
        raise Unreadable(str(path), reason_of(error)) from None
    magic = file.read(len(GZIP))
    file.seek(0)
    return cast(BinaryIO, _Unpacked(file)) if magic == GZIP else file


def reason_of(error: Exception) -> str:
    """Why the system refused, in lower case as the rest of our sentences."""
    words = error.strerror if isinstance(error, OSError) else None
    return (words or str(error)).lower()


def is_broken(stream: BinaryIO) -> bool:
    """Whether a compressed file broke off before its end."""
    return isinstance(stream, _Unpacked) and stream.broken


class _Unpacked(gzip.GzipFile):
    """A compressed file that gives what it holds up to where it breaks off."""

    def __init__(self, packed: BinaryIO) -> None:
        super().__init__(fileobj=packed, mode="rb")
        self._packed = packed
        self.broken = False

    def close(self) -> None:
        """Close the file underneath too: GzipFile leaves one that it was given open."""
        super().close()
        self._packed.close()

    def readline(self, size: int | None = -1) -> bytes:
        """A line, or nothing more where the rest cannot be unpacked."""
        try:
            return super().readline(-1 if size is None else size)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            self.broken = True
            return b""
