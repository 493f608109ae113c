"""Net gain: what a batch costs at once, and what it wins over the requests still to come.

Changing sent bytes makes the provider write everything behind the first change to its cache
again. Against that stands what every later request no longer reads. Prices are multiples of a
fresh input token.
"""

from msgspec import Struct

from holdfast.core.measure.models import Cache


class Bill(Struct, frozen=True):
    """What a change of the window comes to, in fresh input tokens."""

    cost: float
    """At once: what is written to the cache again, less what would have been read from it."""
    gain: float
    """In all, over the requests to come."""


def weigh(*, removed: int, behind: int, requests: int, cache: Cache, warm: bool = True) -> Bill:
    """Weigh taking `removed` tokens out, with `behind` sent tokens from the first change on.

    `behind` counts what stood there before the change, and nothing that was never sent. A cache
    that has gone cold is written anew in any case: then a change costs nothing.
    """
    read, write = cache.read, cache.write
    again = (write - read) * behind if warm else 0.0
    return Bill(cost=again - write * removed, gain=removed * (write + read * requests) - again)


def refetch(size: int, window: int, cache: Cache, requests: int) -> float:
    """What it costs when something that left is needed again: one more request, and its tokens."""
    return cache.read * window + size * (cache.write + cache.read * requests)
