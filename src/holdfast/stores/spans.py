"""How the long list of what a summary hides is laid down: as spans of its lane's entries.

A summary hides everything since the beginning, so if each one named every entry, a store would grow
with the square of a session's length. Names are 32 hex digits; a span is told by two numbers.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from holdfast.core.ledger.entry import Body, Compressed, EntryId, Step

FEW = 64
"""Names that a step may hide before spans are worth looking for."""
SHORTEST = 3
SPAN = re.compile(r"#(\d{1,18})-(\d{1,18})")


class Order:
    """The source entries of one lane in their order, as far as they were looked up."""

    def __init__(self) -> None:
        self.seqs: list[int] = []
        self.names: list[EntryId] = []
        self._places: dict[EntryId, int] = {}

    @property
    def last(self) -> int:
        """The number of the last entry that is known."""
        return self.seqs[-1] if self.seqs else 0

    def add(self, seq: int, name: EntryId) -> None:
        """Take one more entry in."""
        self._places[name] = len(self.seqs)
        self.seqs.append(seq)
        self.names.append(name)

    def place_of(self, name: EntryId) -> int:
        """Where an entry stands; -1 when it is not known."""
        return self._places.get(name, -1)

    def between(self, first: int, last: int) -> list[EntryId]:
        """The names of the entries with numbers from `first` to `last`."""
        return self.names[bisect_left(self.seqs, first) : bisect_right(self.seqs, last)]


def is_long(body: Body) -> bool:
    """Whether a body hides so much that spans are worth it."""
    return isinstance(body, Compressed) and any(len(step.hides) > FEW for step in body.steps)


def is_spanned(body: Body) -> bool:
    """Whether a body was laid down with spans."""
    return isinstance(body, Compressed) and any(
        name.startswith("#") for step in body.steps for name in step.hides
    )


def spanned(body: Compressed, order: Order) -> Compressed:
    """The body with runs of names told as spans."""
    steps = (replace(step, hides=tuple(_spans(step, order))) for step in body.steps)
    return replace(body, steps=tuple(steps))


def named(body: Compressed, order: Order) -> Compressed:
    """The body as it was given: every name in full."""
    steps = (replace(step, hides=tuple(_names(step, order))) for step in body.steps)
    return replace(body, steps=tuple(steps))


def _spans(step: Step, order: Order) -> Iterator[str]:
    hides = step.hides
    at = 0
    while at < len(hides):
        end = _end_of_run(hides, at, order)
        if end - at >= SHORTEST:
            first, last = order.place_of(hides[at]), order.place_of(hides[end - 1])
            yield f"#{order.seqs[first]}-{order.seqs[last]}"
        else:
            yield from hides[at:end]
        at = end


def _end_of_run(hides: Sequence[EntryId], start: int, order: Order) -> int:
    """Where names that begin at `start` stop following one another in the lane."""
    place, end = order.place_of(hides[start]), start + 1
    while place >= 0 and end < len(hides) and order.place_of(hides[end]) == place + end - start:
        end += 1
    return end


def _names(step: Step, order: Order) -> Iterator[EntryId]:
    for name in step.hides:
        span = SPAN.fullmatch(name)
        if span is None:
            yield name
        else:
            yield from order.between(int(span[1]), int(span[2]))
