"""Sizes: what each thing in sight takes, in tokens that add up to what the window has."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from holdfast.core.ledger.window import Item
from holdfast.core.measure.tokens import CountTokens, count_body
from holdfast.core.measure.usage import Usage, split


class Sized(Struct, frozen=True):
    """A window with the size of everything in it."""

    usage: Usage
    items: tuple[Item, ...]
    raws: tuple[int, ...]
    """Raw tokens of each item."""
    tokens: tuple[int, ...]
    """Tokens of each item; with the overhead they add up to the usage."""


def raw_sizes(items: Sequence[Item], counts: Mapping[int, int], count: CountTokens) -> list[int]:
    """Raw tokens of each item; stand-ins are not in the table of counts."""
    return [
        count_body(item.body, count)
        if item.stand_in is not None or item.entry.seq not in counts
        else counts[item.entry.seq]
        for item in items
    ]


def sized(
    items: Sequence[Item], usage: Usage, counts: Mapping[int, int], count: CountTokens
) -> Sized:
    """A window that is so full, with the size of everything in it."""
    raws = raw_sizes(items, counts, count)
    return Sized(usage, tuple(items), tuple(raws), tuple(split(usage.messages, raws)))
