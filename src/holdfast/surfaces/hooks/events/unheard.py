"""A program clears or compacts a window, and does not listen then: the next words take it along.

What has to be known afterwards waits in a note: that a session is followed by another, or that a
window was made smaller by hand. It is told with the next words that go on to the model.
"""

from msgspec.structs import replace

from holdfast.core.ledger.entry import Noted
from holdfast.engine.originals import ASKED
from holdfast.session.session import Session
from holdfast.surfaces.hooks.event import NOTHING, Happened, Reply
from holdfast.surfaces.hooks.events import prompt, session_start
from holdfast.surfaces.hooks.events.before_compaction import secure
from holdfast.surfaces.hooks.predecessor import FOLLOWED, cleared_before, followed_by
from holdfast.surfaces.hooks.session import followed, opened

COMPACTED = "compacted_by_hand"
"""The note that the window is made smaller, and that nothing was told yet."""
LOOKED_AT = 50
"""Entries at the end of a session in which such a note stands: nothing happens in between."""


def answer(happened: Happened) -> Reply:
    """Take note of what nobody may be told about now; tell it with the words that follow."""
    match happened.source:
        case "clear":
            return _cleared(happened)
        case "manual":
            return _compacted(happened)
        case _:
            return _said(happened)


def _cleared(happened: Happened) -> Reply:
    with opened(happened) as session:
        last = cleared_before(happened, session)
        if last is not None:
            last.note(FOLLOWED, session=session.name)
    return NOTHING


def _compacted(happened: Happened) -> Reply:
    with opened(happened) as session:
        followed(happened, session)
        if session.ledger.path():
            secure(session)
            session.note(COMPACTED)
    return NOTHING


def _said(happened: Happened) -> Reply:
    told = _due(happened)
    reply = prompt.answer(happened)
    if reply.block or not told:
        return reply
    return replace(reply, context="\n\n".join(filter(None, (reply.context, told))))


def _due(happened: Happened) -> str:
    """What was not told yet."""
    with opened(happened) as session:
        waiting = _waiting(session)
        if COMPACTED not in waiting:
            begun = happened.tokens or ASKED in waiting
            return "" if begun else _of_the_last(happened, session)
    return session_start.answer(replace(happened, source="compact")).context


def _of_the_last(happened: Happened, session: Session) -> str:
    """What the session before this one came to, where this one follows it."""
    last = followed_by(happened, session)
    return session_start.told_of(last, session) if last is not None else ""


def _waiting(session: Session) -> list[str]:
    """What was noted since the user's last words, and those."""
    head = session.store.head(session.name)
    since = max(head.seq - LOOKED_AT, 0) if head is not None else 0
    bodies = (entry.body for entry in session.store.read(session.name, since=since))
    noted = [body.what for body in bodies if isinstance(body, Noted)]
    asked = [at for at, what in enumerate(noted) if what == ASKED]
    return noted[asked[-1] :] if asked else noted
