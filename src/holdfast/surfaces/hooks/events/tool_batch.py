"""Tools have answered, and the model is asked next: the right moment to look how full it is.

What is reported for the last request stands at the end of the transcript, so that this costs the
same in a session of any length; the ledger is opened only when a level was passed.
"""

import os
from contextlib import suppress

from holdfast.core.ledger.entry import Compacted, Noted
from holdfast.core.measure.models import find
from holdfast.core.measure.usage import Level, Usage
from holdfast.core.plan.policy import Policy
from holdfast.session.session import Session
from holdfast.stores.store import latest_first
from holdfast.surfaces.hooks.event import NOTHING, Happened, Reply, TooMuch
from holdfast.surfaces.hooks.session import followed, opened, policy_of, put_down
from holdfast.surfaces.hooks.tail import last_usage
from holdfast.text.jsontext import whole_number

WARNED = "warned"
"""The note that a level was told of."""
TELLING = (Level.RED, Level.CRITICAL)


def answer(happened: Happened) -> Reply:
    """Tell once that the window fills up; put down where the work stands when it is critical."""
    if happened.lane:
        return NOTHING
    policy = policy_of(happened)
    usage = usage_of(happened, policy)
    if usage is None or usage.level not in TELLING:
        return NOTHING
    with opened(happened, policy) as session:
        if _was_told(session, usage.level):
            return NOTHING
        with suppress(TooMuch):  # what is told of the window needs none of it
            followed(happened, session)
        session.note(WARNED, level=usage.level.value)
        told = _told(session, usage)
    # Over its limit a window is compacted at once: what is said of it now would be wrong then.
    return Reply(context=told) if usage.fraction < 1 else NOTHING


def usage_of(happened: Happened, policy: Policy) -> Usage | None:
    """How full the window was at the last request, as it was reported; nothing when it was not."""
    used = last_usage(happened.transcript)
    tokens, model = (happened.tokens, happened.model) if used is None else used
    if not tokens:
        return None
    known = find(policy.model or model or happened.model)
    window = policy.window or happened.window or _narrowed(known.window)
    reserve = policy.reserve or min(known.reserve, window // 2)
    limit = max(window - reserve, 1)
    if not policy.window and not happened.window and window == known.window:
        # What was reported was accepted: the window takes at least that.
        limit = max(limit, tokens)
    return Usage(tokens, limit, "reported")


def _narrowed(window: int) -> int:
    """The window, as far as the user lets Claude Code have it."""
    told = whole_number(os.environ.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW", ""))
    return min(window, told) if told else window


def _was_told(session: Session, level: Level) -> bool:
    """Whether this level was told of since the window was last made smaller."""
    for entry in latest_first(session.store, session.name):
        if isinstance(entry.body, Compacted):
            return False
        if isinstance(entry.body, Noted) and entry.body.what == WARNED:
            return level is Level.RED or entry.body.facts.get("level") == level.value
    return False


def _told(session: Session, usage: Usage) -> str:
    full = f"The context window is {usage.percent(0)} full ({usage.level.value})."
    if usage.level is not Level.CRITICAL:
        return (
            f"{full} It will be compacted soon. Nothing is lost by that: requests, constraints, "
            "files and decisions are on record, and context_recover finds what has left."
        )
    made = put_down(session)
    if made is None:
        return (
            f"{full} Bring the step at hand to an end; a fresh session is recommended to the user. "
            "What was asked and done in this one is on record: context_recover finds it."
        )
    return (
        f"{full} Checkpoint {made.ref} holds where the work stands. Bring the step at hand to an "
        "end; a fresh session that goes on from the checkpoint is recommended to the user."
    )
