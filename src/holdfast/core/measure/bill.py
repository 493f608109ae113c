"""What a run of requests costs: cached prefixes, what breaks them, what is fetched again.

A meter is told what arrived, what each request holds, and which names the agent then used. It
bills input alone, in fresh input tokens: a prefix that stands as it stood before is read from the
cache, the rest is written to it. A name that the agent uses, that once stood in something and is
in sight nowhere any more, is charged as a fetch: one more request, and what it stood in.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from holdfast.core.measure.models import Cache


class Part(Struct, frozen=True):
    """One piece of a request, as far as a bill is concerned."""

    key: str
    """Two parts with the same key are the same bytes."""
    tokens: int
    names: frozenset[str]
    """The names, ids and values that stand in it."""


class Frame(Struct, frozen=True):
    """What a request holds beside its parts."""

    tokens: int
    """The system prompt, the tools, and whatever else no part shows."""
    share: float = 1.0
    """The share of its parts that was really sent, where the provider counted less than them."""


class Cost(Struct, frozen=True):
    """What a run of requests came to."""

    requests: int
    billed: float
    """Input in fresh tokens, fetches included."""
    peak: int
    over: int
    """Requests larger than the window."""
    breaks: int
    """Requests whose beginning was not as it had been sent before."""
    fetches: int
    fetched: float
    """What the fetches cost, of what was billed."""
    sizes: tuple[int, ...] = ()
    """Tokens of each request."""


class Meter:
    """Bills a run of requests as it goes."""

    def __init__(self, cache: Cache, *, prefix: int, window: int) -> None:
        self._cache, self._frame, self._window = cache, Frame(prefix), window
        self._last: list[Part] = []
        self._sight: Counter[str] = Counter()
        self._home: dict[str, Part] = {}
        self._waiting: list[Part] = []
        self._again = 0
        self._fetched_parts: list[Part] = []
        self._sizes: list[int] = []
        self._billed = self._fetched = 0.0
        self._breaks = self._fetches = 0

    def arrived(self, part: Part) -> None:
        """Take note of something as it came, before anything was made of it."""
        self._waiting.append(part)

    def request(self, parts: Sequence[Part], frame: Frame | None = None) -> int:
        """Bill one request; returns its size.

        A frame that is not given is the last one: at first, the prefix.
        """
        same = _common(self._last, parts)
        self._look(parts, same)
        for part in self._waiting:
            self._home.update(dict.fromkeys(part.names, part))
        self._waiting = []
        last, self._frame = self._frame, frame or self._frame
        share = self._frame.share
        read = round(sum(part.tokens for part in parts[:same]) * share)
        fresh = round(sum(part.tokens for part in parts[same:]) * share)
        broken = same < len(self._last)
        self._breaks += broken
        first = not self._sizes
        if broken:
            # What was fetched once has been used by now, and leaves with the rest.
            for part in self._fetched_parts:
                self._sight.subtract(part.names)
            self._fetched_parts, self._again = [], 0
        read += self._again
        kept = 0 if first else min(last.tokens, self._frame.tokens)
        read += kept
        fresh += self._frame.tokens - kept
        self._billed += self._cache.read * read + self._cache.write * fresh
        self._sizes.append(read + fresh)
        self._last = list(parts)
        return read + fresh

    def _look(self, parts: Sequence[Part], same: int) -> None:
        for part in self._last[same:]:
            self._sight.subtract(part.names)
        for part in parts[same:]:
            self._sight.update(part.names)

    def sees(self, name: str) -> bool:
        """Whether a name stood in the last request."""
        return self._sight[name] > 0

    def used(self, names: Iterable[str]) -> int:
        """Charge what the agent used and could not see; returns how many fetches that took."""
        missing = {
            part.key: part
            for name in names
            if self._sight[name] <= 0 and (part := self._home.get(name)) is not None
        }
        for part in missing.values():
            size = self._sizes[-1] if self._sizes else 0
            cost = self._cache.read * size + self._cache.write * part.tokens
            self._billed += cost
            self._fetched += cost
            self._fetches += 1
            self._again += part.tokens
            self._fetched_parts.append(part)
            self._sight.update(part.names)
        return len(missing)

    @property
    def again(self) -> int:
        """Tokens that stand in the window because they were fetched."""
        return self._again

    def cost(self) -> Cost:
        """What it came to so far."""
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


def _common(before: Sequence[Part], after: Sequence[Part]) -> int:
    """How many parts at the beginning are the same."""
    same = 0
    for old, new in zip(before, after, strict=False):
        if old is not new and old.key != new.key:
            break
        same += 1
    return same
