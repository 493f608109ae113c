"""Read lines of an unknown format: each is stored and counted as an opaque text."""

from holdfast.core.ledger.append import Draft
from holdfast.core.ledger.entry import Opaque
from holdfast.wire.pieces import MAX_LINE_BYTES

NAME = "lines"


def read_line(raw: bytes) -> tuple[Draft, ...]:
    """Return one opaque draft for a line with text; none for an empty or too long line."""
    if len(raw) > MAX_LINE_BYTES:
        return ()
    text = raw.decode("utf-8", "replace").strip("\0\ufeff")
    return (Draft(Opaque("", "line", text)),) if text else ()
