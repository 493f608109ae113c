"""Compare five measures of success before and after a point: did packets or a change help?"""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from holdfast.core.view.packet_stats.efficiency import TaskShare, error_of_mean, mean
from holdfast.core.view.packet_stats.records import TaskRecord

MIN_TASKS_PER_SIDE = 10
"""Tasks that each side needs before a difference supports a conclusion."""


class Measure(Struct, frozen=True):
    """One measure before and after, and a verdict on the difference."""

    name: str
    what: str
    before: float | None
    after: float | None
    tasks: tuple[int, int]
    """Number of tasks on each side."""
    wanted: str
    """The better direction: `more` or `less`."""
    verdict: str
    """`better`, `worse`, `no difference to be seen` or `not enough yet`."""


class RecordSplit(Struct, frozen=True):
    """Records before and after a point, with the name of that point."""

    what: str
    before: tuple[TaskRecord, ...]
    after: tuple[TaskRecord, ...]


def split_records(records: Sequence[TaskRecord], *, since: str = "") -> RecordSplit:
    """Split records at a moment; else at the newest tuning; else by having a packet.

    When none of these divides the records, compare the older half with the newer one.
    """
    if since:
        return _split_by(records, f"before and since {since}", lambda record: record.at >= since)
    newest = max((record.tuning for record in records), default=0)
    if newest and any(record.tuning < newest for record in records):
        return _split_by(records, f"tuning {newest}", lambda record: record.tuning >= newest)
    if any(not record.context_sent for record in records) and any(
        record.context_sent for record in records
    ):
        return _split_by(
            records, "without and with a packet", lambda record: record.context_sent > 0
        )
    half = len(records) // 2
    return RecordSplit("older and newer half", tuple(records[:half]), tuple(records[half:]))


def _split_by(
    records: Sequence[TaskRecord], what: str, is_after: Callable[[TaskRecord], bool]
) -> RecordSplit:
    after = tuple(record for record in records if is_after(record))
    return RecordSplit(what, tuple(record for record in records if not is_after(record)), after)


def compare_measures(sides: RecordSplit) -> tuple[Measure, ...]:
    """Return the five measures before and after the split."""
    return (
        _share_measure(
            sides,
            "worker success",
            "share of tasks that were done",
            "more",
            lambda some: _known(record.success for record in some),
        ),
        _mean_measure(
            sides,
            "tokens per task",
            "tokens that a worker needed for its task",
            "less",
            lambda some: [float(record.tokens_used) for record in some if record.tokens_used],
        ),
        _mean_measure(
            sides,
            "looked up again",
            "things per task that the orchestrator knew already",
            "less",
            lambda some: [float(record.explored) for record in some],
        ),
        _mean_measure(
            sides,
            "context gaps",
            "gaps per task that workers reported",
            "less",
            lambda some: [float(len(record.gaps)) for record in some],
        ),
        _share_measure(
            sides,
            "written by hand",
            "share of tasks whose packet somebody had to write on, or that had none",
            "less",
            lambda some: [record.edited or not record.context_sent for record in some],
        ),
    )


def _known(values: Iterable[bool | None]) -> list[bool]:
    return [value for value in values if value is not None]


def _share_measure(
    sides: RecordSplit,
    name: str,
    what: str,
    wanted: str,
    values_of: Callable[[Sequence[TaskRecord]], list[bool]],
) -> Measure:
    was, now = values_of(sides.before), values_of(sides.after)
    before, after = TaskShare(sum(was), len(was)), TaskShare(sum(now), len(now))
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


def _mean_measure(
    sides: RecordSplit,
    name: str,
    what: str,
    wanted: str,
    values_of: Callable[[Sequence[TaskRecord]], list[float]],
) -> Measure:
    was, now = values_of(sides.before), values_of(sides.after)
    spread = error_of_mean(was) + error_of_mean(now)
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
    if min(was, now) < MIN_TASKS_PER_SIDE:
        return "not enough yet"
    if not higher and not lower:
        return "no difference to be seen"
    return "better" if higher == (wanted == "more") else "worse"
