"""The log of the hooks: a line a failure, in a file that does not grow for ever.

The standard library's logging is not used: loading it takes longer than most hooks do.
"""

import os
import stat
from contextlib import suppress
from time import gmtime, strftime

from holdfast.project.paths import FOLDER

NAME = "hooks.log"
LARGEST = 256 * 1024
"""Bytes after which a fresh file is begun; the one before it is kept."""
LONGEST = 2_000
ADDING = os.O_WRONLY | os.O_CREAT | os.O_APPEND
CAREFUL = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""No link is followed, and no pipe is waited for."""


def log(root: str, line: str) -> None:
    """Add a line; a log that cannot be written is done without."""
    folder = os.path.join(root, FOLDER)
    path = os.path.join(folder, NAME)
    with suppress(OSError, ValueError):
        if os.path.islink(folder) or not os.path.isdir(folder):
            return
        if os.path.isfile(path) and os.path.getsize(path) > LARGEST:
            os.replace(path, f"{path}.1")
        opened = os.open(path, ADDING | CAREFUL, 0o600)
        try:
            # A pipe that somebody reads can be opened, and may take nothing.
            if stat.S_ISREG(os.fstat(opened).st_mode):
                os.write(opened, _written(line))
        finally:
            os.close(opened)


def _written(line: str) -> bytes:
    stamp = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
    one = " ".join(line.split())[:LONGEST]
    return f"{stamp} {os.getpid()} {one}\n".encode("utf-8", "replace")
