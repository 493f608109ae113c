"""A session ends: what it came to is put down, so that any other may go on from there.

There is little to do, as a rule: every turn has been read when it ended. What was too large to be
read while somebody waited is read now.
"""

from holdfast.surfaces.hooks.event import NOTHING, Happened, Reply
from holdfast.surfaces.hooks.session import followed, opened

ENDED = "session_end"


def answer(happened: Happened) -> Reply:
    """Read the last of it, look for drift, and take a checkpoint."""
    with opened(happened) as session:
        if session.store.head(session.name) is None:
            return NOTHING
        session.note(ENDED, reason=happened.source)
        followed(happened, session)
        session.watch.look()
        session.checkpoint()
    return NOTHING
