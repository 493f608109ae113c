"""The five measures of success, before and after: did packets, or a change to them, help?"""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from holdfast.core.view.packet_stats.efficiency import Share, error_of, mean
from holdfast.core.view.packet_stats.records import Record

FEWEST = 10
"""Tasks on either side from which on a difference says anything."""


class Measure(Struct, frozen=True):
    """One measure on both sides of a point, and what can be said of the difference."""

    name: str
    what: str
    before: float | None
    after: float | None
    tasks: tuple[int, int]
    """How many tasks each side is of."""
    wanted: str
    """`more` or `less`: which way is better."""
    verdict: str
    """`better`, `worse`, `no difference to be seen` or `not enough yet`."""


class Split(Struct, frozen=True):
    """Records on both sides of a point, and what that point is."""

    what: str
    before: tuple[Record, ...]
    after: tuple[Record, ...]


def split(records: Sequence[Record], *, since: str = "") -> Split:
    """Where before ends and after begins: a moment; else the newest tuning; else having a packet.

    Where none of these parts the records, the older half is compared with the newer.
    """
    if since:
        return _parted(records, f"before and since {since}", lambda one: one.at >= since)
    newest = max((one.tuning for one in records), default=0)
    if newest and any(one.tuning < newest for one in records):
        return _parted(records, f"tuning {newest}", lambda one: one.tuning >= newest)
    if any(not one.context_sent for one in records) and any(one.context_sent for one in records):
        return _parted(records, "without and with a packet", lambda one: one.context_sent > 0)
    half = len(records) // 2
    return Split("older and newer half", tuple(records[:half]), tuple(records[half:]))


def _parted(records: Sequence[Record], what: str, is_after: Callable[[Record], bool]) -> Split:
    after = tuple(one for one in records if is_after(one))
    return Split(what, tuple(one for one in records if not is_after(one)), after)


def measures(parted: Split) -> tuple[Measure, ...]:
    """The five measures on both sides."""
    return (
        _share(
            parted,
            "worker success",
            "share of tasks that were done",
            "more",
            lambda some: _told(one.success for one in some),
        ),
        _mean(
            parted,
            "tokens per task",
            "tokens that a worker needed for its task",
            "less",
            lambda some: [float(one.tokens_used) for one in some if one.tokens_used],
        ),
        _mean(
            parted,
            "looked up again",
            "things per task that the orchestrator knew already",
            "less",
            lambda some: [float(one.explored) for one in some],
        ),
        _mean(
            parted,
            "context gaps",
            "gaps per task that workers reported",
            "less",
            lambda some: [float(len(one.gaps)) for one in some],
        ),
        _share(
            parted,
            "written by hand",
            "share of tasks whose packet somebody had to write on, or that had none",
            "less",
            lambda some: [one.edited or not one.context_sent for one in some],
        ),
    )


def _told(values: Iterable[bool | None]) -> list[bool]:
    return [value for value in values if value is not None]


def _share(
    parted: Split,
    name: str,
    what: str,
    wanted: str,
    told: Callable[[Sequence[Record]], list[bool]],
) -> Measure:
    was, now = told(parted.before), told(parted.after)
    before, after = Share(sum(was), len(was)), Share(sum(now), len(now))
    higher, lower = after.surely_above(before), before.surely_above(after)
    return Measure(
        name,
        what,
        before.rate if was else None,
        after.rate if now else None,
        (len(was), len(now)),
        wanted,
        _verdict(len(was), len(now), higher=higher, lower=lower, wanted=wanted),
    )


def _mean(
    parted: Split,
    name: str,
    what: str,
    wanted: str,
    told: Callable[[Sequence[Record]], list[float]],
) -> Measure:
    was, now = told(parted.before), told(parted.after)
    spread = error_of(was) + error_of(now)
    gap = (mean(now) - mean(was)) if was and now else 0.0
    return Measure(
        name,
        what,
        mean(was) if was else None,
        mean(now) if now else None,
        (len(was), len(now)),
        wanted,
        _verdict(len(was), len(now), higher=gap > spread, lower=-gap > spread, wanted=wanted),
    )


def _verdict(was: int, now: int, *, higher: bool, lower: bool, wanted: str) -> str:
    if min(was, now) < FEWEST:
        return "not enough yet"
    if not higher and not lower:
        return "no difference to be seen"
    return "better" if higher == (wanted == "more") else "worse"
