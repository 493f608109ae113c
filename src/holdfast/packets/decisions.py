"""Decisions of all sessions of a project: the graph of them, and those that concern a task."""

from collections.abc import Iterator, Sequence
from functools import partial

from holdfast.core.view.decisions.graph import (
    DecisionGraph,
    decisions_about,
    find_edges,
    graph_with,
    statements_of_all,
)
from holdfast.core.view.questions.answer import current_statement
from holdfast.core.view.questions.question import read_question
from holdfast.core.view.questions.score import score_statements
from holdfast.core.view.questions.statements import SessionStatements, Statement
from holdfast.engine.recover import stemmer
from holdfast.models.thesaurus import similar_words
from holdfast.packets.questions import ProjectDecisions, cached_edges, links_of

EDGES_CACHE = "edges"
MAX_DECISIONS = 8
"""Maximum decisions of earlier sessions for a task."""
MIN_TASK_SCORE = 0.55
"""Minimum score of a decision for a task, if it shares no name with the task."""


def decision_graph(
    settled: ProjectDecisions, *, sessions: Sequence[str] | None = None, references: bool = True
) -> DecisionGraph:
    """Return the decisions of some sessions, or of the whole project, and their relations.

    Without `references`, it only says which decision replaced which, and is made faster.
    """
    read = settled.all_statements(sessions)
    if not references:
        return graph_with(links_of(settled, read), read)
    make = partial(find_edges, read, settled.terms_of)
    whole = sessions is None and bool(read)
    return graph_with(cached_edges(settled, read, EDGES_CACHE, make) if whole else make(), read)


def decisions_for(
    task: str,
    settled: ProjectDecisions,
    *,
    except_session: str = "",
    sessions: Sequence[str] | None = None,
    limit: int = MAX_DECISIONS,
) -> tuple[Statement, ...]:
    """Return the decisions of other sessions that concern a task and are in force, the best first.

    `except_session` is the session whose own decisions are known already, `sessions` those to read.
    For a decision that was replaced, its replacement is returned.
    """
    sessions_read = [
        statement
        for statement in settled.all_statements(sessions)
        if statement.session != except_session
    ]
    rows = statements_of_all(sessions_read, links_of(settled, sessions_read))
    found: dict[tuple[str, str], Statement] = {}
    for statement in _related_statements(task, sessions_read, rows):
        current = current_statement(statement, rows)
        if not current.replaced_by:
            found.setdefault(current.key, current)
    return tuple(found.values())[:limit]


def _related_statements(
    task: str, sessions_read: Sequence[SessionStatements], rows: Sequence[Statement]
) -> Iterator[Statement]:
    """Yield the statements that share a name with the task, then those with a high score for it."""
    marked = {statement.key: statement for statement in rows}
    yield from (
        marked[statement.key] for statement in reversed(decisions_about(task, sessions_read))
    )
    decided = [statement for statement in rows if statement.kind == "decision"]
    question = read_question(task, rarity=lambda _: 0.0, like=similar_words, stems=stemmer())
    scored = score_statements(question, decided, stems=stemmer())
    yield from (statement.statement for statement in scored if statement.score >= MIN_TASK_SCORE)
