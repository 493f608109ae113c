"""Answer the end of a turn: read it, look for drift, and take a checkpoint if needed.

Drift is looked for only after a compaction, which can lose the goal. An agent that drifted is asked
once to continue; a turn that such a request started gets no other one.
"""

from holdfast.core.ledger.notes import Drifted, newest_note
from holdfast.core.measure.usage import Level
from holdfast.session.session import Session
from holdfast.surfaces.hooks.event import NOTHING, HookEvent, HookReply
from holdfast.surfaces.hooks.events.tool_batch import usage_of
from holdfast.surfaces.hooks.session import (
    follow_transcript,
    open_event_session,
    policy_of,
)

CHECKPOINT_LEVELS = (Level.ORANGE, Level.RED, Level.CRITICAL)
"""At these levels every turn ends with a checkpoint, because a compaction may follow."""


def answer(event: HookEvent) -> HookReply:
    """Read the turn, take a checkpoint if the window is filling up, and look for drift."""
    policy = policy_of(event)
    usage = usage_of(event, policy)
    with open_event_session(event, policy) as session:
        if not follow_transcript(event, session):
            return NOTHING
        if usage is not None and usage.level in CHECKPOINT_LEVELS:
            session.checkpoint()
        drift = _find_new_drift(session)
        if drift is None or event.is_continuation or not drift.is_readable:
            return NOTHING
        return HookReply(context=session.watch.realignment(drift))


def _find_new_drift(session: Session) -> Drifted | None:
    """Look for drift; return it if it is new."""
    head = session.store.head(session.name)
    if head is None or not head.lane(session.agent).generation:
        return None
    session.watch.judge_new_steps()
    found = newest_note(session.store.read(session.name, since=head.seq), Drifted)
    return found[1] if found is not None else None
