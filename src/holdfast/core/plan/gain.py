"""Compute the net gain of a batch: its immediate cost against savings in later requests.

Changing sent bytes makes the provider write everything behind the first change to its cache again.
In return, every later request reads fewer tokens. Prices are multiples of a fresh input token.
"""

from msgspec import Struct

from holdfast.core.measure.models import Cache


class Bill(Struct, frozen=True):
    """Cost and gain of a change of the window, in fresh input tokens."""

    cost: float
    """Immediate cost: tokens written to the cache again, less tokens that need not be sent."""
    gain: float
    """Total gain over all expected requests."""


def weigh(*, removed: int, behind: int, requests: int, cache: Cache, warm: bool = True) -> Bill:
    """Compute cost and gain of removing `removed` tokens.

    `behind` is the number of sent tokens from the first change on, counted before the change. A
    cold cache (`warm` is false) is rewritten in any case, so a change adds no cost.
    """
    read, write = cache.read, cache.write
    rewrite_cost = (write - read) * behind if warm else 0.0
    return Bill(
        cost=rewrite_cost - write * removed, gain=removed * (write + read * requests) - rewrite_cost
    )


def refetch_cost(size: int, window: int, cache: Cache, requests: int) -> float:
    """Return the cost of fetching `size` removed tokens again: one more request and the tokens."""
    return cache.read * window + size * (cache.write + cache.read * requests)
