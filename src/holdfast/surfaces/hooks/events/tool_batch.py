"""Answer a batch of tool results, before the next request: warn if the window is nearly full.

The usage of the last request is read from the end of the transcript, which costs the same in a
session of any length; the ledger is opened only if a level was reached.
"""

import os
from contextlib import suppress

from holdfast.core.ledger.entry import Compacted
from holdfast.core.ledger.notes import LevelWarned, note_of
from holdfast.core.measure.models import find_model
from holdfast.core.measure.usage import Level, Usage
from holdfast.core.plan.policy import Policy
from holdfast.session.session import Session, record
from holdfast.stores.store import events_newest_first
from holdfast.surfaces.hooks.event import NOTHING, HookEvent, HookReply, TranscriptTooLarge
from holdfast.surfaces.hooks.session import (
    follow_transcript,
    open_event_session,
    policy_of,
)
from holdfast.surfaces.hooks.tail import last_usage
from holdfast.text.jsontext import whole_number

WARNED_LEVELS = (Level.RED, Level.CRITICAL)


def answer(event: HookEvent) -> HookReply:
    """Warn once at each level; take a checkpoint when the window is critical."""
    if event.lane:
        return NOTHING
    policy = policy_of(event)
    usage = usage_of(event, policy)
    if usage is None or usage.level not in WARNED_LEVELS:
        return NOTHING
    with open_event_session(event, policy) as session:
        if _was_warned(session, usage.level):
            return NOTHING
        with suppress(TranscriptTooLarge):  # the warning does not need the transcript
            follow_transcript(event, session)
        record(session, LevelWarned(usage.level.value))
        warning = _warn(session, usage)
    # Above its limit a window is compacted at once, which makes a warning wrong.
    return HookReply(context=warning) if usage.fraction < 1 else NOTHING


def usage_of(event: HookEvent, policy: Policy) -> Usage | None:
    """Return the reported usage at the last request; None if none was reported."""
    used = last_usage(event.transcript)
    tokens, model = (event.tokens, event.model) if used is None else used
    if not tokens:
        return None
    known = find_model(policy.model or model or event.model)
    window = policy.window or event.window or _with_user_limit(known.window)
    reserve = policy.reserve or min(known.reserve, window // 2)
    limit = max(window - reserve, 1)
    if not policy.window and not event.window and window == known.window:
        # The provider accepted the reported tokens, so the window is at least that large.
        limit = max(limit, tokens)
    return Usage(tokens, limit, "reported")


def _with_user_limit(window: int) -> int:
    """Limit a window to the size that the user set for Claude Code."""
    limit = whole_number(os.environ.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW", ""))
    return min(window, limit) if limit else window


def _was_warned(session: Session, level: Level) -> bool:
    """Whether a warning for this level was given since the last compaction."""
    for entry in events_newest_first(session.store, session.name):
        match note_of(entry.body) or entry.body:
            case Compacted():
                return False
            case LevelWarned(level=warned):
                return level is Level.RED or warned == level.value
            case _:
                pass
    return False


def _warn(session: Session, usage: Usage) -> str:
    full = f"The context window is {usage.percent(0)} full ({usage.level.value})."
    if usage.level is not Level.CRITICAL:
        return (
            f"{full} It will be compacted soon. Nothing is lost by that: requests, constraints, "
            "files and decisions are on record, and context_recover finds what has left."
        )
    checkpoint = session.checkpoint()
    return (
        f"{full} Checkpoint {checkpoint.ref} holds where the work stands. Bring the step at hand "
        "to an end; a fresh session that goes on from the checkpoint is recommended to the user."
    )
