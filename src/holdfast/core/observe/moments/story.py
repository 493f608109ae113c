"""The shapes of a story: what the path of a session says, as far as it was read."""

from msgspec import Struct

from holdfast.core.ledger.entry import EntryId
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item
from holdfast.core.observe.moments.moment import Moment


class Block(Struct, frozen=True, array_like=True):
    """Moments of a stretch of the record; the older the stretch, the fewer of it are kept."""

    level: int
    tokens: int
    moments: tuple[Moment, ...]


class Story(Struct, frozen=True, omit_defaults=True):
    """What the chapters of a path say."""

    rows: Summary = Summary()
    blocks: tuple[Block, ...] = ()
    end: EntryId | None = None
    """The last entry of the last chapter."""
    seq: int = 0
    """The number of that entry."""
    asked: tuple[str, ...] = ()
    """Short names of the messages of the user that the rows quote, oldest first."""
    context: tuple[int, ...] = ()
    """The numbers of earlier entries that the next chapter needs to be understood."""


class StoryReading(Struct, frozen=True, eq=False):
    """A story, and the items after its last chapter, with those of its context before them.

    Two readings are the same only if they are one object: what they say is cached by that.
    """

    story: Story = Story()
    rest: tuple[Item, ...] = ()


class PathContent(Struct, frozen=True, eq=False):
    """Everything that a path says: its rows, and its moments in order.

    Like readings, two are the same only if they are one object.
    """

    rows: Summary
    moments: tuple[Moment, ...]
