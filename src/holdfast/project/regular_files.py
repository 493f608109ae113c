"""Reading files that a repository or another program controls: regular files only, and bounded.

A named pipe would be waited for without end, a device may never stop, and a link may lead anywhere.
All of them are refused with an `OSError` whose words say why, so that whoever reads a file has one
kind of error to handle. Only the standard library's smallest modules are used: a hook that has
nothing to do reads with this too.
"""

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    Path = str | bytes | os.PathLike[str]

FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
SETTINGS = 1024 * 1024
"""Bytes that a file of settings may have."""
KINDS = (
    (stat.S_ISFIFO, "it is a named pipe"),
    (stat.S_ISCHR, "it is a device"),
    (stat.S_ISBLK, "it is a device"),
    (stat.S_ISSOCK, "it is a socket"),
    (stat.S_ISDIR, "it is a folder"),
)


def open_regular(path: "Path", *, links: bool, folder: int | None = None) -> "BinaryIO":
    """Open a regular file to read it; `links` says whether a link is followed to it.

    With a descriptor of a `folder`, the path is relative to that.

    Raises:
        OSError: it is not there, must not be read, or is no regular file.
    """
    flags = FLAGS if links else FLAGS | os.O_NOFOLLOW
    try:
        found = os.open(path, flags, dir_fd=folder)
    except OSError as error:
        raise _explained(error, path, links=links) from None
    try:
        _check(os.fstat(found), path)
        return os.fdopen(found, "rb")
    except BaseException:
        os.close(found)
        raise


def read_regular(path: "Path", most: int, *, links: bool, folder: int | None = None) -> bytes:
    """All of a regular file that has at most so many bytes.

    Raises:
        OSError: it is not there, must not be read, is no regular file, or is too large.
    """
    with open_regular(path, links=links, folder=folder) as file:
        if os.fstat(file.fileno()).st_size <= most:
            # It may grow while it is read.
            data = file.read(most + 1)
            if len(data) <= most:
                return data
    raise OSError(errno.EFBIG, f"it has more than {_size(most)}", path)


def end_of(path: "Path", most: int, *, links: bool) -> bytes:
    """The last bytes of a regular file, at most so many.

    Raises:
        OSError: it is not there, must not be read, or is no regular file.
    """
    with open_regular(path, links=links) as file:
        file.seek(max(os.fstat(file.fileno()).st_size - most, 0))
        return file.read(most)


def _check(found: os.stat_result, path: "Path") -> None:
    if not stat.S_ISREG(found.st_mode):
        reason = next((words for test, words in KINDS if test(found.st_mode)), "it is no file")
        raise OSError(errno.EINVAL, reason, path)


def _explained(error: OSError, path: "Path", *, links: bool) -> OSError:
    """The system's error, in words that say what the file is."""
    if error.errno == errno.ELOOP and not links:
        return OSError(errno.ELOOP, "it is a symbolic link", path)
    if error.errno == errno.ENXIO:  # how a socket answers who opens it
        return OSError(errno.EINVAL, "it is a socket", path)
    return error


def _size(most: int) -> str:
    return f"{most // (1024 * 1024)} MB" if most >= 1024 * 1024 else f"{most // 1024} kB"
