"""Compute from task records how much context was enough, which sections were unused, which missing.

Every result is a share with its confidence interval. Where there are too few tasks for a
conclusion, the result says so and nothing is derived from it.
"""

from collections.abc import Iterable, Sequence
from math import inf, sqrt

from msgspec import Struct

from holdfast.core.view.packet.layers import SECTIONS
from holdfast.core.view.packet_stats.records import Gap, TaskRecord, group_gaps, names_section
from holdfast.core.view.search.ranking import Stems

# Shares of few tasks are uncertain, so each has a confidence interval.


Z_95 = 1.96
"""Normal quantile of a 95 % confidence interval."""


class TaskShare(Struct, frozen=True):
    """A share of tasks, with its confidence interval."""

    hits: int
    of: int

    @property
    def rate(self) -> float:
        """Return the observed share; 0 without observations."""
        return self.hits / self.of if self.of else 0.0

    @property
    def low(self) -> float:
        """Return the lower end of the Wilson interval."""
        return self._bounds()[0]

    @property
    def high(self) -> float:
        """Return the upper end of the Wilson interval; 1 without observations."""
        return self._bounds()[1]

    def _bounds(self) -> tuple[float, float]:
        if not self.of:
            return 0.0, 1.0
        n, p = self.of, self.rate
        middle = p + Z_95 * Z_95 / (2 * n)
        spread = Z_95 * sqrt(p * (1 - p) / n + Z_95 * Z_95 / (4 * n * n))
        scale = 1 + Z_95 * Z_95 / n
        return max((middle - spread) / scale, 0.0), min((middle + spread) / scale, 1.0)

    def surely_above(self, other: "TaskShare") -> bool:
        """Return whether this share is higher by more than chance: the intervals do not overlap."""
        return self.low > other.high


def render_share(share: TaskShare) -> str:
    """Render a share with its interval and its number of tasks."""
    if not share.of:
        return "no task yet"
    return f"{share.rate:.0%} ({share.low:.0%}-{share.high:.0%}, {share.hits} of {share.of})"


def mean(values: Sequence[float]) -> float:
    """Return the average; 0 for no values."""
    return sum(values) / len(values) if values else 0.0


def median(values: Sequence[float]) -> float:
    """Return the median; 0 for no values."""
    order = sorted(values)
    half = len(order) // 2
    if not order:
        return 0.0
    return order[half] if len(order) % 2 else (order[half - 1] + order[half]) / 2


def error_of_mean(values: Sequence[float]) -> float:
    """Return the half width of the mean's confidence interval; infinite for fewer than two."""
    if len(values) < 2:
        return inf
    middle = mean(values)
    spread = sum((value - middle) ** 2 for value in values) / (len(values) - 1)
    return Z_95 * sqrt(spread / len(values))


BAND_LIMITS = (100, 200, 400, 800, 1_600)
"""Upper limits, in tokens, of the size bands in which packets are compared."""
NO_LIMIT = 10**9
MIN_BAND_TASKS = 8
"""Tasks that a band needs before it supports a conclusion."""
USUAL_SHARE = 0.5
"""Share of tasks, by the lower bound, from which a section is usually unused."""
MAX_GAPS_LISTED = 5
"""Gaps that a report lists."""


class SizeBand(Struct, frozen=True):
    """Tasks with packets of about the same size."""

    most: int
    success: TaskShare


class UnusedSection(Struct, frozen=True):
    """A section of packets, and how often workers did not need it."""

    section: str
    share: TaskShare

    @property
    def usual(self) -> bool:
        """Return whether it is certain enough that most tasks do not need the section."""
        return self.share.low > USUAL_SHARE


class GapStats(Struct, frozen=True):
    """A gap, how many tasks had it, and how often those failed compared with all others."""

    gap: Gap
    share: TaskShare
    failed_with: TaskShare
    failed_without: TaskShare

    @property
    def fails(self) -> bool:
        """Return whether tasks with the gap certainly fail more often than those without."""
        return self.failed_with.surely_above(self.failed_without)


class TaskTypeStats(Struct, frozen=True):
    """Statistics of one type of task."""

    task_type: str
    tasks: int
    size: float
    """Median tokens of a packet."""
    success: TaskShare
    bands: tuple[SizeBand, ...] = ()
    enough: int = 0
    """The fewest tokens with which tasks did as well as with more; 0 when not known yet."""
    unused: tuple[UnusedSection, ...] = ()
    missing: tuple[GapStats, ...] = ()


class Efficiency(Struct, frozen=True):
    """Statistics of all task records."""

    tasks: int
    size: float
    """Average tokens of a packet."""
    success: TaskShare
    gaps: tuple[GapStats, ...] = ()
    unused: tuple[UnusedSection, ...] = ()
    kinds: tuple[TaskTypeStats, ...] = ()


def measure_efficiency(records: Sequence[TaskRecord], *, stems: Stems) -> Efficiency:
    """Compute the statistics of records, in total and by type of task."""
    sent = [record.context_sent for record in records if record.context_sent]
    gaps = group_gaps((gap for record in records for gap in record.gaps), stems)
    kinds = sorted({record.task_type for record in records})
    return Efficiency(
        len(records),
        mean(sent),
        _success_share(records),
        _gap_stats(records, gaps),
        _unused_sections(records, stems),
        tuple(
            _task_type_stats(
                name, [record for record in records if record.task_type == name], gaps, stems
            )
            for name in kinds
        ),
    )


def _task_type_stats(
    name: str, records: Sequence[TaskRecord], gaps: Sequence[Gap], stems: Stems
) -> TaskTypeStats:
    sent = [record.context_sent for record in records if record.context_sent]
    bands = _bands(records)
    return TaskTypeStats(
        name,
        len(records),
        median(sent),
        _success_share(records),
        bands,
        _smallest_sufficient_band(bands),
        _unused_sections(records, stems),
        _gap_stats(records, gaps),
    )


def _success_share(records: Iterable[TaskRecord]) -> TaskShare:
    outcomes = [record.success for record in records if record.success is not None]
    return TaskShare(sum(outcomes), len(outcomes))


def _bands(records: Sequence[TaskRecord]) -> tuple[SizeBand, ...]:
    by_band: dict[int, list[TaskRecord]] = {}
    for record in records:
        if record.context_sent:
            band = next((most for most in BAND_LIMITS if record.context_sent <= most), NO_LIMIT)
            by_band.setdefault(band, []).append(record)
    return tuple(SizeBand(most, _success_share(by_band[most])) for most in sorted(by_band))


def _smallest_sufficient_band(bands: Sequence[SizeBand]) -> int:
    """Return the limit of the smallest band that does as well as any larger one; else 0."""
    large_enough = [band for band in bands if band.success.of >= MIN_BAND_TASKS]
    for at, band in enumerate(large_enough):
        larger = large_enough[at + 1 :]
        worse = any(other.success.low > band.success.rate for other in larger)
        if not worse and band.success.low > USUAL_SHARE and band.most != NO_LIMIT:
            return band.most
    return 0


def _unused_sections(records: Sequence[TaskRecord], stems: Stems) -> tuple[UnusedSection, ...]:
    """Return how often each section was sent and not needed, the most unused first."""
    rows: list[UnusedSection] = []
    for section in SECTIONS:
        sent = [record for record in records if section in record.sections]
        unused = sum(
            any(names_section(part, section, stems) for part in record.unused) for record in sent
        )
        if unused:
            rows.append(UnusedSection(section, TaskShare(unused, len(sent))))
    return tuple(sorted(rows, key=lambda row: (-row.share.low, row.section)))


def _gap_stats(records: Sequence[TaskRecord], gaps: Sequence[Gap]) -> tuple[GapStats, ...]:
    """Return the statistics of each gap that occurs, the most frequent first."""
    rows: list[GapStats] = []
    for gap in gaps:
        wordings = set(gap.wordings)
        with_it = [record for record in records if not wordings.isdisjoint(record.gaps)]
        if with_it:
            without = [record for record in records if wordings.isdisjoint(record.gaps)]
            rows.append(
                GapStats(
                    gap,
                    TaskShare(len(with_it), len(records)),
                    _failure_share(with_it),
                    _failure_share(without),
                )
            )
    return tuple(sorted(rows, key=lambda row: (-row.share.hits, row.gap.label)))


def _failure_share(records: Iterable[TaskRecord]) -> TaskShare:
    share = _success_share(records)
    return TaskShare(share.of - share.hits, share.of)
