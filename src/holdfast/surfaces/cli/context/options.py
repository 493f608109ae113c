"""Which worker and which session a command of packets is about, and how a packet is shown."""

import os
from collections.abc import Callable
from typing import TypeVar

import click
from msgspec import to_builtins

from holdfast.core.ledger.packet import Packet as Stored
from holdfast.core.view.packet.document import nested
from holdfast.packets.packet import as_packet
from holdfast.packets.records import Listed
from holdfast.packets.revise import staleness
from holdfast.session.session import Session
from holdfast.surfaces.handoff import packets_in, worker_of
from holdfast.surfaces.project import Project

F = TypeVar("F", bound=Callable[..., object])


def pane_option(command: F) -> F:
    """`--pane`, spelled the same everywhere."""
    return click.option(
        "--pane", metavar="PANE", help="The worker: a pane's number, a name, or `shared`."
    )(command)


def format_option(command: F) -> F:
    """`--format`: the file or the words."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["yaml", "prompt"]),
        help="The packet as its file has it, or as Markdown.",
    )(command)


def layers_of(text: str | None) -> tuple[int, ...]:
    """The layers that `1,3` names; none when nothing was said."""
    if text is None:
        return ()
    parts = [part.strip() for part in text.split(",")]
    if not all(part in ("1", "2", "3", "4") for part in parts):
        raise click.UsageError(f"--layers takes numbers from 1 to 4, as in 1,3, and not {text!r}")
    return tuple(sorted({int(part) for part in parts}))


def session_for(project: Project, name: str | None, agent: str, audience: str) -> Session:
    """The session that is named, or that the worker's packet was drawn from, or the newest."""
    if name is None and audience:
        name = packets_in(project).get(audience)
    return project.session(name, agent)


def worker(project: Project, pane: str | None, name: str | None, agent: str) -> tuple[Session, str]:
    """The worker that is named, or that the environment names, or the only one there is.

    Raises:
        Ambiguous: nobody is named and several have packets.
        NotRecorded: nobody is named and nobody has one.
    """
    found, audience = worker_of(project, pane, environment=os.environ, session=name or "")
    return project.session(found, agent), audience


def shown(packet: Stored, form: str) -> str:
    """A packet as it is printed."""
    one = as_packet(packet)
    return one.to_prompt() if form == "prompt" else one.to_yaml().rstrip("\n")


def document(session: Session, one: Listed) -> dict[str, object]:
    """What a program is told of a packet."""
    packet = as_packet(one.packet)
    return {
        "session": session.name,
        "ref": one.ref,
        "audience": packet.audience,
        "revision": packet.revision,
        "tokens": packet.token_count,
        "over_budget": packet.over_budget,
        "stale": staleness(session.ledger, packet),
        "file": one.file,
        "reads": one.reads,
        "packet": to_builtins(nested(packet)),
        "prompt": packet.to_prompt(),
    }


def about(session: Session, one: Listed) -> str:
    """What a person is told of a packet besides its words."""
    packet = one.packet
    marks = [f"{packet.token_count} tokens", packet.depth or "by hand"]
    marks += ["over budget: layer 1 alone is more"] if packet.over_budget else []
    stale = staleness(session.ledger, packet)
    marks += [f"stale: {stale}"] if stale else []
    marks += ["cleared"] if one.cleared else []
    where = f" → {one.file}" if one.file and not one.cleared else ""
    return f"{packet.audience or 'packet'} v{packet.revision} ({', '.join(marks)}){where}"
