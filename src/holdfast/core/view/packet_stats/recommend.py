"""Recommend changes to packets for each type of task: depth, budget and order of sections.

A recommendation is computed from records and changes nothing by itself: a person applies or reverts
it. It has a version, and each change names the records that support it.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256

import msgspec

from holdfast.core.ledger.packet_tuning import Recommendation, TuningChange
from holdfast.core.view.packet.layers import SECTIONS
from holdfast.core.view.packet_stats.efficiency import (
    Efficiency,
    GapStats,
    TaskTypeStats,
    render_share,
)

DEPTH_SIZES = (("minimal", 100), ("standard", 400), ("deep", 800))
"""The depths with their default token limits, the smallest first."""
MIN_GAP_SHARE = 0.25
"""Share of tasks with a gap, by the lower bound, from which more context is worthwhile."""
MIN_TASKS = 12
"""Tasks of a type that are needed for any recommendation."""

_SECTION_WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "patterns",
        ("pattern", "convention", "style", "testing", "test", "error", "handling", "format"),
    ),
    ("relevant_files", ("file", "path", "where", "module", "location", "code", "schema", "api")),
    ("decisions", ("decision", "why", "reason", "chosen", "choice", "decided")),
    ("failed_attempts", ("tried", "failed", "attempt", "pitfall", "before")),
    ("constraints", ("constraint", "limit", "allowed", "must", "requirement")),
    ("success_criteria", ("acceptance", "criteria", "done", "expected", "goal")),
    ("open_questions", ("question", "open", "unclear")),
)
"""Sections of a packet, with the words of gaps that they would have filled."""


def recommend(efficiency: Efficiency, before: Recommendation | None = None) -> Recommendation:
    """Return what the records support; keep the previous values where there are too few records."""
    last = before or Recommendation()
    changes = [change for kind in efficiency.kinds for change in _changes(kind)]
    depths, budgets, orders = dict(last.depths), dict(last.budgets), dict(last.orders)
    for change in changes:
        match change.what:
            case "depth":
                depths[change.task_type] = change.value
            case "budget":
                budgets[change.task_type] = int(change.value)
            case _:
                orders[change.task_type] = tuple(change.value.split(" > "))
    new = Recommendation(
        last.version + 1, efficiency.tasks, depths, budgets, orders, tuple(changes)
    )
    return msgspec.structs.replace(new, digest=digest_of(new))


def digest_of(recommendation: Recommendation) -> str:
    """Return a digest of the content, without version and time."""
    plain = msgspec.structs.replace(recommendation, version=0, at="", digest="")
    return sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()[:12]


def is_same_recommendation(recommendation: Recommendation, other: Recommendation) -> bool:
    """Return whether two recommendations set the same values."""
    return (recommendation.depths, recommendation.budgets, recommendation.orders) == (
        other.depths,
        other.budgets,
        other.orders,
    )


def _changes(kind: TaskTypeStats) -> Iterator[TuningChange]:
    if kind.tasks < MIN_TASKS:
        return
    yield from _size_changes(kind)
    order = tuple(_section_order(kind))
    if order != SECTIONS:
        unused = [row for row in kind.unused if row.usual]
        why = [f"{row.section} was not needed by {render_share(row.share)}" for row in unused]
        why += [
            f"{row.gap.label} was missing for {render_share(row.share)}"
            for row in _frequent_gaps(kind)
        ]
        yield TuningChange(kind.task_type, "order", " > ".join(order), "; ".join(why))


def _size_changes(kind: TaskTypeStats) -> Iterator[TuningChange]:
    """Yield larger sizes when gaps go with failures, smaller ones when fewer tokens were enough."""
    lacking = [row for row in _frequent_gaps(kind) if row.fails]
    if lacking:
        depth, budget = _next_depth(kind.size)
        row = lacking[0]
        why = (
            f"{row.gap.label} was missing for {render_share(row.share)}, and of those"
            f" {render_share(row.failed_with)} failed, against {render_share(row.failed_without)}"
        )
        yield TuningChange(kind.task_type, "depth", depth, why)
        yield TuningChange(kind.task_type, "budget", str(budget), why)
    elif kind.enough and kind.enough < kind.size:
        enough = next(band for band in kind.bands if band.most == kind.enough)
        why = f"with up to {kind.enough} tokens, {render_share(enough.success)} were done"
        yield TuningChange(kind.task_type, "depth", _depth_of(kind.enough), why)
        yield TuningChange(kind.task_type, "budget", str(kind.enough), why)


def _frequent_gaps(kind: TaskTypeStats) -> list[GapStats]:
    return [row for row in kind.missing if row.share.low > MIN_GAP_SHARE]


def _next_depth(size: float) -> tuple[str, int]:
    """Return the depth after the one that packets of this size have."""
    larger = [depth for depth in DEPTH_SIZES if size <= depth[1]]
    return larger[1] if len(larger) > 1 else DEPTH_SIZES[-1]


def _depth_of(tokens: int) -> str:
    return next((name for name, most in DEPTH_SIZES if tokens <= most), DEPTH_SIZES[-1][0])


def _section_order(kind: TaskTypeStats) -> Sequence[str]:
    """Return the sections of a packet: missing ones first, unused ones last."""
    first = dict.fromkeys(
        part for row in _frequent_gaps(kind) for part in _section_for_gap(row.gap.stems)
    )
    unused = [row.section for row in kind.unused if row.usual and row.section not in first]
    middle = [part for part in SECTIONS if part not in first and part not in unused]
    return (*first, *middle, *reversed(unused))


def _section_for_gap(stems: frozenset[str]) -> Iterator[str]:
    """Yield the section that would have filled a gap, if any."""
    for part, words in _SECTION_WORDS:
        if any(
            stem.startswith(word[:4]) or word.startswith(stem) for stem in stems for word in words
        ):
            yield part
            return


def render_recommendation(recommendation: Recommendation) -> str:
    """Render a recommendation: each change with its reason."""
    head = f"recommendation {recommendation.version}, from {recommendation.tasks} tasks"
    if not recommendation.changes:
        return f"{head}\n  nothing to change: not enough tasks of any kind yet, or all is well"
    rows = [
        f"  {row.task_type}: {row.what} = {row.value}\n    because {row.why}"
        for row in recommendation.changes
    ]
    return "\n".join([head, *rows])
