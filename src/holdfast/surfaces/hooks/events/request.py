"""Answer a program that is about to send its window: shorten old calls and results.

Only for programs that allow it, and only tiers 1 and 2: the program summarizes by itself. A shorter
form, once used, is repeated word for word, also by a new process: it is read from the ledger and
not computed again.
"""

from msgspec.structs import replace

from holdfast.core.ledger.entry import ToolCalled, ToolReturned
from holdfast.core.plan.policy import NEVER_REACHED, with_settings
from holdfast.session.session import Session
from holdfast.surfaces.hooks.event import NOTHING, HookEvent, HookReply
from holdfast.surfaces.hooks.session import open_event_session, policy_of
from holdfast.transcripts.follow import follow


def answer(event: HookEvent) -> HookReply:
    """Return the stand-ins of calls and results, by call."""
    if not event.transcript:
        return NOTHING
    policy = with_settings(policy_of(event), {"at.summary": NEVER_REACHED})
    policy = replace(policy, window=event.window or policy.window)
    with open_event_session(event, policy) as session:
        follow(session.store, session.name, event.transcript, policy=policy)
        # The engine of a new process does not know what was written before.
        session.engine.note_files_on_disk()
        session.engine.consider()
        return HookReply(replacements=_replacements(session))


def _replacements(session: Session) -> dict[str, dict[str, str]]:
    """Return the arguments or the output of each stand-in, by call."""
    by_call: dict[str, dict[str, str]] = {}
    for item in session.ledger.window().items:
        match item.stand_in:
            case ToolCalled(call=call, arguments=arguments):
                by_call.setdefault(call, {})["input"] = arguments
            case ToolReturned(call=call, output=output):
                by_call.setdefault(call, {})["output"] = output
            case _:
                continue
    return by_call
