"""Which session was cleared: programs name the one that begins, and not the one that was before.

Some tell that a session ended, and why. That may be on record only after the next one has begun,
since ends are worked on behind the program's back; others end nothing at all. So it is the session
that was used last, unless it is known to have ended otherwise.
"""

from collections.abc import Iterator

from holdfast.core.ledger.entry import Noted
from holdfast.engine.originals import ASKED
from holdfast.session.session import Session
from holdfast.surfaces.hooks.event import Happened
from holdfast.surfaces.hooks.events.session_end import ENDED

CLEAR = "clear"
FOLLOWED = "followed_by"
"""The note that a window was cleared, and which session stands in it now."""
LOOKED_AT = 5
"""Sessions, the newest first: whoever clears a window has just used it."""


def cleared_before(happened: Happened, session: Session) -> Session | None:
    """The session that stood in the window before it was cleared; None when there was none."""
    last = next(_others(happened, session), None)
    return last if last is not None and _ended(last) in ("", CLEAR) else None


def followed_by(happened: Happened, session: Session) -> Session | None:
    """The session that noted that this one follows it."""
    note = Noted(FOLLOWED, {"session": session.name})
    return next((one for one in _others(happened, session) if note in _notes(one)), None)


def _notes(session: Session) -> list[Noted]:
    """What was noted in a session beside its messages."""
    entries = session.store.events(session.name)
    return [entry.body for entry in entries if isinstance(entry.body, Noted)]


def _others(happened: Happened, session: Session) -> Iterator[Session]:
    """Sessions of the same program in which something was said, the newest first."""
    wires = ("", happened.agent.replace("-", "_"))
    listed = [one for one in session.store.sessions() if one.name != session.name]
    for one in listed[:LOOKED_AT]:
        other = session.sibling(one.name)
        session.owns_store, other.owns_store = True, False
        if one.head.wire in wires and other.ledger.path():
            yield other


def _ended(session: Session) -> str:
    """Why a session ended; nothing when it has not, or somebody went on with it."""
    marks = [one for one in _notes(session) if one.what in (ENDED, ASKED)]
    return marks[-1].facts.get("reason", "") if marks and marks[-1].what == ENDED else ""
