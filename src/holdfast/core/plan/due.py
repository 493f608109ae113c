"""Whether anything is due, found from the sums alone: a turn that needs nothing costs nothing."""

from msgspec import Struct

from holdfast.core.ledger.head import Lane
from holdfast.core.measure.usage import Usage
from holdfast.core.plan.policy import Policy

SMALLEST_GROWTH = 0.05
"""Of the raw tokens weighed last: less new than this is not weighed again."""
SAME_TURN_GROWTH = 0.20
"""The same after a compression, as long as the user has not spoken again."""


class Due(Struct, frozen=True):
    """What a window calls for."""

    action: str = ""
    """`weigh` a batch, make it whatever it costs (`force`), or nothing."""
    trigger: str = ""
    boundary: bool = False
    """Whether what was done so far is finished: then a summary may stand for it at any level."""


NOTHING = Due()


def due(usage: Usage, lane: Lane, policy: Policy) -> Due:
    """What is due for a window that is so full."""
    percent, at = usage.fraction * 100, policy.at
    if percent >= at.critical:
        return Due("force", f"context at {percent:.0f}%, critical from {at.critical}%")
    if at.tokens and usage.tokens >= at.tokens:
        return Due("force", f"{usage.tokens:,} tokens, limit {at.tokens:,}")
    if percent >= at.summary:
        return Due("weigh", f"context at {percent:.0f}%, tier 3 from {at.summary}%")
    if percent >= at.batch:
        return Due("weigh", f"context at {percent:.0f}%, tiers 1 and 2 from {at.batch}%")
    if at.turns and lane.turns > at.turns:
        return Due("weigh", f"{lane.turns} turns, weighed above {at.turns}")
    return NOTHING


def ripe(lane: Lane, usage: Usage) -> bool:
    """Whether enough has come since it was last weighed.

    After a compression inside the same turn, the window first has to grow back by what was taken
    out of it, or by a good part of itself when it is over its limit. That holds whatever the
    counts are worth: a counter that is wrong by any factor is wrong in both.
    """
    if not lane.weighed:
        return True
    grown = lane.tokens - lane.weighed
    if lane.reclaimed and lane.turns == lane.weighed_turn:
        back = 0 if usage.fraction >= 1 else lane.reclaimed
        return grown >= max(back, SAME_TURN_GROWTH * lane.weighed)
    return grown >= SMALLEST_GROWTH * lane.weighed
