"""Giving a session back: the document it came as, or the messages it was told one by one."""

from collections.abc import Iterator

from holdfast.core.ledger.entry import is_ours
from holdfast.engine.ledger import Ledger


def sources_of(ledger: Ledger) -> list[str]:
    """The documents of a session: its own first, then those of its sub-agents."""
    return sorted(ledger.head().documents) or [""]


def exported(ledger: Ledger, source: str = "") -> Iterator[bytes]:
    """The bytes of one document of a session, exactly as they came.

    A session that was told message by message never was a document: its newest path is given as a
    JSON array, each message in the bytes it came in, without what we put in ourselves.
    """
    document = ledger.head().documents.get(source)
    if document is not None and document.live:
        yield from _messages(ledger)
        return
    for sighting in ledger.store.sightings(ledger.name, source):
        yield sighting.lead
        yield sighting.raw


def _messages(ledger: Ledger) -> Iterator[bytes]:
    came = (entry for entry in ledger.path() if not is_ours(entry.body))
    firsts = dict.fromkeys(entry.seq - entry.part for entry in came)
    seen = ledger.store.arrivals(ledger.name, firsts)
    for at, first in enumerate(firsts):
        yield b"[" if at == 0 else b","
        yield seen[first].raw.strip()
    yield b"]" if firsts else b"[]"
