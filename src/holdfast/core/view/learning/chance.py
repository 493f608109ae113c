"""Shares of small numbers, honestly: an interval says what a few tasks cannot tell."""

from collections.abc import Sequence
from math import inf, sqrt

from msgspec import Struct

Z = 1.96
"""An interval holds the true share nineteen times in twenty."""


class Share(Struct, frozen=True):
    """How often something came about, and between what bounds that may really be."""

    hits: int
    of: int

    @property
    def rate(self) -> float:
        """The share that was seen; 0 when nothing was."""
        return self.hits / self.of if self.of else 0.0

    @property
    def low(self) -> float:
        """The lower end of its Wilson interval."""
        return self._bounds()[0]

    @property
    def high(self) -> float:
        """The upper end of it; nothing seen may be anything."""
        return self._bounds()[1]

    def _bounds(self) -> tuple[float, float]:
        if not self.of:
            return 0.0, 1.0
        n, p = self.of, self.rate
        middle = p + Z * Z / (2 * n)
        spread = Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
        scale = 1 + Z * Z / n
        return max((middle - spread) / scale, 0.0), min((middle + spread) / scale, 1.0)

    def surely_above(self, other: "Share") -> bool:
        """Whether the two differ by more than chance would have it."""
        return self.low > other.high


def told(share: Share) -> str:
    """A share as a reader gets it: with its bounds and how many tasks it is of."""
    if not share.of:
        return "no task yet"
    return f"{share.rate:.0%} ({share.low:.0%}-{share.high:.0%}, {share.hits} of {share.of})"


def mean(values: Sequence[float]) -> float:
    """The average; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def median(values: Sequence[float]) -> float:
    """What stands in the middle; 0 of nothing."""
    order = sorted(values)
    half = len(order) // 2
    if not order:
        return 0.0
    return order[half] if len(order) % 2 else (order[half - 1] + order[half]) / 2


def error_of(values: Sequence[float]) -> float:
    """How far off an average of these may be; anything, when there are not two."""
    if len(values) < 2:
        return inf
    middle = mean(values)
    spread = sum((value - middle) ** 2 for value in values) / (len(values) - 1)
    return Z * sqrt(spread / len(values))
