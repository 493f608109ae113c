"""Usage and Level: how full a window is, and what the colour of that means.

One law holds for every number here: the size of a window is its overhead plus the tokens of its
messages, and `split` divides the latter so that the parts add up to it.

The bounds are half open: a value on a bound belongs to the higher level.
"""

from collections.abc import Sequence
from enum import Enum
from math import floor

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.head import Calibration, Lane
from holdfast.core.measure.models import Model
from holdfast.core.measure.tokens import guess

PRIOR_WEIGHT = 2_000
"""Raw tokens that the model table's factor counts for, against what providers reported."""
PLAUSIBLE = (0.5, 3.0)
"""No vocabulary differs from another by more; a factor outside was learned from noise."""


class Level(Enum):
    """How full a window is, with what to do about it."""

    GREEN = "GREEN"
    YELLOW = "YELLOW"
    ORANGE = "ORANGE"
    RED = "RED"
    CRITICAL = "CRITICAL"

    @property
    def action(self) -> str:
        """What this level asks for, in the protocol's own words."""
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
    """The level of a window that is so full."""
    return next((level for bound, level in BOUNDS if fraction < bound), Level.CRITICAL)


class Usage(Struct, frozen=True):
    """How full a window is."""

    tokens: int
    limit: int
    """The effective window: the model's, less what is kept free for the answer."""
    method: str
    """`exact`, `calibrated` or `estimated`: how the tokens were found."""
    overhead: int = 0
    """The part of the tokens that is in no message: system prompt, tools, framing."""
    limit_from: str = ""
    """Where the limit comes from: `model` (the table), `assumed` for a model that is not in it,
    `learned` from the provider, or `set` by the user."""

    @property
    def messages(self) -> int:
        """The part of the tokens that is in the messages."""
        return self.tokens - self.overhead

    @property
    def fraction(self) -> float:
        """Tokens in sight as a part of the effective window."""
        return self.tokens / self.limit if self.limit > 0 else 1.0

    def percent(self, digits: int = 1) -> str:
        """The fraction as it is told: rounded down, so that it never says more than the level."""
        scale = 10**digits
        parts = self.tokens * 100 * scale // self.limit if self.limit > 0 else 100 * scale
        return f"{parts / scale:.{digits}f}%"

    @property
    def how(self) -> str:
        """How the numbers were found, in words."""
        said = self.limit_from in ("learned", "set")
        return f"{self.method}, limit {self.limit_from}" if said else self.method

    @property
    def level(self) -> Level:
        """The level that stands for the fraction."""
        return level_of(self.fraction)

    @property
    def action(self) -> str:
        """What that level asks for."""
        return self.level.action


def factor_of(model: Model, known: Calibration) -> float:
    """Tokens of the model for one raw token: the table's word, outweighed by what was reported.

    A model's own vocabulary needs no factor: what it reports beyond the count is overhead.
    """
    if model.exact:
        return 1.0
    learned = (model.factor * PRIOR_WEIGHT + known.billed) / (PRIOR_WEIGHT + known.grown)
    return min(max(learned, PLAUSIBLE[0]), PLAUSIBLE[1])


def scaled(raw: int, model: Model, known: Calibration) -> int:
    """Tokens of messages that have `raw` tokens in the vocabulary."""
    return floor(max(raw, 0) * factor_of(model, known) + 0.5)


def overhead_of(model: Model, known: Calibration) -> int:
    """Tokens of the last report that its messages do not explain; zero without a report.

    A report below the count of the messages tells of a window that the agent's program cut in a
    way that its transcript does not show. The messages are then the larger, safer number.
    """
    return max(known.size - scaled(known.raw, model, known), 0)


def estimate(raw: int, model: Model, known: Calibration) -> int:
    """The size a provider would report for a window whose messages have `raw` tokens."""
    return scaled(raw, model, known) + overhead_of(model, known)


def split(total: int, raws: Sequence[int]) -> list[int]:
    """A total split in proportion to raw tokens, in whole tokens that add up to it."""
    whole = sum(raws)
    if total == whole:
        return list(raws)
    if whole <= 0:
        return [0] * len(raws)
    parts = [total * raw // whole for raw in raws]
    rest = [total * raw % whole for raw in raws]
    # The tokens that rounding down left over go to the largest remainders.
    for at in sorted(range(len(raws)), key=lambda at: -rest[at])[: total - sum(parts)]:
        parts[at] += 1
    return parts


def usage_of(
    raw: int, model: Model, known: Calibration, limit: int, method: str, limit_from: str = ""
) -> Usage:
    """How full a window is whose messages have `raw` tokens in the vocabulary."""
    overhead = overhead_of(model, known)
    return Usage(estimate(raw, model, known), limit, method, overhead, limit_from)


def measure(lane: Lane, model: Model, limit: int, limit_from: str = "") -> Usage:
    """How full a lane's window is."""
    raw = lane.tokens + guess(lane.uncounted)
    usage = usage_of(raw, model, lane.calibration, limit, _method(lane, model), limit_from)
    waiting = max(lane.reported - usage.tokens, 0)
    if not waiting:
        return usage
    return replace(usage, tokens=lane.reported, overhead=usage.overhead + waiting)


def measure_at_most(lane: Lane, model: Model, limit: int) -> Usage:
    """How full it can be at the most: every byte that nobody counted taken for a token."""
    grown = replace(lane, tokens=lane.tokens + lane.uncounted, uncounted=0)
    most = lane.reported and lane.reported + lane.uncounted
    return replace(measure(replace(grown, reported=most), model, limit), method="estimated")


def _method(lane: Lane, model: Model) -> str:
    if lane.uncounted:
        return "estimated"
    if lane.calibration.requests:
        return "calibrated"
    return "exact" if model.exact else "estimated"
