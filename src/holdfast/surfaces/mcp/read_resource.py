"""List and read MCP resources: packets, summaries, and entries that left the window."""

from collections.abc import Callable, Iterator

from holdfast.core.index.passages import searchable_text, speaker
from holdfast.core.ledger.entry import Compressed
from holdfast.core.ledger.window import in_force
from holdfast.core.view.search.excerpts import fence_hit
from holdfast.engine.redact import redacted_title
from holdfast.packets.packet import as_packet
from holdfast.packets.records import find_packet
from holdfast.session.session import Session
from holdfast.stores.store import sessions_newest_first
from holdfast.surfaces.actions import ALL_LINES, MAX_LINE, parse_line_range, read_lines
from holdfast.surfaces.handoff import packet_sessions
from holdfast.surfaces.mcp.project_cache import RequestContext
from holdfast.surfaces.mcp.resources import ResourceAddress, make_uri, mime_type_of
from holdfast.surfaces.project import Project
from holdfast.text.clip import clip_line
from holdfast.text.jsontext import Json

MAX_SUMMARIES = 10
"""Most sessions whose summaries are listed."""
MAX_OFFLOADED = 50
"""Most entries out of the window that are listed, the newest first."""


def list_resources(context: RequestContext) -> list[Json]:
    """Return the answer to `resources/list`."""
    with context.project() as cached:
        project = cached.project
        if not project.has_ledger or not project.store.sessions():
            return []
        return [*_packets(project), *_summaries(project), *_offloaded(context.session_in(cached))]


def _packets(project: Project) -> Iterator[Json]:
    for audience, session in packet_sessions(project).items():
        yield {
            "uri": make_uri("packet", audience.removeprefix("pane-")),
            "name": f"packet for {audience}",
            "title": f"Context packet for {audience}, from session {session}",
            "mimeType": mime_type_of("packet"),
        }


def _summaries(project: Project) -> Iterator[Json]:
    redact = project.settings.policy.redact
    for listed in sessions_newest_first(project.store)[:MAX_SUMMARIES]:
        title = redacted_title(listed.head.title, redact)
        yield {
            "uri": make_uri("summary", listed.name),
            "name": f"summary of {listed.name}",
            "title": title or f"Session {listed.name}",
            "mimeType": mime_type_of("summary"),
        }


def _offloaded(session: Session) -> Iterator[Json]:
    marks = (entry.body for entry in in_force(session.ledger.whole_window()))
    bodies = [body for body in marks if isinstance(body, Compressed)]
    hidden = [name for body in bodies for step in body.steps for name in step.hides]
    newest = hidden[::-1][:MAX_OFFLOADED]
    numbers = session.store.names(session.name, newest)
    entries = session.ledger.redactor.entries(
        session.store.read(session.name, numbers=sorted(numbers.values()))
    )
    for entry in sorted(entries, key=lambda entry: -entry.seq):
        yield {
            "uri": make_uri("entry", entry.id[:12]),
            "name": f"entry {entry.id[:12]}",
            "title": clip_line(f"{speaker(entry.body)}: {searchable_text(entry.body)}", 80),
            "mimeType": mime_type_of("entry"),
        }


def read_resource(context: RequestContext, address: ResourceAddress) -> str:
    """Return the text of a resource.

    Raises:
        HoldfastError: there is no such resource; the message says why.
    """
    return READERS[address.kind](context, address)


def _entry(context: RequestContext, address: ResourceAddress) -> str:
    with context.session() as session:
        span = parse_line_range(address.part) if address.part else ALL_LINES
        return fence_hit(read_lines(session, address.name, span, MAX_LINE))


def _summary(context: RequestContext, address: ResourceAddress) -> str:
    with context.session(address.name) as session:
        return str(session.summary())


def _packet(context: RequestContext, address: ResourceAddress) -> str:
    with context.project() as cached:
        name, audience = context.find_worker(cached.project, address.name)
        record = find_packet(cached.session(name, "").ledger, audience)
        return as_packet(record.packet).to_yaml()


READERS: dict[str, Callable[[RequestContext, ResourceAddress], str]] = {
    "entry": _entry,
    "summary": _summary,
    "packet": _packet,
}
