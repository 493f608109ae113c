"""MCP tools for handing work to another agent: make, read and rate packets, ask questions."""

import os
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.packet import Feedback
from holdfast.core.view.packet_stats.feedback import feedback_from_mapping
from holdfast.core.view.questions.answer import render_answer
from holdfast.errors import BadFeedback, NotRecorded, Unreadable
from holdfast.packets.feedback import ask_for_more, record_feedback, write_feedback
from holdfast.packets.packet import as_packet
from holdfast.packets.questions import context_query
from holdfast.packets.read import read_for_worker
from holdfast.packets.records import PacketRecord, audience_of
from holdfast.packets.revise import stale_reason
from holdfast.session.session import Session
from holdfast.surfaces.handoff import packet_for, parse_layers
from holdfast.surfaces.mcp.project_cache import CachedProject, RequestContext
from holdfast.surfaces.roles import opening_line, role_variables

BLOCKED = "blocked"


class GenerateArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `context_generate`."""

    task: str
    depth: str = "standard"
    pane: int | None = None


class ReadArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `context_read`."""

    pane: int | None = None
    layers: str | int | list[int] | None = None


class FeedbackArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `context_feedback`."""

    gaps: list[str] | str | None = None
    unused: list[str] | str | None = None
    outcome: str | None = None
    pane: int | None = None


class QueryArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `context_query`."""

    question: str


def generate(context: RequestContext, arguments: GenerateArguments) -> str:
    """Run `context_generate`: return the packet as YAML, after comments for the orchestrator."""
    context.report_stage("making the packet")
    with context.project() as cached:
        session = context.session_in(cached)
        audience = audience_of(arguments.pane)
        record = packet_for(
            session, cached.decisions(session), arguments.task, arguments.depth, audience=audience
        )
        return "\n".join(
            [*_packet_comments(session, record), as_packet(record.packet).to_yaml().rstrip("\n")]
        )


def _packet_comments(session: Session, record: PacketRecord) -> Iterator[str]:
    """Yield what the orchestrator has to know of a packet, as YAML comments."""
    packet = record.packet
    yield f"# {packet.token_count} tokens as a worker reads it, depth {packet.depth}"
    if packet.over_budget:
        yield "# over budget: the goal and the constraints alone are more, and they are not cut"
    if record.file:
        spelling = role_variables(session.policy.layout)
        yield f"# kept as {record.file}, revision {packet.revision}"
        pane = packet.audience.removeprefix("pane-")
        yield f"# begin the worker's task with: {opening_line(spelling, pane)}"


def read(context: RequestContext, arguments: ReadArguments) -> str:
    """Run `context_read`: return the packet as text."""
    with context.project() as cached:
        return read_packet(context, cached, arguments.pane, parse_layers(arguments.layers), "mcp")


def read_packet(
    context: RequestContext,
    cached: CachedProject,
    pane: int | str | None,
    layers: tuple[int, ...],
    channel: str,
) -> str:
    """Return a worker's packet as text, and record in the ledger that it was read."""
    name, audience = context.find_worker(cached.project, pane)
    session = cached.session(name, "")
    packet = read_for_worker(session.ledger, audience, layers=layers, way=channel)
    lines = [packet.to_prompt() or "This layer of your packet is empty."]
    further = [layer for layer in packet.layers if layers and layer > max(layers)]
    if further:
        lines.append(f"\nMore when you need it: context_read(layers={further[0]})")
    stale = stale_reason(session.ledger, packet)
    if stale.startswith("it was good until"):
        lines.append(f"\nThis packet is old: {stale}. Ask for a new one if it does not fit.")
    return "\n".join(lines)


def query(context: RequestContext, arguments: QueryArguments) -> str:
    """Run `context_query`: return the decision, or say that it is not known."""
    if not arguments.question.strip():
        raise Unreadable("context_query", "the question is empty")
    context.report_stage("looking through the sessions")
    with context.project() as cached:
        session = context.session_in(cached)
        return render_answer(context_query(cached.decisions(session), arguments.question))


def feedback(context: RequestContext, arguments: FeedbackArguments) -> str:
    """Run `context_feedback`: record what a packet lacked, and how its task ended."""
    if arguments.gaps is None and arguments.unused is None and not arguments.outcome:
        raise Unreadable("context_feedback", "give gaps, unused or outcome; empty lists are fine")
    record = feedback_from_mapping(
        {"gaps": arguments.gaps, "unused": arguments.unused, "outcome": arguments.outcome}
    )
    if arguments.outcome and not record.outcome:
        reason = f"the outcome is done, blocked or failed, and not {arguments.outcome[:40]!r}"
        raise Unreadable("context_feedback", reason)
    with context.project() as cached:
        session, audience = _reporter(context, cached, arguments.pane)
        record = replace(record, pane=audience)
        file = ""
        with suppress(BadFeedback):  # the file is only a copy: the ledger has the feedback anyway
            file = write_feedback(session.ledger, record)
        record_feedback(session.ledger, record, file=file)
        if record.outcome == BLOCKED:
            ask_for_more(session.ledger, audience, why="; ".join(record.gaps))
        return _confirmation(record, audience or "this worker", session)


def _reporter(
    context: RequestContext, cached: CachedProject, pane: int | None
) -> tuple[Session, str]:
    """Return the session that records the feedback, and the audience that gives it.

    A worker without a packet may give feedback too.
    """
    try:
        name, audience = context.find_worker(cached.project, pane)
    except NotRecorded:
        name, audience = context.options.session, audience_of(pane, os.environ)
    return cached.session(name or None, ""), audience


def _confirmation(record: Feedback, who: str, session: Session) -> str:
    if session.policy.packets.track == "off":
        return "Feedback is not recorded here: the setting `packets.track` is off."
    plural = "" if len(record.gaps) == 1 else "s"
    counts = (
        f"{len(record.gaps) or 'no'} context gap{plural}, {len(record.unused) or 'nothing'} unused"
    )
    outcome = f", {record.outcome}" if record.outcome else ""
    more = "; the orchestrator is told that you need more" if record.outcome == BLOCKED else ""
    return f"Recorded for {who}: {counts}{outcome}{more}."
