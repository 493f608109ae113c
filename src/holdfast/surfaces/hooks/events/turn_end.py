"""The agent is done with a turn: did it do what it was asked, and is it written down.

Drift is only looked for after a compaction, where goals get lost. An agent that drifted is told
once and goes on; one that goes on because it was told is left alone.
"""

from holdfast.core.ledger.entry import Noted
from holdfast.core.measure.usage import Level
from holdfast.core.verify.drift.armed import DRIFT
from holdfast.session.session import Session
from holdfast.surfaces.hooks.event import NOTHING, Happened, Reply
from holdfast.surfaces.hooks.events.tool_batch import usage_of
from holdfast.surfaces.hooks.session import followed, opened, policy_of, put_down

FULL = (Level.ORANGE, Level.RED, Level.CRITICAL)
"""Levels from which on every turn ends with a checkpoint: a compaction may be next."""


def answer(happened: Happened) -> Reply:
    """Read the turn, look for drift, and take a checkpoint where the window is getting full."""
    policy = policy_of(happened)
    usage = usage_of(happened, policy)
    with opened(happened, policy) as session:
        if not followed(happened, session):
            return NOTHING
        if usage is not None and usage.level in FULL:
            put_down(session)
        drifted = _drifted(session)
        if drifted is None or happened.again:
            return NOTHING
        return Reply(context=session.watch.realignment(drifted))


def _drifted(session: Session) -> Noted | None:
    """What was found only now."""
    head = session.store.head(session.name)
    if head is None or not head.lane(session.agent).generation:
        return None
    session.watch.look()
    found = (entry.body for entry in session.store.read(session.name, since=head.seq))
    drifts = [one for one in found if isinstance(one, Noted) and one.what == DRIFT]
    return drifts[-1] if drifts else None
