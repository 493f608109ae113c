"""Read the link to the previous session, and the summary that was inherited from it."""

from collections.abc import Iterable

from holdfast.core.ledger.entry import Entry, Resumed
from holdfast.core.ledger.summary import Summary


def find_resumed(ledger: Iterable[Entry]) -> Resumed | None:
    """Return the first link to a previous session; None if there is none."""
    return next((entry.body for entry in ledger if isinstance(entry.body, Resumed)), None)


def inherited_summary(ledger: Iterable[Entry]) -> Summary:
    """Return the summary of the previous session; an empty one if there is none."""
    link = find_resumed(ledger)
    return link.summary if link is not None else Summary()
