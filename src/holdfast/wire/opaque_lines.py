"""A format nobody here knows: its lines are kept, counted and given back."""

from holdfast.core.ledger.append import Draft
from holdfast.core.ledger.entry import Opaque
from holdfast.wire.pieces import LONGEST

NAME = "lines"


def read_line(raw: bytes) -> tuple[Draft, ...]:
    """One opaque draft for a line that holds anything; none for one that is only kept."""
    if len(raw) > LONGEST:
        return ()
    text = raw.decode("utf-8", "replace").strip("\0\ufeff")
    return (Draft(Opaque("", "line", text)),) if text else ()
