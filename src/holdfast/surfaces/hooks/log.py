"""Log of the hooks: one line for each failure, in a file of limited size.

`logging` is not used, because importing it takes longer than most hooks run.
"""

import os
import stat
from contextlib import suppress

from holdfast.project.clock import timestamp
from holdfast.project.paths import HOLDFAST_FOLDER

LOG_NAME = "hooks.log"
MAX_LOG_BYTES = 256 * 1024
"""Above this size a new file is started; the previous one is kept."""
MAX_LINE_CHARS = 2_000
APPEND_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND
SAFE_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Do not follow links, and do not wait for pipes."""


def log(root: str, line: str) -> None:
    """Append a line; do nothing if the log cannot be written."""
    folder = os.path.join(root, HOLDFAST_FOLDER)
    path = os.path.join(folder, LOG_NAME)
    with suppress(OSError, ValueError):
        if os.path.islink(folder) or not os.path.isdir(folder):
            return
        if os.path.isfile(path) and os.path.getsize(path) > MAX_LOG_BYTES:
            os.replace(path, f"{path}.1")
        descriptor = os.open(path, APPEND_FLAGS | SAFE_FLAGS, 0o600)
        try:
            # A pipe with a reader can be opened, but writing to it may block.
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.write(descriptor, _encode_line(line))
        finally:
            os.close(descriptor)


def _encode_line(line: str) -> bytes:
    stamp = timestamp()
    text = " ".join(line.split())[:MAX_LINE_CHARS]
    return f"{stamp} {os.getpid()} {text}\n".encode("utf-8", "replace")
