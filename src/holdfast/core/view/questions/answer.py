"""Choose the answer to a question from statements, and render it with its source and history."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.view.questions.question import ParsedQuestion
from holdfast.core.view.questions.score import ScoredStatement, score_statements
from holdfast.core.view.questions.statements import Statement
from holdfast.core.view.search.excerpts import REF_CHARS
from holdfast.core.view.search.ranking import Stems
from holdfast.text.jsontext import Json

MIN_KNOWN_SCORE = 0.53
"""Share of a question that a statement must answer to count as an answer; measured by
`benchmarks/query`."""
PASSAGE_FACTOR = 0.78
"""Factor for a sentence that is neither a decision nor a constraint."""
SETTLED_BONUS = 0.1
"""Bonus of decisions and constraints over passages."""
MAX_OTHER_ANSWERS, MIN_OTHER_SHARE = 3, 0.8
"""Maximum number of other answers, and their minimum score as a share of the best."""


class QuestionAnswer(Struct, frozen=True, omit_defaults=True):
    """The answer to a question."""

    question: str
    known: bool = False
    score: float = 0.0
    """Share of the question that it answers."""
    statement: Statement | None = None
    """The statement in force; when the answer is not known, the nearest statement."""
    was: tuple[Statement, ...] = ()
    """Statements that it replaced, the newest first."""
    also: tuple[Statement, ...] = ()


def answer_question(
    question: ParsedQuestion,
    settled: Sequence[Statement],
    passages: Sequence[Statement] = (),
    *,
    stems: Stems,
) -> QuestionAnswer:
    """Return the best answer: a decision or constraint, else a passage, else `known=False`."""
    scored_statements = score_statements(question, (*passages, *settled), stems=stems)
    ranked = sorted((_apply_factors(scored) for scored in scored_statements), key=_sort_key)
    if not ranked:
        return QuestionAnswer(question.text)
    best, known = ranked[0], ranked[0].score >= MIN_KNOWN_SCORE
    if not known:
        return QuestionAnswer(question.text, False, best.score, best.statement)
    current = current_statement(best.statement, settled)
    return QuestionAnswer(
        question.text,
        True,
        best.score,
        current,
        tuple(replaced_statements(current, settled)),
        tuple(_other_answers(ranked, current, settled)),
    )


def _sort_key(scored: ScoredStatement) -> float:
    """Return the sort key of an answer: decisions and constraints get a bonus over passages."""
    bonus = (
        SETTLED_BONUS
        if scored.statement.kind != "passage" and scored.score >= MIN_KNOWN_SCORE
        else 0.0
    )
    return -(scored.rank + bonus)


def _apply_factors(scored: ScoredStatement) -> ScoredStatement:
    factor = PASSAGE_FACTOR if scored.statement.kind == "passage" else 1.0
    return replace(scored, score=round(scored.score * factor, 4))


def current_statement(statement: Statement, settled: Sequence[Statement]) -> Statement:
    """Follow replacements to the statement in force; return the same one when not replaced."""
    seen = {statement.key}
    while statement.replaced_by:
        following = _by_ref(settled, statement.session, statement.replaced_by)
        newer = next((other for other in following if other.key not in seen), None)
        if newer is None:
            return statement
        seen.add(newer.key)
        statement = newer
    return statement


def replaced_statements(statement: Statement, settled: Sequence[Statement]) -> Iterator[Statement]:
    """Yield the statements that a statement replaced, step by step."""
    seen = {statement.key}
    while True:
        older = [
            other
            for other in settled
            if other.key not in seen
            and (
                other.replaced_by == statement.ref
                or (statement.replaces and other.ref == statement.replaces)
            )
        ]
        if not older:
            return
        statement = older[-1]
        seen.add(statement.key)
        yield statement


def _by_ref(settled: Sequence[Statement], session: str, ref: str) -> list[Statement]:
    """Return the statements of an entry: those of the session first, decisions first."""
    found = [statement for statement in settled if statement.ref == ref]
    return sorted(
        found, key=lambda statement: (statement.session != session, statement.kind != "decision")
    )


def _other_answers(
    ranked: Sequence[ScoredStatement], holds: Statement, settled: Sequence[Statement]
) -> Iterator[Statement]:
    """Yield other answers that score nearly as well, without repetitions."""
    least = max(ranked[0].score * MIN_OTHER_SHARE, MIN_KNOWN_SCORE)
    texts = {_normal_text(holds)}
    for scored in ranked[1:]:
        if scored.score < least or len(texts) > MAX_OTHER_ANSWERS:
            return
        other = current_statement(scored.statement, settled)
        if not any(_normal_text(other) in text or text in _normal_text(other) for text in texts):
            texts.add(_normal_text(other))
            yield other


def _normal_text(statement: Statement) -> str:
    return " ".join(statement.text.lower().split())


def render_answer(answer: QuestionAnswer) -> str:
    """Render an answer as text: the statement, its reason and source, then other answers."""
    statement = answer.statement
    if not answer.known or statement is None:
        return "\n".join(_unknown_lines(statement))
    lines = [statement.words, f"  {describe_source(statement)}"]
    lines += [f"  in place of: {was.text} ({describe_source(was)})" for was in answer.was]
    lines += [f"also: {also.words}\n  {describe_source(also)}" for also in answer.also]
    return "\n".join(lines)


def _unknown_lines(nearest: Statement | None) -> Iterator[str]:
    yield "Not known: nothing recorded answers this."
    if nearest is not None:
        yield f"  nearest: {nearest.text} ({describe_source(nearest)})"


def describe_source(statement: Statement) -> str:
    """Describe the source of a statement: kind, speaker, step, time, session and reference."""
    when = f", {statement.at}" if statement.at else ""
    session = f", session {statement.session}" if statement.session else ""
    lifted = ", taken back since" if statement.replaced_by else ""
    who = f"{statement.kind} by {statement.by or 'unknown'}{lifted}"
    return f"{who}, step {statement.turn}{when}{session}, ref {statement.ref[:REF_CHARS]}"


def answer_document(answer: QuestionAnswer) -> Mapping[str, Json]:
    """Return an answer as a JSON document."""
    statement = answer.statement
    return {
        "question": answer.question,
        "known": answer.known,
        "score": answer.score,
        "answer": _statement_document(statement)
        if statement is not None and answer.known
        else None,
        "was": [_statement_document(other) for other in answer.was],
        "also": [_statement_document(other) for other in answer.also],
        "nearest": _statement_document(statement)
        if statement is not None and not answer.known
        else None,
    }


def _statement_document(statement: Statement) -> Json:
    return {
        "kind": statement.kind,
        "text": statement.text,
        "reason": statement.reason,
        "by": statement.by,
        "ref": statement.ref[:REF_CHARS],
        "session": statement.session,
        "turn": statement.turn,
        "at": statement.at,
        "replaced": bool(statement.replaced_by),
    }
