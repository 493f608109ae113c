"""Moment: one thing that happened in a session, in one line, with the entry that shows it."""

from typing import Literal, TypeAlias

from msgspec import Struct

from holdfast.core.ledger.entry import EntryId
from holdfast.text.clip import one_line
from holdfast.text.jsontext import SURROGATE

MomentKind: TypeAlias = Literal[
    "said", "thought", "reported", "answered", "ran", "changed", "looked", "content", "named"
]
MAX_MOMENT_CHARS = 400
"""A moment is clipped to this length, except one of names; the entry has the rest."""

BELOW_HEADING = " › "
"""What is written between a heading and the one below it."""


class Moment(Struct, frozen=True, array_like=True):
    """One thing that happened."""

    kind: MomentKind
    text: str
    entry: EntryId
    weight: float = 1.0
    """How much a reader needs it, besides the words in it."""
    turn: EntryId = ""
    """The request of the user that was being worked on; empty before the first."""
    under: str = ""
    """The heading of the section that it is in."""


def plain_line(text: str) -> str:
    """Return a text as one line that the ledger can store."""
    return SURROGATE.sub("\ufffd", one_line(text))
