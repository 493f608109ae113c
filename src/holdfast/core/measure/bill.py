"""Compute the cost of a series of requests: cached prefixes, broken prefixes, fetches.

A meter gets the parts that arrived, the parts of each request, and the names that the agent then
used. It bills only input, in fresh input tokens: an unchanged prefix is read from the cache, the
rest is written to it. If the agent uses a name whose part is no longer in the request, the meter
charges a fetch: one more request, and the tokens of that part.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from holdfast.core.measure.models import Cache


class BilledPart(Struct, frozen=True):
    """One piece of a request, with the fields that a bill needs."""

    key: str
    """Two parts with the same key are the same bytes."""
    tokens: int
    names: frozenset[str]
    """The names, ids and values in its text."""


class RequestFrame(Struct, frozen=True):
    """The tokens of a request that are not in its parts."""

    tokens: int
    """The system prompt, the tools, and everything else that is in no part."""
    share: float = 1.0
    """The share of its parts that was sent, if the provider counted less than all of them."""


class Cost(Struct, frozen=True):
    """The total cost of a series of requests."""

    requests: int
    billed: float
    """Input in fresh tokens, with the fetches."""
    peak: int
    over: int
    """Requests larger than the window."""
    breaks: int
    """Requests whose beginning differs from the request before."""
    fetches: int
    fetched: float
    """The part of `billed` that the fetches cost."""
    sizes: tuple[int, ...] = ()
    """Tokens of each request."""


class BillingMeter:
    """Bills a series of requests, one at a time."""

    def __init__(self, cache: Cache, *, prefix: int, window: int) -> None:
        self._cache, self._frame, self._window = cache, RequestFrame(prefix), window
        self._last: list[BilledPart] = []
        self._visible: Counter[str] = Counter()
        self._origin: dict[str, BilledPart] = {}
        self._pending: list[BilledPart] = []
        self._refetched = 0
        self._fetched_parts: list[BilledPart] = []
        self._sizes: list[int] = []
        self._billed = self._fetched = 0.0
        self._breaks = self._fetches = 0

    def add_arrival(self, part: BilledPart) -> None:
        """Record an original part, before anything replaced it."""
        self._pending.append(part)

    def bill_request(self, parts: Sequence[BilledPart], frame: RequestFrame | None = None) -> int:
        """Bill one request and return its size.

        Without a frame, the last one counts: at first, the prefix.
        """
        same = _common_prefix(self._last, parts)
        self._update_visible(parts, same)
        for part in self._pending:
            self._origin.update(dict.fromkeys(part.names, part))
        self._pending = []
        last, self._frame = self._frame, frame or self._frame
        share = self._frame.share
        read = round(sum(part.tokens for part in parts[:same]) * share)
        fresh = round(sum(part.tokens for part in parts[same:]) * share)
        broken = same < len(self._last)
        self._breaks += broken
        first = not self._sizes
        if broken:
            # The agent has used the fetched parts by now; they leave with the changed ones.
            for part in self._fetched_parts:
                self._visible.subtract(part.names)
            self._fetched_parts, self._refetched = [], 0
        read += self._refetched
        frame_read = 0 if first else min(last.tokens, self._frame.tokens)
        read += frame_read
        fresh += self._frame.tokens - frame_read
        self._billed += self._cache.read * read + self._cache.write * fresh
        self._sizes.append(read + fresh)
        self._last = list(parts)
        return read + fresh

    def _update_visible(self, parts: Sequence[BilledPart], same: int) -> None:
        for part in self._last[same:]:
            self._visible.subtract(part.names)
        for part in parts[same:]:
            self._visible.update(part.names)

    def is_visible(self, name: str) -> bool:
        """Whether the last request contains a name."""
        return self._visible[name] > 0

    def charge_fetches(self, names: Iterable[str]) -> int:
        """Charge a fetch for each part that the agent used without seeing it; return how many."""
        missing = {
            part.key: part
            for name in names
            if self._visible[name] <= 0 and (part := self._origin.get(name)) is not None
        }
        for part in missing.values():
            size = self._sizes[-1] if self._sizes else 0
            cost = self._cache.read * size + self._cache.write * part.tokens
            self._billed += cost
            self._fetched += cost
            self._fetches += 1
            self._refetched += part.tokens
            self._fetched_parts.append(part)
            self._visible.update(part.names)
        return len(missing)

    @property
    def fetched_tokens(self) -> int:
        """Tokens of the fetched parts that are in the window."""
        return self._refetched

    def cost(self) -> Cost:
        """Return the cost so far."""
        return Cost(
            requests=len(self._sizes) + self._fetches,
            billed=self._billed,
            peak=max(self._sizes, default=0),
            over=sum(size > self._window for size in self._sizes),
            breaks=self._breaks,
            fetches=self._fetches,
            fetched=self._fetched,
            sizes=tuple(self._sizes),
        )


def _common_prefix(before: Sequence[BilledPart], after: Sequence[BilledPart]) -> int:
    """Return how many parts at the beginning are equal."""
    same = 0
    for old, new in zip(before, after, strict=False):
        if old is not new and old.key != new.key:
            break
        same += 1
    return same
