"""A recommendation: what to change in packets for a kind of task, by how much, and why.

It is made from records, offline, and changes nothing by itself. Each has a version and says for
every change which records speak for it; applying and taking back are somebody's act.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256

import msgspec

from holdfast.core.ledger.packet_tuning import Change, Recommendation
from holdfast.core.view.packet.layers import SECTIONS
from holdfast.core.view.packet_stats.efficiency import Efficiency, Kind, Missing, told

DEPTHS = (("minimal", 100), ("standard", 400), ("deep", 800))
"""What the depths take by default, from the smallest."""
LACKING = 0.25
"""The share of tasks with a gap from which on more context is worth it, by the lower bound."""
FEWEST = 12
"""Tasks of a kind from which on anything is recommended."""

_OF_GAP: tuple[tuple[str, tuple[str, ...]], ...] = (
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
"""Words of a gap, and the part of a packet that would have filled it."""


def recommend(known: Efficiency, before: Recommendation | None = None) -> Recommendation:
    """What the records speak for; with too few of them, what was in force before."""
    last = before or Recommendation()
    changes = [change for kind in known.kinds for change in _changes(kind)]
    depths, budgets, orders = dict(last.depths), dict(last.budgets), dict(last.orders)
    for change in changes:
        match change.what:
            case "depth":
                depths[change.task_type] = change.value
            case "budget":
                budgets[change.task_type] = int(change.value)
            case _:
                orders[change.task_type] = tuple(change.value.split(" > "))
    made = Recommendation(last.version + 1, known.tasks, depths, budgets, orders, tuple(changes))
    return msgspec.structs.replace(made, digest=digest_of(made))


def digest_of(one: Recommendation) -> str:
    """What tells two recommendations apart, whenever they were made."""
    plain = msgspec.structs.replace(one, version=0, at="", digest="")
    return sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()[:12]


def says_the_same(one: Recommendation, other: Recommendation) -> bool:
    """Whether two change the same things to the same values."""
    return (one.depths, one.budgets, one.orders) == (other.depths, other.budgets, other.orders)


def _changes(kind: Kind) -> Iterator[Change]:
    if kind.tasks < FEWEST:
        return
    yield from _size(kind)
    order = tuple(_order(kind))
    if order != SECTIONS:
        idle = [row for row in kind.unused if row.usual]
        why = [f"{row.section} was not needed by {told(row.share)}" for row in idle]
        why += [f"{row.gap.label} was missing for {told(row.share)}" for row in _lacking(kind)]
        yield Change(kind.task_type, "order", " > ".join(order), "; ".join(why))


def _size(kind: Kind) -> Iterator[Change]:
    """More where gaps go with failures, less where less was enough."""
    lacking = [row for row in _lacking(kind) if row.fails]
    if lacking:
        depth, budget = _deeper(kind.size)
        row = lacking[0]
        why = (
            f"{row.gap.label} was missing for {told(row.share)}, and of those"
            f" {told(row.failed_with)} failed, against {told(row.failed_without)}"
        )
        yield Change(kind.task_type, "depth", depth, why)
        yield Change(kind.task_type, "budget", str(budget), why)
    elif kind.enough and kind.enough < kind.size:
        enough = next(band for band in kind.bands if band.most == kind.enough)
        why = f"with up to {kind.enough} tokens, {told(enough.success)} were done"
        yield Change(kind.task_type, "depth", _depth_of(kind.enough), why)
        yield Change(kind.task_type, "budget", str(kind.enough), why)


def _lacking(kind: Kind) -> list[Missing]:
    return [row for row in kind.missing if row.share.low > LACKING]


def _deeper(size: float) -> tuple[str, int]:
    """The depth behind the one that packets of a size have."""
    larger = [depth for depth in DEPTHS if size <= depth[1]]
    return larger[1] if len(larger) > 1 else DEPTHS[-1]


def _depth_of(tokens: int) -> str:
    return next((name for name, most in DEPTHS if tokens <= most), DEPTHS[-1][0])


def _order(kind: Kind) -> Sequence[str]:
    """The parts of a packet: what was missing first, what was idle last."""
    first = dict.fromkeys(part for row in _lacking(kind) for part in _filling(row.gap.stems))
    idle = [row.section for row in kind.unused if row.usual and row.section not in first]
    middle = [part for part in SECTIONS if part not in first and part not in idle]
    return (*first, *middle, *reversed(idle))


def _filling(stems: frozenset[str]) -> Iterator[str]:
    """The part that would have filled a gap."""
    for part, words in _OF_GAP:
        if any(
            stem.startswith(word[:4]) or word.startswith(stem) for stem in stems for word in words
        ):
            yield part
            return


def in_words(one: Recommendation) -> str:
    """A recommendation for a reader: each change with its reason."""
    head = f"recommendation {one.version}, from {one.tasks} tasks"
    if not one.changes:
        return f"{head}\n  nothing to change: not enough tasks of any kind yet, or all is well"
    rows = [
        f"  {row.task_type}: {row.what} = {row.value}\n    because {row.why}" for row in one.changes
    ]
    return "\n".join([head, *rows])
