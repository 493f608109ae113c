"""The tools of a handoff: a packet is made, read and reported on, and questions are answered."""

import os
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.packet import Feedback as Told
from holdfast.core.view.packet_stats.feedback import from_mapping
from holdfast.core.view.questions.answer import render_answer
from holdfast.errors import BadFeedback, NotRecorded, Unreadable
from holdfast.packets.feedback import ask_for_more, report, write_feedback
from holdfast.packets.packet import as_packet
from holdfast.packets.questions import context_query
from holdfast.packets.read import take
from holdfast.packets.records import Listed, audience_of
from holdfast.packets.revise import staleness
from holdfast.session.session import Session
from holdfast.surfaces.handoff import layers_of, packet_for
from holdfast.surfaces.mcp.project_cache import Desk, Kept
from holdfast.surfaces.roles import read_first, spelling_of

BLOCKED = "blocked"


class Generate(Struct, frozen=True, forbid_unknown_fields=True):
    """What `context_generate` takes."""

    task: str
    depth: str = "standard"
    pane: int | None = None


class Read(Struct, frozen=True, forbid_unknown_fields=True):
    """What `context_read` takes."""

    pane: int | None = None
    layers: str | int | list[int] | None = None


class Feedback(Struct, frozen=True, forbid_unknown_fields=True):
    """What `context_feedback` takes."""

    gaps: list[str] | str | None = None
    unused: list[str] | str | None = None
    outcome: str | None = None
    pane: int | None = None


class Query(Struct, frozen=True, forbid_unknown_fields=True):
    """What `context_query` takes."""

    question: str


def generate(desk: Desk, asked: Generate) -> str:
    """`context_generate`: the packet as YAML, after what its maker has to know."""
    desk.tell("making the packet")
    with desk.kept() as kept:
        session = desk.meant(kept)
        audience = audience_of(asked.pane)
        one = packet_for(session, kept.settled(session), asked.task, asked.depth, audience=audience)
        return "\n".join([*_handed(session, one), as_packet(one.packet).to_yaml().rstrip("\n")])


def _handed(session: Session, one: Listed) -> Iterator[str]:
    """What an orchestrator has to know of a packet, as comments that a YAML reader skips."""
    packet = one.packet
    yield f"# {packet.token_count} tokens as a worker reads it, depth {packet.depth}"
    if packet.over_budget:
        yield "# over budget: the goal and the constraints alone are more, and they are not cut"
    if one.file:
        spelling = spelling_of(session.policy.layout)
        yield f"# kept as {one.file}, revision {packet.revision}"
        pane = packet.audience.removeprefix("pane-")
        yield f"# begin the worker's task with: {read_first(spelling, pane)}"


def read(desk: Desk, asked: Read) -> str:
    """`context_read`: the packet in words."""
    with desk.kept() as kept:
        return taken_packet(desk, kept, asked.pane, layers_of(asked.layers), "mcp")


def taken_packet(
    desk: Desk, kept: Kept, pane: int | str | None, layers: tuple[int, ...], way: str
) -> str:
    """A worker's packet in words; that it was read is put on record."""
    name, audience = desk.worker(kept.project, pane)
    session = kept.session(name, "")
    packet = take(session.ledger, audience, layers=layers, way=way)
    lines = [packet.to_prompt() or "This layer of your packet is empty."]
    further = [layer for layer in packet.layers if layers and layer > max(layers)]
    if further:
        lines.append(f"\nMore when you need it: context_read(layers={further[0]})")
    stale = staleness(session.ledger, packet)
    if stale.startswith("it was good until"):
        lines.append(f"\nThis packet is old: {stale}. Ask for a new one if it does not fit.")
    return "\n".join(lines)


def query(desk: Desk, asked: Query) -> str:
    """`context_query`: what was decided, or that it is not known."""
    if not asked.question.strip():
        raise Unreadable("context_query", "the question is empty")
    desk.tell("looking through the sessions")
    with desk.kept() as kept:
        session = desk.meant(kept)
        return render_answer(context_query(kept.settled(session), asked.question))


def feedback(desk: Desk, asked: Feedback) -> str:
    """`context_feedback`: put on record what a packet lacked, and how its task ended."""
    if asked.gaps is None and asked.unused is None and not asked.outcome:
        raise Unreadable("context_feedback", "give gaps, unused or outcome; empty lists are fine")
    told = from_mapping({"gaps": asked.gaps, "unused": asked.unused, "outcome": asked.outcome})
    if asked.outcome and not told.outcome:
        reason = f"the outcome is done, blocked or failed, and not {asked.outcome[:40]!r}"
        raise Unreadable("context_feedback", reason)
    with desk.kept() as kept:
        session, audience = _reporter(desk, kept, asked.pane)
        told = replace(told, pane=audience)
        file = ""
        with suppress(BadFeedback):  # the file is a copy: what was told is on record all the same
            file = write_feedback(session.ledger, told)
        report(session.ledger, told, file=file)
        if told.outcome == BLOCKED:
            ask_for_more(session.ledger, audience, why="; ".join(told.gaps))
        return _thanks(told, audience or "this worker", session)


def _reporter(desk: Desk, kept: Kept, pane: int | None) -> tuple[Session, str]:
    """Who reports, and where that is put on record; a worker without a packet may report too."""
    try:
        name, audience = desk.worker(kept.project, pane)
    except NotRecorded:
        name, audience = desk.place.session, audience_of(pane, os.environ)
    return kept.session(name or None, ""), audience


def _thanks(told: Told, who: str, session: Session) -> str:
    if session.policy.packets.track == "off":
        return "Feedback is not recorded here: the setting `packets.track` is off."
    many = "" if len(told.gaps) == 1 else "s"
    counts = f"{len(told.gaps) or 'no'} context gap{many}, {len(told.unused) or 'nothing'} unused"
    ended = f", {told.outcome}" if told.outcome else ""
    more = "; the orchestrator is told that you need more" if told.outcome == BLOCKED else ""
    return f"Recorded for {who}: {counts}{ended}{more}."
