"""Render the result of a replay: costs with and without compression, per session and in total."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from holdfast.core.measure.bill import Cost
from holdfast.core.measure.frames import ReportedTotals
from holdfast.core.plan.policy import Policy
from holdfast.core.verify.quality import DIMENSIONS, Dimension, Quality

SPARKLINE_BLOCKS = "▁▂▃▄▅▆▇█"
COSTS_HEADING = (
    f"  {'':8}  {'requests':>8}  {'peak':>11}  {'over':>5}  {'breaks':>6}  {'fetches':>7}"
    f"  {'billed':>13}  {'':>4}  {'summaries':>9}  {'met':>5}  {'recall':>6}"
)


class ReplayCosts(Struct, frozen=True):
    """What one replayed session, or all of them, cost with compression and without."""

    name: str
    ours: Cost
    none: Cost
    model: str = ""
    window: int = 0
    compressions: int = 0
    postponed: int = 0
    scores: tuple[Quality, ...] = ()
    """The score of each summary on its probes."""
    used: int = 0
    """Names from hidden text that the agent used again."""
    seen: int = 0
    """Those of the used names that the window still contained at that moment."""
    tasks: int = 0
    """Requests of the user."""
    profile: str = ""
    reported: ReportedTotals = ReportedTotals()
    """Usage that the provider reported, including rewound requests, which are not replayed."""

    @property
    def recall(self) -> float:
        """Return the share of the names used again that the window still contained."""
        return self.seen / self.used if self.used else 1.0

    @property
    def lowest(self) -> tuple[Dimension, float] | None:
        """Return the score with the largest shortfall from its target, or the smallest excess."""
        return min(
            (
                (dimension, score.to_dict()[dimension.key])
                for score in self.scores
                for dimension in DIMENSIONS
            ),
            key=lambda pair: pair[1] - pair[0].target,
            default=None,
        )

    @property
    def ratio(self) -> float:
        """Return the billed tokens as a share of those without compression."""
        return self.ours.billed / self.none.billed if self.none.billed else 1.0


def render_replay_costs(costs: ReplayCosts, *, width: int = 100) -> str:
    """Render one session: its costs with and without compression, and two size curves."""
    room = max(min(width - 12, 100), 20)
    top = max(costs.ours.peak, costs.none.peak, 1)
    curves = (("holdfast", costs.ours.sizes), ("without", costs.none.sizes))
    return "\n".join(
        [
            f"{costs.name}  ({', '.join(_replay_settings(costs))})",
            *_cost_rows(costs),
            *(
                f"  {name:8}  {sparkline(sizes, top=top, width=room)}"
                for name, sizes in curves
                if sizes
            ),
        ]
    )


def _replay_settings(costs: ReplayCosts) -> list[str]:
    """Return the model, the window and, unless it is the default, the profile of a replay."""
    profile = [f"profile {costs.profile}"] if costs.profile not in ("", Policy().profile) else []
    return [costs.model or "unknown model", f"window {costs.window:,}", *profile]


def render_total(all_costs: Sequence[ReplayCosts]) -> str:
    """Render the sum over all sessions."""
    sessions = f"{len(all_costs)} session{'' if len(all_costs) == 1 else 's'}"
    return "\n".join([f"total of {sessions}", *_cost_rows(total_costs(all_costs))])


def _cost_rows(costs: ReplayCosts) -> list[str]:
    compressions = f"{costs.compressions} compression{'' if costs.compressions == 1 else 's'}"
    postponed = f", {costs.postponed} postponed" if costs.postponed else ""
    return [
        COSTS_HEADING,
        f"{_cost_row('holdfast', costs.ours)}  {costs.ratio:>4.0%}  {_quality_columns(costs)}",
        _cost_row("without", costs.none),
        f"  {compressions}{postponed}{_tokens_per_task(costs)}{_lowest_score(costs)}",
        *([_reported_row(costs)] if costs.reported.requests else []),
    ]


def _reported_row(costs: ReplayCosts) -> str:
    requests = f"{costs.reported.requests:,} request{'' if costs.reported.requests == 1 else 's'}"
    return f"  the provider reported {requests}, the largest of {costs.reported.peak:,} tokens"


def _quality_columns(costs: ReplayCosts) -> str:
    """Render the number of summaries, how many met every target, and the recall."""
    met = (
        f"{sum(score.meets_targets for score in costs.scores)}/{len(costs.scores)}"
        if costs.scores
        else "-"
    )
    recall = f"{costs.recall:.0%}" if costs.used else "-"
    return f"{len(costs.scores):>9,}  {met:>5}  {recall:>6}"


def _tokens_per_task(costs: ReplayCosts) -> str:
    """Render the billed tokens per user request, refetches included."""
    if not costs.tasks:
        return ""
    ours, none = (round(cost.billed / costs.tasks) for cost in (costs.ours, costs.none))
    return f"; {ours:,} tokens a task, {none:,} without"


def _lowest_score(costs: ReplayCosts) -> str:
    if costs.lowest is None:
        return ""
    dimension, score = costs.lowest
    return f"; lowest score: {dimension.name.lower()} {score:.1f} (target {dimension.target:.1f})"


def _cost_row(name: str, cost: Cost) -> str:
    return (
        f"  {name:8}  {cost.requests:>8,}  {cost.peak:>11,}  {cost.over:>5,}  {cost.breaks:>6,}"
        f"  {cost.fetches:>7,}  {round(cost.billed):>13,}"
    )


def total_costs(all_costs: Sequence[ReplayCosts]) -> ReplayCosts:
    """Sum the costs of sessions; a peak is the largest of any session."""
    return ReplayCosts(
        "total",
        _sum_costs([costs.ours for costs in all_costs]),
        _sum_costs([costs.none for costs in all_costs]),
        compressions=sum(costs.compressions for costs in all_costs),
        postponed=sum(costs.postponed for costs in all_costs),
        scores=tuple(score for costs in all_costs for score in costs.scores),
        used=sum(costs.used for costs in all_costs),
        seen=sum(costs.seen for costs in all_costs),
        tasks=sum(costs.tasks for costs in all_costs),
        reported=ReportedTotals(
            sum(costs.reported.requests for costs in all_costs),
            max((costs.reported.peak for costs in all_costs), default=0),
        ),
    )


def _sum_costs(costs: Sequence[Cost]) -> Cost:
    return Cost(
        requests=sum(cost.requests for cost in costs),
        billed=sum(cost.billed for cost in costs),
        peak=max((cost.peak for cost in costs), default=0),
        over=sum(cost.over for cost in costs),
        breaks=sum(cost.breaks for cost in costs),
        fetches=sum(cost.fetches for cost in costs),
        fetched=sum(cost.fetched for cost in costs),
    )


def sparkline(sizes: Sequence[int], *, top: int, width: int) -> str:
    """Draw sizes as blocks from left to right; each block shows the largest size it covers."""
    if not sizes or top <= 0:
        return ""
    columns = min(width, len(sizes))
    bounds = [at * len(sizes) // columns for at in range(columns + 1)]
    highest = [max(sizes[start:end]) for start, end in pairwise(bounds)]
    return "".join(
        SPARKLINE_BLOCKS[min(size * len(SPARKLINE_BLOCKS) // (top + 1), len(SPARKLINE_BLOCKS) - 1)]
        for size in highest
    )


def replay_costs_document(costs: ReplayCosts) -> Mapping[str, object]:
    """Return the costs of one session as a JSON document."""
    return {
        "session": costs.name,
        "model": costs.model,
        "window": costs.window,
        "profile": costs.profile,
        "reported": {"requests": costs.reported.requests, "peak": costs.reported.peak},
        "compressions": costs.compressions,
        "postponed": costs.postponed,
        "ratio": round(costs.ratio, 4),
        "quality": {
            "summaries": len(costs.scores),
            "met": sum(score.meets_targets for score in costs.scores),
            "lowest": {costs.lowest[0].key: costs.lowest[1]} if costs.lowest is not None else None,
            "scores": [score.to_dict() for score in costs.scores],
        },
        "recall": {"used": costs.used, "seen": costs.seen, "share": round(costs.recall, 4)},
        "ours": _cost_document(costs.ours),
        "without": _cost_document(costs.none),
    }


def _cost_document(cost: Cost) -> Mapping[str, object]:
    return {
        "requests": cost.requests,
        "billed": round(cost.billed),
        "peak": cost.peak,
        "over": cost.over,
        "breaks": cost.breaks,
        "fetches": cost.fetches,
        "fetched": round(cost.fetched),
        "sizes": cost.sizes,
    }
