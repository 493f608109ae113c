"""What a session knows from the one that it goes on from."""

from collections.abc import Iterable

from holdfast.core.ledger.entry import Entry, Resumed
from holdfast.core.ledger.summary import Summary


def resumed_from(ledger: Iterable[Entry]) -> Resumed | None:
    """The session that this one goes on from, and what was known there."""
    return next((entry.body for entry in ledger if isinstance(entry.body, Resumed)), None)


def inherited(ledger: Iterable[Entry]) -> Summary:
    """What was known before this session began; nothing when it began by itself."""
    link = resumed_from(ledger)
    return link.summary if link is not None else Summary()
