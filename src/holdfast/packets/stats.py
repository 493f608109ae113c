"""Efficiency of a project's packets: read its records, or track tasks without a ledger."""

from collections.abc import Iterable, Sequence

from holdfast.core.ledger.entry import PacketReported
from holdfast.core.ledger.packet import Feedback
from holdfast.core.ledger.packet_tuning import UNTUNED, Tunings
from holdfast.core.view.packet_stats.efficiency import Efficiency, GapStats, measure_efficiency
from holdfast.core.view.packet_stats.measures import (
    Measure,
    RecordSplit,
    compare_measures,
    split_records,
)
from holdfast.core.view.packet_stats.records import UNKNOWN_TASK_TYPE, TaskRecord, task_records
from holdfast.core.view.packet_stats.report import headline_lines
from holdfast.engine.fault_log import HasLedger
from holdfast.engine.recover import stemmer
from holdfast.engine.redact import Redactor
from holdfast.packets.records import packet_entries
from holdfast.stores.store import Store


def records_in(
    store: Store, redactor: Redactor, tunings: Tunings = UNTUNED
) -> tuple[TaskRecord, ...]:
    """Return the tasks that workers of a project reported on, oldest first."""
    found = [
        record
        for info in reversed(store.sessions())
        for record in task_records(redactor.entries(packet_entries(store, info.name)), tunings)
    ]
    return tuple(sorted(found, key=lambda task: task.at))


def efficiency_of(records: Sequence[TaskRecord]) -> Efficiency:
    """Return the statistics of task records."""
    return measure_efficiency(records, stems=stemmer())


def compare_around(
    records: Sequence[TaskRecord], *, since: str = ""
) -> tuple[RecordSplit, tuple[Measure, ...]]:
    """Return the five measures of success, before and after a point."""
    split = split_records(records, since=since)
    return split, compare_measures(split)


class ContextEfficiencyTracker:
    """Tracks which context led to success: what is enough, what is unused, which gaps cost.

    With a session, tasks are recorded in its ledger, and the tasks of the whole project count.
    """

    def __init__(self, session: HasLedger | None = None) -> None:
        self._ledger = session.ledger if session is not None else None
        self._records: list[TaskRecord] = []

    def record_task(
        self,
        context_sent: int,
        worker_success: bool,
        gaps: Iterable[str],
        *,
        task_type: str = UNKNOWN_TASK_TYPE,
        unused: Iterable[str] = (),
        tokens_used: int = 0,
        explored: Iterable[str] = (),
        sections: Iterable[str] = (),
    ) -> None:
        """Record the result of a task with the context that was sent for it."""
        feedback = Feedback(
            gaps=tuple(gaps),
            unused=tuple(unused),
            outcome="done" if worker_success else "failed",
            task_type=task_type,
            context_sent=max(int(context_sent), 0),
            tokens_used=max(int(tokens_used), 0),
            explored=tuple(explored),
        )
        if self._ledger is not None:
            self._ledger.derive(PacketReported(feedback))
            return
        self._records.append(
            TaskRecord(
                feedback.context_sent,
                feedback.outcome,
                feedback.gaps,
                feedback.unused,
                task_type,
                feedback.tokens_used,
                len(set(feedback.explored)),
                sections=tuple(sections),
            )
        )

    @property
    def records(self) -> tuple[TaskRecord, ...]:
        """Every recorded task."""
        if self._ledger is None:
            return tuple(self._records)
        return records_in(self._ledger.store, Redactor(self._ledger.policy.redact))

    def efficiency(self) -> Efficiency:
        """Return the statistics of all records."""
        return efficiency_of(self.records)

    def minimum_viable_context(self, task_type: str = UNKNOWN_TASK_TYPE) -> int | None:
        """Return the fewest tokens that were enough for a kind of task; None if unknown."""
        kinds = self.efficiency().kinds
        return next((kind.enough or None for kind in kinds if kind.task_type == task_type), None)

    def usually_unused(self) -> list[str]:
        """Return the parts of packets that are significantly often unused."""
        return [row.section for row in self.efficiency().unused if row.usual]

    def failing_gaps(self) -> list[str]:
        """Return the gaps with which tasks fail significantly more often than without."""
        return [row.gap.label for row in self._failing()]

    def _failing(self) -> list[GapStats]:
        return [row for row in self.efficiency().gaps if row.fails]

    def report(self) -> str:
        """Return the average size, success rate and most frequent gaps in three lines."""
        return "\n".join(headline_lines(self.efficiency()))
