"""Read standard input up to a maximum size."""

import sys

from holdfast.errors import Unreadable


def read_stdin(max_bytes: int) -> bytes:
    """Return all bytes of standard input.

    Raises:
        Unreadable: it is closed, or has more than `max_bytes`.
    """
    if sys.stdin is None:
        raise Unreadable("stdin", "it is closed")
    data = sys.stdin.buffer.read(max_bytes + 1)
    if len(data) > max_bytes:
        size = f"{max_bytes // 1024**2} MB" if max_bytes >= 1024**2 else f"{max_bytes // 1024} kB"
        raise Unreadable("stdin", f"it has more than {size}")
    return data
