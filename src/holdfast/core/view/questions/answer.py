"""The answer to a question: what holds, who said so and why, and what it took the place of."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.view.questions.question import Question
from holdfast.core.view.questions.score import Judged, judge
from holdfast.core.view.questions.statements import Statement
from holdfast.core.view.search.excerpts import REFERENCE
from holdfast.core.view.search.ranking import Stems
from holdfast.text.jsontext import Json

KNOWN = 0.53
"""The share of a question from which on a statement answers it; measured by `benchmarks/query`."""
SAID = 0.78
"""What a sentence counts that nobody put as a decision or a rule."""
SETTLED = 0.1
"""By how much more of the question a sentence has to answer to come before a decision."""
GONE = 0.9
"""What a statement counts that another took the place of: it leads to that one."""
ALSO, CLOSE = 3, 0.8
"""Other answers that are shown, and how near to the best they have to be."""


class Answer(Struct, frozen=True, omit_defaults=True):
    """What is known of a question."""

    question: str
    known: bool = False
    score: float = 0.0
    """The share of the question that it answers."""
    statement: Statement | None = None
    """What holds; when it is not known, what came nearest."""
    was: tuple[Statement, ...] = ()
    """What it took the place of, the newest first."""
    also: tuple[Statement, ...] = ()


def answered(
    question: Question,
    settled: Sequence[Statement],
    passages: Sequence[Statement] = (),
    *,
    stems: Stems,
) -> Answer:
    """The best answer: a decision or a rule, else a passage, else that it is not known."""
    judged = judge(question, (*passages, *settled), stems=stems)
    ranked = sorted((_weighed(one) for one in judged), key=_place)
    if not ranked:
        return Answer(question.text)
    best, known = ranked[0], ranked[0].score >= KNOWN
    if not known:
        return Answer(question.text, False, best.score, best.statement)
    holds = now(best.statement, settled)
    return Answer(
        question.text,
        True,
        best.score,
        holds,
        tuple(before(holds, settled)),
        tuple(_also(ranked, holds, settled)),
    )


def _place(one: Judged) -> float:
    """Where an answer comes: what was settled, if it answers at all, before what was only said."""
    ahead = SETTLED if one.statement.kind != "passage" and one.score >= KNOWN else 0.0
    return -(one.rank + ahead)


def _weighed(one: Judged) -> Judged:
    said = one.statement
    factor = SAID if said.kind == "passage" else 1.0
    return replace(one, score=round(one.score * factor * (GONE if said.replaced_by else 1.0), 4))


def now(one: Statement, settled: Sequence[Statement]) -> Statement:
    """What holds in the place of a statement; itself, when nothing took its place."""
    seen = {one.key}
    while one.replaced_by:
        following = _by_ref(settled, one.session, one.replaced_by)
        newer = next((other for other in following if other.key not in seen), None)
        if newer is None:
            return one
        seen.add(newer.key)
        one = newer
    return one


def before(one: Statement, settled: Sequence[Statement]) -> Iterator[Statement]:
    """What a statement took the place of, step by step."""
    seen = {one.key}
    while True:
        older = [
            other
            for other in settled
            if other.key not in seen
            and (other.replaced_by == one.ref or (one.replaces and other.ref == one.replaces))
        ]
        if not older:
            return
        one = older[-1]
        seen.add(one.key)
        yield one


def _by_ref(settled: Sequence[Statement], session: str, ref: str) -> list[Statement]:
    """The statements of an entry, decisions first: they say what takes the place."""
    found = [one for one in settled if one.ref == ref]
    return sorted(found, key=lambda one: (one.session != session, one.kind != "decision"))


def _also(
    ranked: Sequence[Judged], holds: Statement, settled: Sequence[Statement]
) -> Iterator[Statement]:
    """Other answers that are nearly as good, each told once."""
    least = max(ranked[0].score * CLOSE, KNOWN)
    told = {_plain(holds)}
    for one in ranked[1:]:
        if one.score < least or len(told) > ALSO:
            return
        other = now(one.statement, settled)
        if not any(_plain(other) in text or text in _plain(other) for text in told):
            told.add(_plain(other))
            yield other


def _plain(one: Statement) -> str:
    return " ".join(one.text.lower().split())


def render_answer(answer: Answer) -> str:
    """An answer as text: what holds, why and who said so, then where it stands."""
    one = answer.statement
    if not answer.known or one is None:
        return "\n".join(_unknown(one))
    lines = [one.words, f"  {source(one)}"]
    lines += [f"  in place of: {was.text} ({source(was)})" for was in answer.was]
    lines += [f"also: {also.words}\n  {source(also)}" for also in answer.also]
    return "\n".join(lines)


def _unknown(nearest: Statement | None) -> Iterator[str]:
    yield "Not known: nothing recorded answers this."
    if nearest is not None:
        yield f"  nearest: {nearest.text} ({source(nearest)})"


def source(one: Statement) -> str:
    """Where a statement stands: what it is, who said it, when, and how to read it."""
    when = f", {one.at}" if one.at else ""
    session = f", session {one.session}" if one.session else ""
    lifted = ", taken back since" if one.replaced_by else ""
    who = f"{one.kind} by {one.by or 'unknown'}{lifted}"
    return f"{who}, step {one.turn}{when}{session}, ref {one.ref[:REFERENCE]}"


def answer_document(answer: Answer) -> Mapping[str, Json]:
    """An answer as a JSON document."""
    one = answer.statement
    return {
        "question": answer.question,
        "known": answer.known,
        "score": answer.score,
        "answer": _row(one) if one is not None and answer.known else None,
        "was": [_row(other) for other in answer.was],
        "also": [_row(other) for other in answer.also],
        "nearest": _row(one) if one is not None and not answer.known else None,
    }


def _row(one: Statement) -> Json:
    return {
        "kind": one.kind,
        "text": one.text,
        "reason": one.reason,
        "by": one.by,
        "ref": one.ref[:REFERENCE],
        "session": one.session,
        "turn": one.turn,
        "at": one.at,
        "replaced": bool(one.replaced_by),
    }
