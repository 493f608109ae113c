"""What a replay came to: a few lines and two curves a session, and a row for all of them."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from holdfast.core.measure.bill import Cost
from holdfast.core.measure.frames import Told
from holdfast.core.plan.policy import Policy
from holdfast.core.verify.quality import DIMENSIONS, Dimension, Quality

BLOCKS = "▁▂▃▄▅▆▇█"
HEADING = (
    f"  {'':8}  {'requests':>8}  {'peak':>11}  {'over':>5}  {'breaks':>6}  {'fetches':>7}"
    f"  {'billed':>13}  {'':>4}  {'summaries':>9}  {'met':>5}  {'recall':>6}"
)


class Bills(Struct, frozen=True):
    """One session, or all of them, with compression and without."""

    name: str
    ours: Cost
    none: Cost
    model: str = ""
    window: int = 0
    compressions: int = 0
    postponed: int = 0
    scores: tuple[Quality, ...] = ()
    """How each summary did on its probes."""
    used: int = 0
    """Names that stood in what left and that the agent used again."""
    seen: int = 0
    """Of these, those that were still in sight then."""
    tasks: int = 0
    """Requests of the user."""
    profile: str = ""
    reported: Told = Told()
    """What the provider reported, also of what was rewound since and is not replayed."""

    @property
    def recall(self) -> float:
        """Which part of what was used again was still in sight."""
        return self.seen / self.used if self.used else 1.0

    @property
    def lowest(self) -> tuple[Dimension, float] | None:
        """The score that is furthest below its target, or least above it."""
        return min(
            ((each, one.to_dict()[each.key]) for one in self.scores for each in DIMENSIONS),
            key=lambda pair: pair[1] - pair[0].target,
            default=None,
        )

    @property
    def ratio(self) -> float:
        """What would have been billed, as a part of what it was without."""
        return self.ours.billed / self.none.billed if self.none.billed else 1.0


def render_bills(one: Bills, *, width: int = 100) -> str:
    """One session: what it took with compression and without, and how its window grew."""
    room = max(min(width - 12, 100), 20)
    top = max(one.ours.peak, one.none.peak, 1)
    curves = (("holdfast", one.ours.sizes), ("without", one.none.sizes))
    return "\n".join(
        [
            f"{one.name}  ({', '.join(_facts(one))})",
            *_rows(one),
            *(
                f"  {name:8}  {sparkline(sizes, top=top, width=room)}"
                for name, sizes in curves
                if sizes
            ),
        ]
    )


def _facts(one: Bills) -> list[str]:
    """What a session was replayed with; the profile where it is not the usual one."""
    profile = [f"profile {one.profile}"] if one.profile not in ("", Policy().profile) else []
    return [one.model or "unknown model", f"window {one.window:,}", *profile]


def render_total(bills: Sequence[Bills]) -> str:
    """All sessions as one."""
    count = f"{len(bills)} session{'' if len(bills) == 1 else 's'}"
    return "\n".join([f"total of {count}", *_rows(total_of(bills))])


def _rows(one: Bills) -> list[str]:
    done = f"{one.compressions} compression{'' if one.compressions == 1 else 's'}"
    late = f", {one.postponed} postponed" if one.postponed else ""
    return [
        HEADING,
        f"{_row('holdfast', one.ours)}  {one.ratio:>4.0%}  {_quality(one)}",
        _row("without", one.none),
        f"  {done}{late}{_a_task(one)}{_lowest(one)}",
        *([_reported(one)] if one.reported.requests else []),
    ]


def _reported(one: Bills) -> str:
    many = f"{one.reported.requests:,} request{'' if one.reported.requests == 1 else 's'}"
    return f"  the provider reported {many}, the largest of {one.reported.peak:,} tokens"


def _quality(one: Bills) -> str:
    """How many summaries there were, how many met every target, and what stayed in sight."""
    met = f"{sum(score.met for score in one.scores)}/{len(one.scores)}" if one.scores else "-"
    recall = f"{one.recall:.0%}" if one.used else "-"
    return f"{len(one.scores):>9,}  {met:>5}  {recall:>6}"


def _a_task(one: Bills) -> str:
    """What a request of the user came to, all that was fetched again included."""
    if not one.tasks:
        return ""
    ours, none = (round(cost.billed / one.tasks) for cost in (one.ours, one.none))
    return f"; {ours:,} tokens a task, {none:,} without"


def _lowest(one: Bills) -> str:
    if one.lowest is None:
        return ""
    each, score = one.lowest
    return f"; lowest score: {each.name.lower()} {score:.1f} (target {each.target:.1f})"


def _row(name: str, cost: Cost) -> str:
    return (
        f"  {name:8}  {cost.requests:>8,}  {cost.peak:>11,}  {cost.over:>5,}  {cost.breaks:>6,}"
        f"  {cost.fetches:>7,}  {round(cost.billed):>13,}"
    )


def total_of(bills: Sequence[Bills]) -> Bills:
    """The sums over sessions; peaks are the largest of any."""
    return Bills(
        "total",
        _sum([one.ours for one in bills]),
        _sum([one.none for one in bills]),
        compressions=sum(one.compressions for one in bills),
        postponed=sum(one.postponed for one in bills),
        scores=tuple(score for one in bills for score in one.scores),
        used=sum(one.used for one in bills),
        seen=sum(one.seen for one in bills),
        tasks=sum(one.tasks for one in bills),
        reported=Told(
            sum(one.reported.requests for one in bills),
            max((one.reported.peak for one in bills), default=0),
        ),
    )


def _sum(costs: Sequence[Cost]) -> Cost:
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
    """Sizes as blocks from left to right; each block is the largest of what it stands for."""
    if not sizes or top <= 0:
        return ""
    columns = min(width, len(sizes))
    bounds = [at * len(sizes) // columns for at in range(columns + 1)]
    highest = [max(sizes[start:end]) for start, end in pairwise(bounds)]
    return "".join(
        BLOCKS[min(size * len(BLOCKS) // (top + 1), len(BLOCKS) - 1)] for size in highest
    )


def bills_document(one: Bills) -> Mapping[str, object]:
    """The same for a program."""
    return {
        "session": one.name,
        "model": one.model,
        "window": one.window,
        "profile": one.profile,
        "reported": {"requests": one.reported.requests, "peak": one.reported.peak},
        "compressions": one.compressions,
        "postponed": one.postponed,
        "ratio": round(one.ratio, 4),
        "quality": {
            "summaries": len(one.scores),
            "met": sum(score.met for score in one.scores),
            "lowest": {one.lowest[0].key: one.lowest[1]} if one.lowest is not None else None,
            "scores": [score.to_dict() for score in one.scores],
        },
        "recall": {"used": one.used, "seen": one.seen, "share": round(one.recall, 4)},
        "ours": _document(one.ours),
        "without": _document(one.none),
    }


def _document(cost: Cost) -> Mapping[str, object]:
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
