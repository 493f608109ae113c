"""Standard input, read to its end and not without bound."""

import sys

from holdfast.errors import Unreadable


def heard(most: int) -> bytes:
    """All of standard input.

    Raises:
        Unreadable: it is closed, or has more than so many bytes.
    """
    if sys.stdin is None:
        raise Unreadable("stdin", "it is closed")
    data = sys.stdin.buffer.read(most + 1)
    if len(data) > most:
        size = f"{most // 1024**2} MB" if most >= 1024**2 else f"{most // 1024} kB"
        raise Unreadable("stdin", f"it has more than {size}")
    return data
