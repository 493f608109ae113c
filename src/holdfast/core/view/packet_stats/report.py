"""Render the statistics of packets as text (the protocol's three lines first) and as JSON."""

from collections.abc import Iterator, Sequence

from holdfast.core.view.packet_stats.efficiency import (
    MAX_GAPS_LISTED,
    Efficiency,
    GapStats,
    TaskShare,
    TaskTypeStats,
    render_share,
)
from holdfast.core.view.packet_stats.measures import Measure, RecordSplit
from holdfast.text.jsontext import Json


def render_stats(efficiency: Efficiency, sides: RecordSplit, measures: Sequence[Measure]) -> str:
    """Render the report: size, success and gaps first, as the protocol prints them."""
    return "\n".join(_report_lines(efficiency, sides, measures))


def _report_lines(
    efficiency: Efficiency, sides: RecordSplit, measures: Sequence[Measure]
) -> Iterator[str]:
    if not efficiency.tasks:
        yield "No worker has reported on a task yet: `holdfast context feedback` does."
        return
    yield from headline_lines(efficiency)
    yield ""
    yield f"{efficiency.tasks} tasks; success {render_share(efficiency.success)}"
    for kind in efficiency.kinds:
        yield from _task_type_line(kind)
    failing = [row for row in efficiency.gaps if row.fails]
    yield "gaps that go with failures: " + (_gap_labels(failing) or "none for sure yet")
    for row in failing:
        yield (
            f"  {row.gap.label}: failed {render_share(row.failed_with)},"
            f" without it {render_share(row.failed_without)}"
        )
    unused = [f"{row.section} {render_share(row.share)}" for row in efficiency.unused if row.usual]
    yield "usually unused: " + ("; ".join(unused) or "nothing for sure yet")
    yield ""
    yield f"before and after ({sides.what}):"
    for measure in measures:
        before, after = (_measure_value(measure, side) for side in (measure.before, measure.after))
        yield f"  {measure.name}: {before} -> {after}, {measure.verdict}"


def headline_lines(efficiency: Efficiency) -> Iterator[str]:
    """Yield the three lines of the protocol."""
    yield f"Average context size: {efficiency.size:.0f} tokens"
    success = efficiency.success
    yield f"Worker success rate: {success.rate:.0%}" if success.of else "Worker success rate: -"
    top = ", ".join(
        f"{row.gap.label} ({row.share.rate:.0%})" for row in efficiency.gaps[:MAX_GAPS_LISTED]
    )
    yield f"Top context gaps: {top or 'none'}"


def _task_type_line(kind: TaskTypeStats) -> Iterator[str]:
    enough = (
        f"{kind.enough} tokens were enough"
        if kind.enough
        else "how little is enough: not enough yet"
    )
    yield (
        f"  {kind.task_type}: {kind.tasks} tasks, {kind.size:.0f} tokens in the middle,"
        f" success {render_share(kind.success)}; {enough}"
    )


def _gap_labels(rows: Sequence[GapStats]) -> str:
    return ", ".join(row.gap.label for row in rows)


def _measure_value(measure: Measure, value: float | None) -> str:
    if value is None:
        return "-"
    if measure.name in ("worker success", "written by hand"):
        return f"{value:.0%}"
    return f"{value:,.0f}" if measure.name == "tokens per task" else f"{value:.2f}"


def stats_document(
    efficiency: Efficiency, sides: RecordSplit, measures: Sequence[Measure]
) -> dict[str, Json]:
    """Return the report as a JSON document."""
    return {
        "tasks": efficiency.tasks,
        "average_context_size": round(efficiency.size, 1),
        "worker_success_rate": _share_document(efficiency.success),
        "top_context_gaps": [_gap_document(row) for row in efficiency.gaps],
        "usually_unused": [
            {"section": row.section, "usual": row.usual, **_share_document(row.share)}
            for row in efficiency.unused
        ],
        "task_types": [_task_type_document(kind) for kind in efficiency.kinds],
        "measures": {
            "split": sides.what,
            "rows": [
                {
                    "name": measure.name,
                    "what": measure.what,
                    "before": measure.before,
                    "after": measure.after,
                    "tasks": list(measure.tasks),
                    "wanted": measure.wanted,
                    "verdict": measure.verdict,
                }
                for measure in measures
            ],
        },
    }


def _task_type_document(kind: TaskTypeStats) -> Json:
    return {
        "task_type": kind.task_type,
        "tasks": kind.tasks,
        "median_context_size": kind.size,
        "success": _share_document(kind.success),
        "minimum_viable_context": kind.enough or None,
        "bands": [{"up_to": band.most, **_share_document(band.success)} for band in kind.bands],
        "unused": [{"section": row.section, **_share_document(row.share)} for row in kind.unused],
        "gaps": [_gap_document(row) for row in kind.missing],
    }


def _gap_document(row: GapStats) -> dict[str, Json]:
    return {
        "gap": row.gap.label,
        "wordings": list(row.gap.wordings),
        **_share_document(row.share),
        "failed_with": _share_document(row.failed_with),
        "failed_without": _share_document(row.failed_without),
        "goes_with_failures": row.fails,
    }


def _share_document(share: TaskShare) -> dict[str, Json]:
    return {
        "rate": round(share.rate, 4),
        "low": round(share.low, 4),
        "high": round(share.high, 4),
        "hits": share.hits,
        "of": share.of,
    }
