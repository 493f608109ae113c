"""A worker is done: what it did is read, and what it says of its packet goes on record."""

from msgspec.structs import replace

from holdfast.errors import BadFeedback
from holdfast.packets.feedback import collect, parsed, report
from holdfast.surfaces.hooks.event import NOTHING, Happened, Reply
from holdfast.surfaces.hooks.events.handover import audience
from holdfast.surfaces.hooks.session import followed, opened

SAYS = ("context_gaps", "context_unused", "gaps:", "unused:")
"""What stands in an answer that reports on its packet."""


def answer(happened: Happened) -> Reply:
    """Take the feedback that its last words or its file hold."""
    with opened(replace(happened, lane="")) as session:
        followed(happened, session)
        if any(word in happened.said for word in SAYS):
            try:
                told = parsed(happened.said, "the worker's answer")
            except BadFeedback:
                return NOTHING
            report(session.ledger, replace(told, pane=audience(happened)))
        collect(session.ledger)
    return NOTHING
