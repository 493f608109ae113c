"""The log of the hooks: a line a failure, in a file that does not grow for ever.

The standard library's logging is not used: loading it takes longer than most hooks do.
"""

import os
from contextlib import suppress
from time import gmtime, strftime

from holdfast.places import FOLDER

NAME = "hooks.log"
LARGEST = 256 * 1024
"""Bytes after which a fresh file is begun; the one before it is kept."""
LONGEST = 2_000


def log(root: str, line: str) -> None:
    """Add a line; a log that cannot be written is done without."""
    folder = os.path.join(root, FOLDER)
    path = os.path.join(folder, NAME)
    with suppress(OSError, ValueError):
        if not os.path.isdir(folder):
            return
        if os.path.exists(path) and os.path.getsize(path) > LARGEST:
            os.replace(path, f"{path}.1")
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        opened = os.open(path, flags, 0o600)
        try:
            os.write(opened, _written(line))
        finally:
            os.close(opened)


def _written(line: str) -> bytes:
    stamp = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
    one = " ".join(line.split())[:LONGEST]
    return f"{stamp} {os.getpid()} {one}\n".encode("utf-8", "replace")
