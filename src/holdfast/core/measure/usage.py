"""Usage and Level: how full a window is, and what the colour of that means.

The bounds are half open: a value on a bound belongs to the higher level.
"""

from enum import Enum

from msgspec import Struct

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
    def level(self) -> Level:
        """The level that stands for the fraction."""
        return level_of(self.fraction)

    @property
    def action(self) -> str:
        """What that level asks for."""
        return self.level.action


def factor_of(model: Model, known: Calibration) -> float:
    """Tokens of the model for one raw token: the table's word, outweighed by what was reported."""
    learned = (model.factor * PRIOR_WEIGHT + known.billed) / (PRIOR_WEIGHT + known.grown)
    return min(max(learned, PLAUSIBLE[0]), PLAUSIBLE[1])


def estimate(raw: int, model: Model, known: Calibration) -> int:
    """The size a provider would report for a window of `raw` tokens.

    The last report already holds what no ledger sees (system prompt, tools, framing): only what
    changed since is estimated.
    """
    factor = factor_of(model, known)
    if not known.requests:
        return round(raw * (1.0 if model.exact else factor))
    return max(round(known.size + (raw - known.raw) * factor), 0)


def measure(lane: Lane, model: Model, limit: int) -> Usage:
    """How full a lane's window is."""
    raw = lane.tokens + guess(lane.uncounted)
    tokens = max(estimate(raw, model, lane.calibration), lane.reported)
    return Usage(tokens, limit, _method(lane, model))


def measure_at_most(lane: Lane, model: Model, limit: int) -> Usage:
    """How full it can be at the most: every byte that nobody counted taken for a token."""
    raw = lane.tokens + lane.uncounted
    most = lane.reported and lane.reported + lane.uncounted
    return Usage(max(estimate(raw, model, lane.calibration), most), limit, "estimated")


def _method(lane: Lane, model: Model) -> str:
    if lane.uncounted:
        return "estimated"
    if lane.calibration.requests:
        return "calibrated"
    return "exact" if model.exact else "estimated"
