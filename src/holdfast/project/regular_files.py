"""Read files that others control safely: regular files only, with a limit on the size.

Reading a named pipe may block forever, a device may never end, and a link may point anywhere. All
of them are refused with an `OSError` whose message says why, so that callers have one kind of error
to handle. Only small modules of the standard library are imported, because every hook uses this.
"""

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    Path = str | bytes | os.PathLike[str]

OPEN_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
MAX_SETTINGS_BYTES = 1024 * 1024
"""Largest settings file."""
REFUSED_TYPES = (
    (stat.S_ISFIFO, "it is a named pipe"),
    (stat.S_ISCHR, "it is a device"),
    (stat.S_ISBLK, "it is a device"),
    (stat.S_ISSOCK, "it is a socket"),
    (stat.S_ISDIR, "it is a folder"),
)


def open_regular(path: "Path", *, links: bool, folder: int | None = None) -> "BinaryIO":
    """Open a regular file for reading; `links` says whether symbolic links are followed.

    With the descriptor of a `folder`, the path is relative to it.

    Raises:
        OSError: it does not exist, may not be read, or is not a regular file.
    """
    flags = OPEN_FLAGS if links else OPEN_FLAGS | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags, dir_fd=folder)
    except OSError as error:
        raise _explain(error, path, links=links) from None
    try:
        _check_regular(os.fstat(descriptor), path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: "Path", max_bytes: int, *, links: bool, folder: int | None = None) -> bytes:
    """Read a regular file of at most `max_bytes`.

    Raises:
        OSError: it does not exist, may not be read, is not a regular file, or is too large.
    """
    with open_regular(path, links=links, folder=folder) as file:
        if os.fstat(file.fileno()).st_size <= max_bytes:
            # The file may grow while it is read.
            data = file.read(max_bytes + 1)
            if len(data) <= max_bytes:
                return data
    raise OSError(errno.EFBIG, f"it has more than {_size(max_bytes)}", path)


def read_end(path: "Path", max_bytes: int, *, links: bool) -> bytes:
    """Read the last `max_bytes` of a regular file.

    Raises:
        OSError: it does not exist, may not be read, or is not a regular file.
    """
    with open_regular(path, links=links) as file:
        file.seek(max(os.fstat(file.fileno()).st_size - max_bytes, 0))
        return file.read(max_bytes)


def _check_regular(status: os.stat_result, path: "Path") -> None:
    if not stat.S_ISREG(status.st_mode):
        reason = next(
            (words for test, words in REFUSED_TYPES if test(status.st_mode)), "it is no file"
        )
        raise OSError(errno.EINVAL, reason, path)


def _explain(error: OSError, path: "Path", *, links: bool) -> OSError:
    """Return an error whose message says what kind of file it is."""
    if error.errno == errno.ELOOP and not links:
        return OSError(errno.ELOOP, "it is a symbolic link", path)
    if error.errno == errno.ENXIO:  # the error for opening a socket
        return OSError(errno.EINVAL, "it is a socket", path)
    return error


def _size(count: int) -> str:
    return f"{count // (1024 * 1024)} MB" if count >= 1024 * 1024 else f"{count // 1024} kB"
