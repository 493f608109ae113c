"""What records of tasks add up to: how much context was enough, what was idle, what was missing.

Everything is a share with its bounds. Where there are too few tasks to tell, that is said, and
nothing follows from it.
"""

from collections.abc import Iterable, Sequence
from math import inf, sqrt

from msgspec import Struct

from holdfast.core.view.packet.layers import SECTIONS
from holdfast.core.view.packet_stats.records import Gap, Record, bare, counted_as_one
from holdfast.core.view.search.ranking import Stems

# Shares of small numbers, honestly: an interval says what a few tasks cannot tell.


Z = 1.96
"""An interval holds the true share nineteen times in twenty."""


class Share(Struct, frozen=True):
    """How often something came about, and between what bounds that may really be."""

    hits: int
    of: int

    @property
    def rate(self) -> float:
        """The share that was seen; 0 when nothing was."""
        return self.hits / self.of if self.of else 0.0

    @property
    def low(self) -> float:
        """The lower end of its Wilson interval."""
        return self._bounds()[0]

    @property
    def high(self) -> float:
        """The upper end of it; nothing seen may be anything."""
        return self._bounds()[1]

    def _bounds(self) -> tuple[float, float]:
        if not self.of:
            return 0.0, 1.0
        n, p = self.of, self.rate
        middle = p + Z * Z / (2 * n)
        spread = Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
        scale = 1 + Z * Z / n
        return max((middle - spread) / scale, 0.0), min((middle + spread) / scale, 1.0)

    def surely_above(self, other: "Share") -> bool:
        """Whether the two differ by more than chance would have it."""
        return self.low > other.high


def told(share: Share) -> str:
    """A share as a reader gets it: with its bounds and how many tasks it is of."""
    if not share.of:
        return "no task yet"
    return f"{share.rate:.0%} ({share.low:.0%}-{share.high:.0%}, {share.hits} of {share.of})"


def mean(values: Sequence[float]) -> float:
    """The average; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def median(values: Sequence[float]) -> float:
    """What stands in the middle; 0 of nothing."""
    order = sorted(values)
    half = len(order) // 2
    if not order:
        return 0.0
    return order[half] if len(order) % 2 else (order[half - 1] + order[half]) / 2


def error_of(values: Sequence[float]) -> float:
    """How far off an average of these may be; anything, when there are not two."""
    if len(values) < 2:
        return inf
    middle = mean(values)
    spread = sum((value - middle) ** 2 for value in values) / (len(values) - 1)
    return Z * sqrt(spread / len(values))


BANDS = (100, 200, 400, 800, 1_600)
"""Tokens up to which packets are compared with each other."""
LARGER = 10**9
ENOUGH = 8
"""Tasks of a band from which on it says anything."""
USUAL = 0.5
"""The share of tasks from which on a part is usually unused, by the lower bound."""
TOP = 5
"""Gaps that a report lists."""


class Band(Struct, frozen=True):
    """Tasks with packets of about the same size."""

    most: int
    success: Share


class Unused(Struct, frozen=True):
    """A part of packets, and how often nobody needed it."""

    section: str
    share: Share

    @property
    def usual(self) -> bool:
        """Whether it is sure enough that it is mostly not needed."""
        return self.share.low > USUAL


class Missing(Struct, frozen=True):
    """A gap, how many tasks had it, and how often those failed against all others."""

    gap: Gap
    share: Share
    failed_with: Share
    failed_without: Share

    @property
    def fails(self) -> bool:
        """Whether tasks with the gap surely fail more often than those without."""
        return self.failed_with.surely_above(self.failed_without)


class Kind(Struct, frozen=True):
    """What is known of one kind of task."""

    task_type: str
    tasks: int
    size: float
    """Tokens of a packet in the middle of all."""
    success: Share
    bands: tuple[Band, ...] = ()
    enough: int = 0
    """The fewest tokens that tasks did as well with as with more; 0 when nobody can tell yet."""
    unused: tuple[Unused, ...] = ()
    missing: tuple[Missing, ...] = ()


class Efficiency(Struct, frozen=True):
    """What all records add up to."""

    tasks: int
    size: float
    """Tokens of a packet on average."""
    success: Share
    gaps: tuple[Missing, ...] = ()
    unused: tuple[Unused, ...] = ()
    kinds: tuple[Kind, ...] = ()


def efficiency(records: Sequence[Record], *, stems: Stems) -> Efficiency:
    """What records add up to, in all and by kind of task."""
    sent = [one.context_sent for one in records if one.context_sent]
    gaps = counted_as_one((gap for one in records for gap in one.gaps), stems)
    kinds = sorted({one.task_type for one in records})
    return Efficiency(
        len(records),
        mean(sent),
        _success(records),
        _missing(records, gaps),
        _unused(records, stems),
        tuple(
            _kind(name, [one for one in records if one.task_type == name], gaps, stems)
            for name in kinds
        ),
    )


def _kind(name: str, records: Sequence[Record], gaps: Sequence[Gap], stems: Stems) -> Kind:
    sent = [one.context_sent for one in records if one.context_sent]
    bands = _bands(records)
    return Kind(
        name,
        len(records),
        median(sent),
        _success(records),
        bands,
        _enough(bands),
        _unused(records, stems),
        _missing(records, gaps),
    )


def _success(records: Iterable[Record]) -> Share:
    told = [one.success for one in records if one.success is not None]
    return Share(sum(told), len(told))


def _bands(records: Sequence[Record]) -> tuple[Band, ...]:
    by_band: dict[int, list[Record]] = {}
    for one in records:
        if one.context_sent:
            band = next((most for most in BANDS if one.context_sent <= most), LARGER)
            by_band.setdefault(band, []).append(one)
    return tuple(Band(most, _success(by_band[most])) for most in sorted(by_band))


def _enough(bands: Sequence[Band]) -> int:
    """The smallest band that does as well as any larger one, as far as enough tasks tell."""
    told = [band for band in bands if band.success.of >= ENOUGH]
    for at, band in enumerate(told):
        larger = told[at + 1 :]
        worse = any(other.success.low > band.success.rate for other in larger)
        if not worse and band.success.low > USUAL and band.most != LARGER:
            return band.most
    return 0


def _unused(records: Sequence[Record], stems: Stems) -> tuple[Unused, ...]:
    """How often each part was sent and not needed, the most idle first."""
    rows: list[Unused] = []
    for section in SECTIONS:
        sent = [one for one in records if section in one.sections]
        idle = sum(any(names(part, section, stems) for part in one.unused) for one in sent)
        if idle:
            rows.append(Unused(section, Share(idle, len(sent))))
    return tuple(sorted(rows, key=lambda row: (-row.share.low, row.section)))


def names(part: str, section: str, stems: Stems) -> bool:
    """Whether a worker's words name a part of a packet: `failed_attempts (didn't reference)`."""
    words = set(stems(bare(part).replace("_", " ")))
    wanted = {stem for word in section.split("_") for stem in stems(word)[:1]}
    # `files` is said for relevant files, `decisions` for decisions; `state` for the state of work.
    return wanted <= words or (section == "relevant_files" and bool(words & set(stems("files"))))


def _missing(records: Sequence[Record], gaps: Sequence[Gap]) -> tuple[Missing, ...]:
    """Every gap of some tasks, the most frequent first."""
    rows: list[Missing] = []
    for gap in gaps:
        wordings = set(gap.wordings)
        with_it = [one for one in records if not wordings.isdisjoint(one.gaps)]
        if with_it:
            without = [one for one in records if wordings.isdisjoint(one.gaps)]
            rows.append(
                Missing(
                    gap, Share(len(with_it), len(records)), _failure(with_it), _failure(without)
                )
            )
    return tuple(sorted(rows, key=lambda row: (-row.share.hits, row.gap.label)))


def _failure(records: Iterable[Record]) -> Share:
    share = _success(records)
    return Share(share.of - share.hits, share.of)
