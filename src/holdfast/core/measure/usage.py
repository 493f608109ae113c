"""Usage and Level: estimate the tokens of a window, and map its fullness to a level.

The size of a window is always its overhead plus the tokens of its messages, and
`split_proportionally` divides the latter so that the parts add up to it. A value on the bound of
a level belongs to the higher level.
"""

from collections.abc import Sequence
from enum import Enum
from math import floor

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.head import Calibration, Lane
from holdfast.core.measure.models import Model
from holdfast.core.measure.tokens import tokens_from_bytes

PRIOR_WEIGHT = 2_000
"""The weight of the factor in the model table against reports, in raw tokens."""
FACTOR_RANGE = (0.5, 3.0)
"""Vocabularies do not differ by more; a factor outside of it was learned from noise."""


class Level(Enum):
    """How full a window is, in five steps with an action each."""

    GREEN = "GREEN"
    YELLOW = "YELLOW"
    ORANGE = "ORANGE"
    RED = "RED"
    CRITICAL = "CRITICAL"

    @property
    def action(self) -> str:
        """The action for this level, as the protocol words it."""
        return ACTIONS[self]


BOUNDS: tuple[tuple[float, Level], ...] = (
    (0.25, Level.GREEN),
    (0.50, Level.YELLOW),
    (0.75, Level.ORANGE),
    (0.85, Level.RED),
)

ACTIONS = {
    Level.GREEN: "Continue normally",
    Level.YELLOW: "Monitor, prepare compression",
    Level.ORANGE: "Apply Tier 1 & 2",
    Level.RED: "Apply Tier 3 summarisation",
    Level.CRITICAL: "Checkpoint + fresh session",
}


def level_of(fraction: float) -> Level:
    """Return the level of a fraction of the window."""
    return next((level for bound, level in BOUNDS if fraction < bound), Level.CRITICAL)


class Usage(Struct, frozen=True):
    """The size of a window and its limit."""

    tokens: int
    limit: int
    """The effective window: the model's window less the tokens reserved for the answer."""
    method: str
    """How the tokens were counted: `exact`, `calibrated` or `estimated`."""
    overhead: int = 0
    """Tokens that are not in messages: system prompt, tools, framing."""
    limit_from: str = ""
    """The source of the limit: `model` (the table), `assumed` for a model that is not in it,
    `learned` from the provider, or `set` by the user."""

    @property
    def messages(self) -> int:
        """Tokens of the messages."""
        return self.tokens - self.overhead

    @property
    def fraction(self) -> float:
        """Tokens as a fraction of the effective window."""
        return self.tokens / self.limit if self.limit > 0 else 1.0

    def percent(self, digits: int = 1) -> str:
        """Format the fraction, rounded down so that it never shows more than the level."""
        scale = 10**digits
        parts = self.tokens * 100 * scale // self.limit if self.limit > 0 else 100 * scale
        return f"{parts / scale:.{digits}f}%"

    @property
    def how(self) -> str:
        """How tokens and limit were found, as text."""
        has_origin = self.limit_from in ("learned", "set")
        return f"{self.method}, limit {self.limit_from}" if has_origin else self.method

    @property
    def level(self) -> Level:
        """The level of the fraction."""
        return level_of(self.fraction)

    @property
    def action(self) -> str:
        """The action for the level."""
        return self.level.action


def factor_of(model: Model, known: Calibration) -> float:
    """Return the model's tokens for one raw token: the table's value, corrected by reports.

    A model's own vocabulary needs no factor: reported tokens beyond the count are overhead.
    """
    if model.exact:
        return 1.0
    learned = (model.factor * PRIOR_WEIGHT + known.billed) / (PRIOR_WEIGHT + known.grown)
    return min(max(learned, FACTOR_RANGE[0]), FACTOR_RANGE[1])


def scale_tokens(raw: int, model: Model, known: Calibration) -> int:
    """Return the model's tokens of messages with `raw` tokens in the vocabulary."""
    return floor(max(raw, 0) * factor_of(model, known) + 0.5)


def overhead_of(model: Model, known: Calibration) -> int:
    """Return the tokens of the last report that are not in its messages; 0 without a report.

    A report below the count of the messages means that the agent's program cut the window in a way
    that its transcript does not show. The count is then the larger, safer number.
    """
    return max(known.size - scale_tokens(known.raw, model, known), 0)


def estimate_size(raw: int, model: Model, known: Calibration) -> int:
    """Estimate the size that a provider reports if the messages have `raw` tokens."""
    return scale_tokens(raw, model, known) + overhead_of(model, known)


def split_proportionally(total: int, raws: Sequence[int]) -> list[int]:
    """Split a total in proportion to raw tokens into whole tokens that add up to it."""
    whole = sum(raws)
    if total == whole:
        return list(raws)
    if whole <= 0:
        return [0] * len(raws)
    parts = [total * raw // whole for raw in raws]
    rest = [total * raw % whole for raw in raws]
    # Add the tokens lost by rounding down to the parts with the largest remainders.
    for at in sorted(range(len(raws)), key=lambda at: -rest[at])[: total - sum(parts)]:
        parts[at] += 1
    return parts


def estimate_usage(
    raw: int, model: Model, known: Calibration, limit: int, method: str, limit_from: str = ""
) -> Usage:
    """Estimate the usage of a window whose messages have `raw` tokens in the vocabulary."""
    overhead = overhead_of(model, known)
    return Usage(estimate_size(raw, model, known), limit, method, overhead, limit_from)


def measure(lane: Lane, model: Model, limit: int, limit_from: str = "") -> Usage:
    """Return the usage of a lane's window."""
    raw = lane.tokens + tokens_from_bytes(lane.uncounted)
    usage = estimate_usage(raw, model, lane.calibration, limit, _method(lane, model), limit_from)
    waiting = max(lane.reported - usage.tokens, 0)
    if not waiting:
        return usage
    return replace(usage, tokens=lane.reported, overhead=usage.overhead + waiting)


def measure_at_most(lane: Lane, model: Model, limit: int) -> Usage:
    """Return an upper bound of the usage: each uncounted byte counts as a token."""
    grown = replace(lane, tokens=lane.tokens + lane.uncounted, uncounted=0)
    most = lane.reported and lane.reported + lane.uncounted
    return replace(measure(replace(grown, reported=most), model, limit), method="estimated")


def _method(lane: Lane, model: Model) -> str:
    if lane.uncounted:
        return "estimated"
    if lane.calibration.requests:
        return "calibrated"
    return "exact" if model.exact else "estimated"
