"""Compute the tokens of each item of a window, so that they add up to its usage."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from holdfast.core.ledger.window import Item
from holdfast.core.measure.tokens import CountTokens, count_body
from holdfast.core.measure.usage import Usage, split_proportionally


class SizedWindow(Struct, frozen=True):
    """The items of a window with their sizes."""

    usage: Usage
    items: tuple[Item, ...]
    raws: tuple[int, ...]
    """Raw tokens of each item."""
    tokens: tuple[int, ...]
    """Tokens of each item; with the overhead they add up to the usage."""


def raw_sizes(items: Sequence[Item], counts: Mapping[int, int], count: CountTokens) -> list[int]:
    """Return the raw tokens of each item; `counts` has no stand-ins, so they are counted here."""
    return [
        count_body(item.body, count)
        if item.stand_in is not None or item.entry.seq not in counts
        else counts[item.entry.seq]
        for item in items
    ]


def size_window(
    items: Sequence[Item], usage: Usage, counts: Mapping[int, int], count: CountTokens
) -> SizedWindow:
    """Return the items of a window with this usage, each with its size."""
    raws = raw_sizes(items, counts, count)
    return SizedWindow(
        usage, tuple(items), tuple(raws), tuple(split_proportionally(usage.messages, raws))
    )
