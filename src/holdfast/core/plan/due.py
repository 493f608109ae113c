"""Decide whether a compression is due, from token sums alone.

No entry is read for this, so a turn without a due compression costs almost nothing.
"""

from msgspec import Struct

from holdfast.core.ledger.head import Lane
from holdfast.core.measure.usage import Usage
from holdfast.core.plan.policy import Policy

MIN_GROWTH = 0.05
"""Share of the raw tokens at the last weighing by which a window must grow to be weighed again."""
MIN_GROWTH_IN_SAME_TURN = 0.20
"""The same share after a compression, until the user speaks again."""


class Due(Struct, frozen=True):
    """The action that is due for a window."""

    action: str = ""
    """`weigh`: plan a batch and apply it if it pays; `force`: apply it at any cost; or empty."""
    trigger: str = ""
    boundary: bool = False
    """Whether the work so far is finished; then a summary may replace it at any usage level."""


NOTHING_DUE = Due()


def due(usage: Usage, lane: Lane, policy: Policy) -> Due:
    """Return the action that is due at a given usage of the window."""
    percent, bounds = usage.fraction * 100, policy.at
    if percent >= bounds.critical:
        return Due("force", f"context at {percent:.0f}%, critical from {bounds.critical}%")
    if bounds.tokens and usage.tokens >= bounds.tokens:
        return Due("force", f"{usage.tokens:,} tokens, limit {bounds.tokens:,}")
    if percent >= bounds.summary:
        return Due("weigh", f"context at {percent:.0f}%, tier 3 from {bounds.summary}%")
    if percent >= bounds.batch:
        return Due("weigh", f"context at {percent:.0f}%, tiers 1 and 2 from {bounds.batch}%")
    if bounds.turns and lane.turns > bounds.turns:
        return Due("weigh", f"{lane.turns} turns, weighed above {bounds.turns}")
    return NOTHING_DUE


def grown_enough(lane: Lane, usage: Usage) -> bool:
    """Whether the window has grown enough since it was last weighed.

    After a compression in the same turn, the window must first grow by the tokens that were
    removed; if it is over its limit, by a fixed share of its size. Both sides of the comparison
    are raw counts, so a counter that is wrong by a constant factor does not matter.
    """
    if not lane.weighed:
        return True
    grown = lane.tokens - lane.weighed
    if lane.reclaimed and lane.turns == lane.weighed_turn:
        regrowth = 0 if usage.fraction >= 1 else lane.reclaimed
        return grown >= max(regrowth, MIN_GROWTH_IN_SAME_TURN * lane.weighed)
    return grown >= MIN_GROWTH * lane.weighed
