"""What is found at an address, and which addresses there are."""

from collections.abc import Callable, Iterator

from holdfast.core.index.passages import readable, speaker
from holdfast.core.ledger.entry import Compressed
from holdfast.core.ledger.window import in_force
from holdfast.core.view.conversation import opening
from holdfast.core.view.search.excerpts import fenced
from holdfast.engine.redact import redacted_title
from holdfast.packets.packet import as_packet
from holdfast.packets.records import found
from holdfast.session.session import Session
from holdfast.stores.store import newest_first
from holdfast.surfaces.actions import LAST, WHOLE, lines_of, span_of
from holdfast.surfaces.handoff import packets_in
from holdfast.surfaces.mcp.project_cache import Desk
from holdfast.surfaces.mcp.resources import Address, mime_of, uri_of
from holdfast.surfaces.project import Project
from holdfast.text.jsontext import Json

SUMMARIES = 10
"""Sessions whose summaries are listed."""
OFFLOADED = 50
"""Entries out of sight that are listed, the newest first."""


def listed(desk: Desk) -> list[Json]:
    """What can be read: packets, summaries, and what left the window of the session."""
    with desk.kept() as kept:
        project = kept.project
        if not project.has_ledger or not project.store.sessions():
            return []
        return [*_packets(project), *_summaries(project), *_offloaded(desk.meant(kept))]


def _packets(project: Project) -> Iterator[Json]:
    for audience, session in packets_in(project).items():
        yield {
            "uri": uri_of("packet", audience.removeprefix("pane-")),
            "name": f"packet for {audience}",
            "title": f"Context packet for {audience}, from session {session}",
            "mimeType": mime_of("packet"),
        }


def _summaries(project: Project) -> Iterator[Json]:
    redact = project.settings.policy.redact
    for listed in newest_first(project.store)[:SUMMARIES]:
        title = redacted_title(listed.head.title, redact)
        yield {
            "uri": uri_of("summary", listed.name),
            "name": f"summary of {listed.name}",
            "title": title or f"Session {listed.name}",
            "mimeType": mime_of("summary"),
        }


def _offloaded(session: Session) -> Iterator[Json]:
    made = (entry.body for entry in in_force(session.ledger.sight.window(whole=True)))
    bodies = [body for body in made if isinstance(body, Compressed)]
    hidden = [name for body in bodies for step in body.steps for name in step.hides]
    newest = hidden[::-1][:OFFLOADED]
    numbers = session.store.names(session.name, newest)
    entries = session.ledger.redactor.entries(
        session.store.read(session.name, numbers=sorted(numbers.values()))
    )
    for entry in sorted(entries, key=lambda one: -one.seq):
        yield {
            "uri": uri_of("entry", entry.id[:12]),
            "name": f"entry {entry.id[:12]}",
            "title": opening(f"{speaker(entry.body)}: {readable(entry.body)}", 80),
            "mimeType": mime_of("entry"),
        }


def read(desk: Desk, address: Address) -> str:
    """What is found at an address.

    Raises:
        HoldfastError: there is nothing; the sentence says why.
    """
    return READS[address.kind](desk, address)


def _entry(desk: Desk, address: Address) -> str:
    with desk.session() as session:
        span = span_of(address.part) if address.part else WHOLE
        return fenced(lines_of(session, address.name, span, LAST))


def _summary(desk: Desk, address: Address) -> str:
    with desk.session(address.name) as session:
        return str(session.summary())


def _packet(desk: Desk, address: Address) -> str:
    with desk.kept() as kept:
        name, audience = desk.worker(kept.project, address.name)
        one = found(kept.session(name, "").ledger, audience)
        return as_packet(one.packet).to_yaml()


READS: dict[str, Callable[[Desk, Address], str]] = {
    "entry": _entry,
    "summary": _summary,
    "packet": _packet,
}
