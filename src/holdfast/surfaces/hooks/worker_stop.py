"""A worker is done: what it did is read, and what it says of its packet goes on record."""

from msgspec.structs import replace

from holdfast.errors import BadFeedback
from holdfast.reporting import collect, parsed, report
from holdfast.surfaces.hooks.at_hand import followed, opened
from holdfast.surfaces.hooks.handover import audience
from holdfast.surfaces.hooks.happening import NOTHING, Happened, Reply

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
            report(session, replace(told, pane=audience(happened)))
        collect(session)
    return NOTHING
