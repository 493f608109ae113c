"""A window is about to be sent: what of its old calls and results is told shorter.

Only for programs that let us, and only tiers 1 and 2: the summary is the program's own affair. What
was told shorter once stays so, word for word, also in a process that has just begun, because it is
read off the ledger and not decided anew.
"""

from msgspec.structs import replace

from holdfast.core.ledger.entry import ToolCalled, ToolReturned
from holdfast.core.plan.policy import NEVER, with_settings
from holdfast.session.session import Session
from holdfast.surfaces.hooks.event import NOTHING, Happened, Reply
from holdfast.surfaces.hooks.session import opened, policy_of
from holdfast.transcripts.follow import follow


def answer(happened: Happened) -> Reply:
    """What stands for calls and results, by the call."""
    if not happened.transcript:
        return NOTHING
    policy = with_settings(policy_of(happened), {"at.summary": NEVER})
    policy = replace(policy, window=happened.window or policy.window)
    with opened(happened, policy) as session:
        follow(session.store, session.name, happened.transcript, policy=policy)
        # A process that has just begun knows nothing of what was written before it.
        session.engine.note_written()
        session.engine.consider()
        return Reply(replaced=_replaced(session))


def _replaced(session: Session) -> dict[str, dict[str, str]]:
    """By call: its arguments as JSON, or what it returned, where something stands in for them."""
    made: dict[str, dict[str, str]] = {}
    for item in session.ledger.window().items:
        match item.stand_in:
            case ToolCalled(call=call, arguments=arguments):
                made.setdefault(call, {})["input"] = arguments
            case ToolReturned(call=call, output=output):
                made.setdefault(call, {})["output"] = output
            case _:
                continue
    return made
