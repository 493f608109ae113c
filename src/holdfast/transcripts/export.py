"""Export a session: the bytes of its documents, or its messages as a JSON array."""

from collections.abc import Iterator

from holdfast.core.ledger.entry import is_ours
from holdfast.engine.ledger import Ledger


def document_names(ledger: Ledger) -> list[str]:
    """Return the names of a session's documents: its own first, then those of its sub-agents."""
    return sorted(ledger.head().documents) or [""]


def export_document(ledger: Ledger, source: str = "") -> Iterator[bytes]:
    """Yield the bytes of one document of a session, exactly as they were read.

    A session that was appended message by message has no document: the messages of its newest path
    are exported as a JSON array, each in its received bytes, without messages that Holdfast added.
    """
    document = ledger.head().documents.get(source)
    if document is not None and document.live:
        yield from _message_array(ledger)
        return
    for sighting in ledger.store.sightings(ledger.name, source):
        yield sighting.lead
        yield sighting.raw


def _message_array(ledger: Ledger) -> Iterator[bytes]:
    received = (entry for entry in ledger.path() if not is_ours(entry.body))
    firsts = dict.fromkeys(entry.seq - entry.part for entry in received)
    sightings = ledger.store.arrivals(ledger.name, firsts)
    for index, first in enumerate(firsts):
        yield b"[" if index == 0 else b","
        yield sightings[first].raw.strip()
    yield b"]" if firsts else b"[]"
