"""Run MCP tool calls: find the session, run the action, return its text.

Hooks, the command line and this server may use one session at the same time; each sees what the
others wrote.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta, Struct

from holdfast.core.view.plan import render_plan
from holdfast.core.view.search.excerpts import fence_hit
from holdfast.errors import NotRecorded, Unreadable
from holdfast.session.session import Session
from holdfast.surfaces import actions
from holdfast.surfaces.actions import ALL_LINES, parse_line_range, read_lines, remaining_lines
from holdfast.surfaces.mcp import packet_calls
from holdfast.surfaces.mcp.project_cache import RequestContext
from holdfast.text.clip import clip_line
from holdfast.text.jsontext import Json

T = TypeVar("T", bound=Struct)


class ToolHandler(Struct, Generic[T], frozen=True):
    """The function of a tool, and the type of its arguments."""

    arguments: type[T]
    run: Callable[[RequestContext, T], str]


class NoArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of a tool that takes none."""


class CompressArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `context_compress`."""

    dry_run: bool = True


class RecoverArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `context_recover`."""

    query: str | None = None
    ref: str | None = None
    level: int | None = None
    lines: str | int | None = None
    limit: Annotated[int, Meta(ge=1, le=50)] = actions.DEFAULT_EXCERPTS


def call_tool(context: RequestContext, name: str, arguments: Mapping[str, Json]) -> str:
    """Run a tool and return its text.

    Raises:
        HoldfastError: the call cannot be done; the message says why.
    """
    handler = HANDLERS[name]
    return handler.run(context, _convert(handler.arguments, name, arguments))


def _convert(kind: type[T], tool: str, arguments: Mapping[str, Json]) -> T:
    """Convert the arguments of a call to a type; numbers written as text are accepted.

    Raises:
        Unreadable: an argument is missing, unknown or of the wrong type.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        wrong, _, where = str(error).removeprefix("Object ").partition(" - at `$.")
        reason = f"{where.strip('`')}: {wrong.lower()}" if where else wrong
        raise Unreadable(tool, reason) from None


def _quick(act: Callable[[Session], str]) -> ToolHandler[NoArguments]:
    """Make the handler of a tool that runs a quick command without an argument."""

    def run(context: RequestContext, arguments: NoArguments) -> str:
        del arguments
        with context.session() as session:
            return act(session)

    return ToolHandler(NoArguments, run)


def _checkpoint(session: Session) -> str:
    checkpoint = session.checkpoint()
    lines = [f"checkpoint {checkpoint.ref} of session {session.name}"]
    lines += [f"to be read in {checkpoint.path}"] if checkpoint.path else []
    lines.append(f"a fresh session goes on from it with: holdfast resume {checkpoint.ref}")
    return "\n".join(lines)


def _compress(context: RequestContext, arguments: CompressArguments) -> str:
    with context.session() as session:
        if not arguments.dry_run:
            context.report_stage("compressing")
            return actions.compress(session)
        context.report_stage("planning")
        candidate = session.engine.candidate(None)
        summary = actions.summary_of(session, candidate)
        plan = render_plan(candidate.plan, actions.verdicts_of(session, candidate), summary=summary)
        return f"{plan}\n\nNothing was changed; context_compress with dry_run=false applies it."


def _recover(context: RequestContext, arguments: RecoverArguments) -> str:
    selectors = [
        way for way in (arguments.query, arguments.ref, arguments.level) if way not in (None, "")
    ]
    if len(selectors) != 1:
        raise Unreadable("context_recover", "give one of query, ref and level")
    if arguments.lines is not None and not arguments.ref:
        raise Unreadable("context_recover", "lines go with ref")
    with context.session() as session:
        if arguments.level is not None:
            return session.level(arguments.level)
        if arguments.ref:
            return _read_part(
                session, arguments.ref, str(arguments.lines) if arguments.lines is not None else ""
            )
        assert arguments.query is not None
        return _search(context, session, arguments.query, arguments.limit)


def _search(context: RequestContext, session: Session, query: str, limit: int) -> str:
    context.report_stage("searching")
    excerpts = actions.excerpts_of(session, query, limit=limit)
    if not excerpts:
        raise NotRecorded("entry with", clip_line(query, 80), where=f"session {session.name!r}")
    return "\n\n".join(fence_hit(excerpt) for excerpt in excerpts)


def _read_part(session: Session, ref: str, lines: str) -> str:
    span = parse_line_range(lines) if lines else None
    part = read_lines(session, ref.strip(), span or ALL_LINES, actions.DEFAULT_EXCERPT_TOKENS)
    remaining = remaining_lines(part, span)
    more = (
        f"\nThe rest: context_recover(ref={part.ref!r}, lines={remaining!r})" if remaining else ""
    )
    return fence_hit(part) + more


HANDLERS: dict[str, ToolHandler[Any]] = {
    "context_generate": ToolHandler(packet_calls.GenerateArguments, packet_calls.generate),
    "context_read": ToolHandler(packet_calls.ReadArguments, packet_calls.read),
    "context_feedback": ToolHandler(packet_calls.FeedbackArguments, packet_calls.feedback),
    "context_query": ToolHandler(packet_calls.QueryArguments, packet_calls.query),
    "context_status": _quick(actions.status),
    "context_compress": ToolHandler(CompressArguments, _compress),
    "context_recover": ToolHandler(RecoverArguments, _recover),
    "context_intent": _quick(actions.intent),
    "context_log": _quick(actions.log),
    "context_checkpoint": _quick(_checkpoint),
}
