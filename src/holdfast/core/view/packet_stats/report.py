"""What packets were worth, as text and as a document: the protocol's three lines, then the rest."""

from collections.abc import Iterator, Sequence

from holdfast.core.view.packet_stats.efficiency import TOP, Efficiency, Kind, Missing, Share, told
from holdfast.core.view.packet_stats.measures import Measure, Split
from holdfast.text.jsontext import Json


def render_stats(known: Efficiency, parted: Split, found: Sequence[Measure]) -> str:
    """The report: size, success and gaps first, as the protocol prints them."""
    return "\n".join(_lines(known, parted, found))


def _lines(known: Efficiency, parted: Split, found: Sequence[Measure]) -> Iterator[str]:
    if not known.tasks:
        yield "No worker has reported on a task yet: `holdfast context feedback` does."
        return
    yield from headline(known)
    yield ""
    yield f"{known.tasks} tasks; success {told(known.success)}"
    for kind in known.kinds:
        yield from _kind(kind)
    failing = [row for row in known.gaps if row.fails]
    yield "gaps that go with failures: " + (_named(failing) or "none for sure yet")
    for row in failing:
        yield (
            f"  {row.gap.label}: failed {told(row.failed_with)},"
            f" without it {told(row.failed_without)}"
        )
    idle = [f"{row.section} {told(row.share)}" for row in known.unused if row.usual]
    yield "usually unused: " + ("; ".join(idle) or "nothing for sure yet")
    yield ""
    yield f"before and after ({parted.what}):"
    for one in found:
        yield f"  {one.name}: {_value(one, one.before)} -> {_value(one, one.after)}, {one.verdict}"


def headline(known: Efficiency) -> Iterator[str]:
    """The three lines of the protocol."""
    yield f"Average context size: {known.size:.0f} tokens"
    success = known.success
    yield f"Worker success rate: {success.rate:.0%}" if success.of else "Worker success rate: -"
    top = ", ".join(f"{row.gap.label} ({row.share.rate:.0%})" for row in known.gaps[:TOP])
    yield f"Top context gaps: {top or 'none'}"


def _kind(kind: Kind) -> Iterator[str]:
    enough = (
        f"{kind.enough} tokens were enough"
        if kind.enough
        else "how little is enough: not enough yet"
    )
    yield (
        f"  {kind.task_type}: {kind.tasks} tasks, {kind.size:.0f} tokens in the middle,"
        f" success {told(kind.success)}; {enough}"
    )


def _named(rows: Sequence[Missing]) -> str:
    return ", ".join(row.gap.label for row in rows)


def _value(one: Measure, value: float | None) -> str:
    if value is None:
        return "-"
    if one.name in ("worker success", "written by hand"):
        return f"{value:.0%}"
    return f"{value:,.0f}" if one.name == "tokens per task" else f"{value:.2f}"


def stats_document(known: Efficiency, parted: Split, found: Sequence[Measure]) -> dict[str, Json]:
    """The report as a JSON document."""
    return {
        "tasks": known.tasks,
        "average_context_size": round(known.size, 1),
        "worker_success_rate": _share(known.success),
        "top_context_gaps": [_gap(row) for row in known.gaps],
        "usually_unused": [
            {"section": row.section, "usual": row.usual, **_share(row.share)}
            for row in known.unused
        ],
        "task_types": [_of_kind(kind) for kind in known.kinds],
        "measures": {
            "split": parted.what,
            "rows": [
                {
                    "name": one.name,
                    "what": one.what,
                    "before": one.before,
                    "after": one.after,
                    "tasks": list(one.tasks),
                    "wanted": one.wanted,
                    "verdict": one.verdict,
                }
                for one in found
            ],
        },
    }


def _of_kind(kind: Kind) -> Json:
    return {
        "task_type": kind.task_type,
        "tasks": kind.tasks,
        "median_context_size": kind.size,
        "success": _share(kind.success),
        "minimum_viable_context": kind.enough or None,
        "bands": [{"up_to": band.most, **_share(band.success)} for band in kind.bands],
        "unused": [{"section": row.section, **_share(row.share)} for row in kind.unused],
        "gaps": [_gap(row) for row in kind.missing],
    }


def _gap(row: Missing) -> dict[str, Json]:
    return {
        "gap": row.gap.label,
        "wordings": list(row.gap.wordings),
        **_share(row.share),
        "failed_with": _share(row.failed_with),
        "failed_without": _share(row.failed_without),
        "goes_with_failures": row.fails,
    }


def _share(share: Share) -> dict[str, Json]:
    return {
        "rate": round(share.rate, 4),
        "low": round(share.low, 4),
        "high": round(share.high, 4),
        "hits": share.hits,
        "of": share.of,
    }
