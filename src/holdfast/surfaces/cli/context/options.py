"""Options of packet commands (`--pane`, `--layers` …); choose the session; print a packet."""

import os
from collections.abc import Callable
from typing import TypeVar

import click
from msgspec import to_builtins

from holdfast.core.ledger.packet import Packet as Stored
from holdfast.core.view.packet.document import packet_document
from holdfast.packets.packet import as_packet
from holdfast.packets.records import PacketRecord, newest_of_each_worker, packet_records
from holdfast.packets.revise import stale_reason
from holdfast.session.session import Session
from holdfast.surfaces.cli.options import Selection
from holdfast.surfaces.handoff import packet_sessions, worker_of

F = TypeVar("F", bound=Callable[..., object])


def pane_option(command: F) -> F:
    """Add `--pane`."""
    return click.option(
        "--pane", metavar="PANE", help="Worker: number of a pane, a name, or `shared`."
    )(command)


def format_option(command: F) -> F:
    """Add `--format`, YAML or Markdown."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["yaml", "prompt"]),
        help="Print the packet as YAML, as in its file, or as a Markdown prompt.",
    )(command)


def parse_layers(text: str | None) -> tuple[int, ...]:
    """Parse `--layers`, such as `1,3`; no layers if it is not given."""
    if text is None:
        return ()
    parts = [part.strip() for part in text.split(",")]
    if not all(part in ("1", "2", "3", "4") for part in parts):
        raise click.UsageError(f"--layers takes numbers from 1 to 4, as in 1,3, and not {text!r}")
    return tuple(sorted({int(part) for part in parts}))


def session_for(selection: Selection, audience: str) -> Session:
    """Return the named session, else the session of the worker's packet, else the newest."""
    name = selection.name
    if name is None and audience:
        name = packet_sessions(selection.project).get(audience)
    return selection.project.session(name, selection.agent)


def find_worker(selection: Selection, pane: str | None) -> tuple[Session, str]:
    """Return the session and the name of a worker: given, from the environment, or the only one.

    Raises:
        Ambiguous: no worker is named and several have packets.
        NotRecorded: the worker has no packet, or there are no packets.
    """
    project, session = selection.project, selection.name or ""
    found, audience = worker_of(project, pane, environment=os.environ, session=session)
    return project.session(found, selection.agent), audience


def find_workers(
    selection: Selection, pane: str | None, *, every: bool
) -> tuple[Session, list[str]]:
    """Return the session, and the worker or `every` one whose packet is not cleared."""
    if not every:
        session, audience = find_worker(selection, pane)
        return session, [audience]
    session = selection.session()
    newest = newest_of_each_worker(packet_records(session.ledger))
    return session, [record.packet.audience for record in newest if not record.cleared]


def render_packet(packet: Stored, form: str) -> str:
    """Format a packet as Markdown or YAML."""
    readable = as_packet(packet)
    return readable.to_prompt() if form == "prompt" else readable.to_yaml().rstrip("\n")


def packet_with_state(session: Session, record: PacketRecord) -> dict[str, object]:
    """Return a packet and its state for `--json`."""
    packet = as_packet(record.packet)
    return {
        "session": session.name,
        "ref": record.ref,
        "audience": packet.audience,
        "revision": packet.revision,
        "tokens": packet.token_count,
        "over_budget": packet.over_budget,
        "stale": stale_reason(session.ledger, packet),
        "file": record.file,
        "reads": record.reads,
        "packet": to_builtins(packet_document(packet)),
        "prompt": packet.to_prompt(),
    }


def packet_line(session: Session, record: PacketRecord) -> str:
    """Describe a packet in one line: audience, revision, size, state, file."""
    packet = record.packet
    marks = [f"{packet.token_count} tokens", packet.depth or "by hand"]
    marks += ["over budget: layer 1 alone is more"] if packet.over_budget else []
    stale = stale_reason(session.ledger, packet)
    marks += [f"stale: {stale}"] if stale else []
    marks += ["cleared"] if record.cleared else []
    where = f" → {record.file}" if record.file and not record.cleared else ""
    return f"{packet.audience or 'packet'} v{packet.revision} ({', '.join(marks)}){where}"
