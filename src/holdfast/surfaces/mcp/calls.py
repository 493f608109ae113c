"""What is done about a call: the session is found, an act is run, and what came of it is told.

A hook, the command line and this server may work on one session at the same time, and each sees
what the others wrote.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

from holdfast.core.view.conversation import opening
from holdfast.core.view.plan import render_plan
from holdfast.core.view.search.excerpts import fenced
from holdfast.errors import NotRecorded, Unreadable
from holdfast.session.session import Session
from holdfast.surfaces import actions
from holdfast.surfaces.actions import WHOLE, left_of, lines_of, span_of
from holdfast.surfaces.mcp import packet_calls
from holdfast.surfaces.mcp.arguments import Act, act
from holdfast.surfaces.mcp.project_cache import Desk
from holdfast.text.jsontext import Json


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """A call that takes nothing."""


class Compress(Struct, frozen=True, forbid_unknown_fields=True):
    """What `context_compress` takes."""

    dry_run: bool = True


class Recover(Struct, frozen=True, forbid_unknown_fields=True):
    """What `context_recover` takes."""

    query: str | None = None
    ref: str | None = None
    level: int | None = None
    lines: str | int | None = None
    limit: Annotated[int, Meta(ge=1, le=50)] = actions.EXCERPTS


def called(desk: Desk, name: str, arguments: Mapping[str, Json]) -> str:
    """What a tool says.

    Raises:
        HoldfastError: it cannot be done; the sentence says why.
    """
    return CALLS[name].run(desk, name, arguments)


def _status(desk: Desk, asked: Nothing) -> str:
    del asked
    with desk.session() as session:
        return actions.status(session)


def _intent(desk: Desk, asked: Nothing) -> str:
    del asked
    with desk.session() as session:
        return actions.intent(session)


def _log(desk: Desk, asked: Nothing) -> str:
    del asked
    with desk.session() as session:
        return actions.log(session)


def _checkpoint(desk: Desk, asked: Nothing) -> str:
    del asked
    with desk.session() as session:
        made = session.checkpoint()
        lines = [f"checkpoint {made.ref} of session {session.name}"]
        lines += [f"to be read in {made.path}"] if made.path else []
        lines.append(f"a fresh session goes on from it with: holdfast resume {made.ref}")
        return "\n".join(lines)


def _compress(desk: Desk, asked: Compress) -> str:
    with desk.session() as session:
        if not asked.dry_run:
            desk.tell("compressing")
            return actions.compress(session)
        desk.tell("planning")
        candidate = session.engine.candidate(None)
        summary = actions.summary_of(session, candidate)
        plan = render_plan(candidate.plan, actions.verdicts_of(session, candidate), summary=summary)
        return f"{plan}\n\nNothing was changed; context_compress with dry_run=false applies it."


def _recover(desk: Desk, asked: Recover) -> str:
    ways = [way for way in (asked.query, asked.ref, asked.level) if way not in (None, "")]
    if len(ways) != 1:
        raise Unreadable("context_recover", "give one of query, ref and level")
    if asked.lines is not None and not asked.ref:
        raise Unreadable("context_recover", "lines go with ref")
    with desk.session() as session:
        if asked.level is not None:
            return session.level(asked.level)
        if asked.ref:
            return _part(session, asked.ref, str(asked.lines) if asked.lines is not None else "")
        assert asked.query is not None
        return _found(desk, session, asked.query, asked.limit)


def _found(desk: Desk, session: Session, query: str, limit: int) -> str:
    desk.tell("searching")
    found = actions.excerpts_of(session, query, limit=limit)
    if not found:
        raise NotRecorded("entry with", opening(query, 80), where=f"session {session.name!r}")
    return "\n\n".join(fenced(one) for one in found)


def _part(session: Session, ref: str, lines: str) -> str:
    span = span_of(lines) if lines else None
    part = lines_of(session, ref.strip(), span or WHOLE, actions.RECOVERED)
    left = left_of(part, span)
    more = f"\nThe rest: context_recover(ref={part.ref!r}, lines={left!r})" if left else ""
    return fenced(part) + more


CALLS: dict[str, Act] = {
    "context_generate": act(packet_calls.Generate, packet_calls.generate),
    "context_read": act(packet_calls.Read, packet_calls.read),
    "context_feedback": act(packet_calls.Feedback, packet_calls.feedback),
    "context_query": act(packet_calls.Query, packet_calls.query),
    "context_status": act(Nothing, _status),
    "context_compress": act(Compress, _compress),
    "context_recover": act(Recover, _recover),
    "context_intent": act(Nothing, _intent),
    "context_log": act(Nothing, _log),
    "context_checkpoint": act(Nothing, _checkpoint),
}
