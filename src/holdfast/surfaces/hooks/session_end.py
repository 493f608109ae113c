"""A session ends: what it came to is put down, so that any other may go on from there."""

from holdfast.surfaces.hooks.at_hand import followed, opened
from holdfast.surfaces.hooks.happening import NOTHING, Happened, Reply

ENDED = "session_end"


def answer(happened: Happened) -> Reply:
    """Read the last of it, look for drift, and take a checkpoint."""
    with opened(happened) as session:
        followed(happened, session)
        if not session.path():
            return NOTHING
        session.watch.look()
        session.checkpoint()
        session.note(ENDED, reason=happened.source)
    return NOTHING
