"""What the packets of a project were worth: its records read, and a tracker for who keeps none."""

from collections.abc import Iterable, Sequence

from holdfast.core.ledger.entry import PacketReported
from holdfast.core.ledger.packet import Feedback
from holdfast.core.ledger.packet_tuning import UNTUNED, Tunings
from holdfast.core.view.packet_stats.efficiency import Efficiency, Missing, efficiency
from holdfast.core.view.packet_stats.measures import Measure, Split, measures, split
from holdfast.core.view.packet_stats.records import UNTYPED, Record, records_of
from holdfast.core.view.packet_stats.report import headline
from holdfast.engine.ledger import Ledger
from holdfast.engine.recover import stemmer
from holdfast.engine.redact import Redactor
from holdfast.stores.store import Store


def records_in(store: Store, redactor: Redactor, tunings: Tunings = UNTUNED) -> tuple[Record, ...]:
    """The tasks that workers of a project reported on, oldest first as far as they are timed."""
    found = [
        record
        for listed in reversed(store.sessions())
        for record in records_of(redactor.entries(store.read(listed.name)), tunings)
    ]
    return tuple(sorted(found, key=lambda one: one.at))


def learned(records: Sequence[Record]) -> Efficiency:
    """What records add up to."""
    return efficiency(records, stems=stemmer())


def compared(records: Sequence[Record], *, since: str = "") -> tuple[Split, tuple[Measure, ...]]:
    """The five measures of success, on both sides of a point."""
    parted = split(records, since=since)
    return parted, measures(parted)


class ContextEfficiencyTracker:
    """Tracks which context led to success: what is enough, what is idle, and which gaps cost.

    With a session, tasks are recorded in its ledger and those of the whole project count.
    """

    def __init__(self, ledger: Ledger | None = None) -> None:
        self._ledger = ledger
        self._records: list[Record] = []

    def record_task(
        self,
        context_sent: int,
        worker_success: bool,
        gaps: Iterable[str],
        *,
        task_type: str = UNTYPED,
        unused: Iterable[str] = (),
        tokens_used: int = 0,
        explored: Iterable[str] = (),
        sections: Iterable[str] = (),
    ) -> None:
        """Record how a task went with the context that it was sent."""
        told = Feedback(
            gaps=tuple(gaps),
            unused=tuple(unused),
            outcome="done" if worker_success else "failed",
            task_type=task_type,
            context_sent=max(int(context_sent), 0),
            tokens_used=max(int(tokens_used), 0),
            explored=tuple(explored),
        )
        if self._ledger is not None:
            self._ledger.derive(PacketReported(told))
            return
        self._records.append(
            Record(
                told.context_sent,
                told.outcome,
                told.gaps,
                told.unused,
                task_type,
                told.tokens_used,
                len(set(told.explored)),
                sections=tuple(sections),
            )
        )

    @property
    def records(self) -> tuple[Record, ...]:
        """Every task on record."""
        if self._ledger is None:
            return tuple(self._records)
        return records_in(self._ledger.store, Redactor(self._ledger.policy.redact))

    def efficiency(self) -> Efficiency:
        """All that the records add up to."""
        return learned(self.records)

    def minimum_viable_context(self, task_type: str = UNTYPED) -> int | None:
        """The fewest tokens that were enough for a kind of task; nothing when nobody can tell."""
        kinds = self.efficiency().kinds
        return next((one.enough or None for one in kinds if one.task_type == task_type), None)

    def usually_unused(self) -> list[str]:
        """Parts of packets that are surely mostly not needed."""
        return [row.section for row in self.efficiency().unused if row.usual]

    def failing_gaps(self) -> list[str]:
        """Gaps with which tasks surely fail more often than without."""
        return [row.gap.label for row in self._failing()]

    def _failing(self) -> list[Missing]:
        return [row for row in self.efficiency().gaps if row.fails]

    def report(self) -> str:
        """Average size, success rate and the most frequent gaps, in three lines."""
        return "\n".join(headline(self.efficiency()))
