"""Giving a session back: the document it came as, or the messages it was told one by one."""

from collections.abc import Iterator

from holdfast.core.ledger.entry import is_ours
from holdfast.session import Session


def sources_of(session: Session) -> list[str]:
    """The documents of a session: its own first, then those of its sub-agents."""
    return sorted(session.head().documents) or [""]


def exported(session: Session, source: str = "") -> Iterator[bytes]:
    """The bytes of one document of a session, exactly as they came.

    A session that was told message by message never was a document: its newest path is given as a
    JSON array, each message in the bytes it came in, without what we put in ourselves.
    """
    document = session.head().documents.get(source)
    if document is not None and document.live:
        yield from _messages(session)
        return
    for sighting in session.store.sightings(session.name, source):
        yield sighting.lead
        yield sighting.raw


def _messages(session: Session) -> Iterator[bytes]:
    came = (entry for entry in session.path() if not is_ours(entry.body))
    firsts = dict.fromkeys(entry.seq - entry.part for entry in came)
    seen = session.store.arrivals(session.name, firsts)
    for at, first in enumerate(firsts):
        yield b"[" if at == 0 else b","
        yield seen[first].raw.strip()
    yield b"]" if firsts else b"[]"
