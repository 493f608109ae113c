"""The decisions of a project's sessions, joined: the graph, and what of it a task touches."""

from collections.abc import Iterator, Sequence

from holdfast.core.ledger.packet import Choice
from holdfast.core.view.decisions.graph import Graph, graph_of, settled_in, touched_by
from holdfast.core.view.questions.answer import before, now
from holdfast.core.view.questions.question import read_question
from holdfast.core.view.questions.score import judge
from holdfast.core.view.questions.statements import Statement, Told
from holdfast.engine.ledger import Ledger
from holdfast.engine.recover import stemmer
from holdfast.models.thesaurus import like
from holdfast.packets.questions import Settled, settled_for

TOUCHED = 8
"""Decisions of earlier sessions that a task is given at the most."""
ABOUT = 0.55
"""The share of a task that a decision has to be about, where it is not the other way round."""


def decision_graph(settled: Settled, *, sessions: Sequence[str] | None = None) -> Graph:
    """The decisions of some sessions, or of all of the project, and how they hang together."""
    return graph_of(settled.of_all(sessions))


def decisions_for(
    task: str,
    settled: Settled,
    *,
    apart: str = "",
    sessions: Sequence[str] | None = None,
    limit: int = TOUCHED,
) -> tuple[Statement, ...]:
    """The decisions of other sessions that a task touches, those that hold, the likeliest first.

    `apart` is the session whose own decisions are known already, `sessions` those that are read. A
    decision that was replaced since is given as what replaced it.
    """
    told = [one for one in settled.of_all(sessions) if one.session != apart]
    rows = settled_in(told)
    found: dict[tuple[str, str], Statement] = {}
    for one in _touching(task, told, rows):
        held = now(one, rows)
        if not held.replaced_by:
            found.setdefault(held.key, held)
    return tuple(found.values())[:limit]


def choices_for(task: str, ledger: Ledger, *, limit: int = TOUCHED) -> tuple[Choice, ...]:
    """The same as a packet takes it: what other sessions decided, with who, why and instead of."""
    settled = settled_for(ledger)
    rows = settled_in(settled.of_all())
    return tuple(
        Choice(
            one.text,
            one.reason,
            one.by if one.by in ("user", "system") else "orchestrator",
            (one.ref,),
            next((was.text for was in before(one, rows)), ""),
        )
        for one in decisions_for(task, settled, apart=ledger.name, limit=limit)
    )


def _touching(task: str, told: Sequence[Told], rows: Sequence[Statement]) -> Iterator[Statement]:
    """What shares a name with the task, then what the task is mostly about."""
    marked = {one.key: one for one in rows}
    yield from (marked[one.key] for one in reversed(touched_by(task, told)))
    decided = [one for one in rows if one.kind == "decision"]
    question = read_question(task, rarity=lambda _: 0.0, like=like, stems=stemmer())
    judged = judge(question, decided, stems=stemmer())
    yield from (one.statement for one in judged if one.score >= ABOUT)
