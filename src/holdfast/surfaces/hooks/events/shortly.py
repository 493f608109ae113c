"""Short answers for events without enough time: the user's requests at a transcript's ends.

A transcript may be too large to read before the program stops waiting. The part that was read is
stored, and the next event continues there; a still larger one is read when the session ends and the
program does not wait. But a summary or the start of a session needs an answer now.
"""

from collections.abc import Callable, Iterable

from holdfast.core.ledger.summary import Quote
from holdfast.surfaces.hooks.event import NOTHING, HookEvent, HookReply
from holdfast.surfaces.hooks.events.compaction import SUMMARY_INSTRUCTIONS
from holdfast.surfaces.hooks.events.session import RECORD_NOTICE
from holdfast.surfaces.hooks.session import MAX_CONTEXT_CHARS, policy_of, render_requests
from holdfast.surfaces.hooks.transcript_ends import read_intent_at_ends

PARTIAL_NOTICE = "There was no time to read all of it: this is from its beginning and its end.\n"
CONTINUED_SOURCES = ("compact", "resume", "fork")
"""Causes of a start for sessions that already have entries."""


def _steer_summary(event: HookEvent, requests: str) -> HookReply:
    del event
    return HookReply(instructions=f"{SUMMARY_INSTRUCTIONS}\n{requests}") if requests else NOTHING


def _give_context(event: HookEvent, requests: str) -> HookReply:
    if event.source not in CONTINUED_SOURCES:
        return NOTHING
    return HookReply(context=f"{RECORD_NOTICE}\n\n{requests}".strip())


SHORT_ANSWERS: dict[str, Callable[[HookEvent, str], HookReply]] = {
    "before_compaction": _steer_summary,
    "session_start": _give_context,
    "window_full": _give_context,
}
"""Kinds of events that need an answer, with the function that makes a short one."""


def answer(event: HookEvent) -> HookReply:
    """Return the requests at both ends, for events that need an answer."""
    reply_with = SHORT_ANSWERS.get(event.kind)
    return reply_with(event, _requests_at_ends(event)) if reply_with is not None else NOTHING


def _requests_at_ends(event: HookEvent) -> str:
    if not event.transcript:
        return ""
    wanted = read_intent_at_ends(event.transcript, policy_of(event), lane=event.lane)
    intent = wanted.intent
    first = _join_quotes((intent.original, *intent.original_rest))
    latest = _join_quotes((intent.current, *intent.current_rest))
    constraints = (
        f"Constraint: {constraint.text}"
        for constraint in wanted.constraints
        if not constraint.lifted
    )
    besides = (f"Also said: {quote.text}" for quote in reversed(wanted.words))
    room = (
        MAX_CONTEXT_CHARS - max(len(SUMMARY_INSTRUCTIONS), len(RECORD_NOTICE)) - len(PARTIAL_NOTICE)
    )
    requests = [text for text in dict.fromkeys((first, latest)) if text]
    words = render_requests(requests, room, more=(*constraints, *besides))
    return f"{PARTIAL_NOTICE}{words}" if words else ""


def _join_quotes(parts: Iterable[Quote]) -> str:
    return "\n".join(part.text for part in parts if part.text)
