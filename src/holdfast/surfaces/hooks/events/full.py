"""Something happened in a window that is about to be compacted by a program that does not ask.

It is answered as ever, and what must not be lost goes along with the answer, once.
"""

from msgspec.structs import replace

from holdfast.core.ledger.entry import Compacted, Noted
from holdfast.session.session import Session
from holdfast.stores.store import latest_first
from holdfast.surfaces.hooks.event import Happened, Reply
from holdfast.surfaces.hooks.events import prompt, session_start, tool_result
from holdfast.surfaces.hooks.events.before_compaction import secure
from holdfast.surfaces.hooks.session import followed, opened

KEPT = "kept"
"""The note that what must not be lost was told."""


def answer(happened: Happened) -> Reply:
    """What is said to it otherwise, and what must not be lost."""
    reply = tool_result.answer(happened) if happened.tool else prompt.answer(happened)
    if reply.block:
        return reply
    with opened(happened) as session:
        followed(happened, session)
        if _was_told(session):
            return reply
        secure(session)
        session.note(KEPT)
    told = session_start.answer(happened).context
    return replace(reply, context="\n\n".join(filter(None, (reply.context, told))))


def _was_told(session: Session) -> bool:
    """Whether it was told since the window was last compacted."""
    for entry in latest_first(session.store, session.name):
        if isinstance(entry.body, Compacted):
            return False
        if isinstance(entry.body, Noted) and entry.body.what == KEPT:
            return True
    return False
