"""What a replay came to: a few lines and two curves a session, and a row for all of them."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from holdfast.core.measure.billing import Cost

BLOCKS = "▁▂▃▄▅▆▇█"
HEADING = (
    f"  {'':8}  {'requests':>8}  {'peak':>11}  {'over':>5}  {'breaks':>6}  {'fetches':>7}"
    f"  {'billed':>13}"
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
            f"{one.name}  ({one.model or 'unknown model'}, window {one.window:,})",
            *_rows(one),
            *(
                f"  {name:8}  {sparkline(sizes, top=top, width=room)}"
                for name, sizes in curves
                if sizes
            ),
        ]
    )


def render_total(bills: Sequence[Bills]) -> str:
    """All sessions as one."""
    count = f"{len(bills)} session{'' if len(bills) == 1 else 's'}"
    return "\n".join([f"total of {count}", *_rows(total_of(bills))])


def _rows(one: Bills) -> list[str]:
    done = f"{one.compressions} compression{'' if one.compressions == 1 else 's'}"
    late = f", {one.postponed} postponed" if one.postponed else ""
    return [
        HEADING,
        _row("holdfast", one.ours) + f"  {one.ratio:.0%}",
        _row("without", one.none),
        f"  {done}{late}",
    ]


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
        "compressions": one.compressions,
        "postponed": one.postponed,
        "ratio": round(one.ratio, 4),
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
