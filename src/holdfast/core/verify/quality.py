"""Score a summary in six dimensions from 0 to 5, by the probes that it answers.

Each dimension is the mean of its parts. A part is five times the share of its probes that are
answered, and five if it has no probes. So a part that is lost completely misses the target of its
dimension, and a session without such a part loses nothing.
"""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.summary import Error, Quote, Summary
from holdfast.core.shrink.summary.quoting import short_name
from holdfast.core.shrink.summary.text import main_error_line
from holdfast.core.verify.answers import ProbeResult
from holdfast.text.patterns import Pattern

MAX_SCORE = 5.0
CHANGED_FILE_WEIGHT = 3
"""Weight of a changed file, relative to one that was only read."""
RECENT_FACTS_DIVISOR = 3
"""The last third of the probed facts counts as recent."""


_NUMBER = Pattern(r"[0-9]+")


class Dimension(Struct, frozen=True):
    """One dimension of quality with its target score."""

    key: str
    name: str
    target: float
    measures: str


DIMENSIONS = (
    Dimension("accuracy", "Accuracy", 4.0, "Technical correctness of preserved details"),
    Dimension("context_awareness", "Context Awareness", 4.0, "Reflects current conversation state"),
    Dimension("artifact_trail", "Artifact Trail", 3.5, "Knowledge of read/modified files"),
    Dimension("completeness", "Completeness", 3.5, "All relevant information preserved"),
    Dimension("continuity", "Continuity", 4.0, "Work continues without re-fetching"),
    Dimension("instruction_following", "Instruction Following", 4.0, "Respects stated constraints"),
)


class Quality(Struct, frozen=True, omit_defaults=True):
    """The scores of a candidate; a missing score counts as 0."""

    accuracy: float = 0.0
    context_awareness: float = 0.0
    artifact_trail: float = 0.0
    completeness: float = 0.0
    continuity: float = 0.0
    instruction_following: float = 0.0

    @property
    def misses(self) -> tuple[str, ...]:
        """The dimensions that are below their target."""
        scores = self.to_dict()
        return tuple(
            dimension.key for dimension in DIMENSIONS if scores[dimension.key] < dimension.target
        )

    @property
    def meets_targets(self) -> bool:
        """Whether every target is reached."""
        return not self.misses

    def to_dict(self) -> dict[str, float]:
        """All six scores by their dimension."""
        return {dimension.key: getattr(self, dimension.key) for dimension in DIMENSIONS}


@rule(Quality())
def score_quality(
    results: Sequence[ProbeResult],
    *,
    source: Summary,
    candidate: Summary,
    tail_has_open_loop: bool = True,
) -> Quality:
    """Score a candidate by the results of the probes that were made from `source`."""

    def part(*sections: str, where: Callable[[ProbeResult], bool] = lambda _: True) -> float:
        return _answered_score(
            result for result in results if result.probe.section in sections and where(result)
        )

    def quoted(*quotes: Quote) -> float:
        texts = {quote.text for quote in quotes}
        return part("intent", where=lambda result: result.probe.answer in texts)

    unresolved = {row.text for row in source.errors if not row.resolved}
    facts = [result for result in results if result.probe.section == "facts"]
    recent = facts[len(facts) - -(-len(facts) // RECENT_FACTS_DIVISOR) :]
    intent = source.intent
    latest = quoted(intent.current if intent.current.text else intent.original)
    return Quality(
        accuracy=_accuracy(
            (part("facts"), part("errors"), part("decisions")),
            count_contradictions(source, candidate),
        ),
        context_awareness=_mean(latest, part("progress"), part("next")),
        artifact_trail=round(_trail_score(results), 2),
        completeness=round(_answered_score(results), 2),
        continuity=_mean(
            part("next"),
            part("errors", where=lambda result: result.probe.answer in unresolved),
            _answered_score(recent),
            MAX_SCORE if tail_has_open_loop else 0.0,
        ),
        instruction_following=_mean(
            part("constraints"), quoted(intent.original), latest, quoted(*intent.changes)
        ),
    )


def count_contradictions(source: Summary, candidate: Summary) -> int:
    """Count the rows of a candidate that contradict the record."""
    actions = {row.path: row.action for row in source.files}
    unresolved = {_error_key(row) for row in source.errors if not row.resolved}
    binding = {(short_name(row.entry), row.text) for row in source.constraints if not row.lifted}
    numbers: dict[str, set[str]] = {}
    for row in source.facts:
        numbers.setdefault(short_name(row.entry), set()).update(_NUMBER.findall(row.text))
    wrong = (
        *(row.action != actions.get(row.path, row.action) for row in candidate.files),
        *(row.resolved != "" and _error_key(row) in unresolved for row in candidate.errors),
        *(
            row.lifted != "" and (short_name(row.entry), row.text) in binding
            for row in candidate.constraints
        ),
        *(_misquotes(row.text, numbers.get(short_name(row.entry))) for row in candidate.facts),
    )
    return sum(wrong)


def _error_key(row: Error) -> tuple[str, str, str]:
    """Return the identity of an error: one run may fail several tests, and some may pass later."""
    return short_name(row.entry), row.what, main_error_line(row.text)


def _misquotes(text: str, known: set[str] | None) -> bool:
    """Whether a fact has a number that is not in the lines it was read from."""
    if known is None:
        return False
    numbers = _NUMBER.findall(text)
    # The last number may have been cut with the line.
    cut = numbers[-1:] if text.endswith(("…", "...")) else []
    return not known.issuperset(numbers[: len(numbers) - len(cut)])


def _accuracy(parts: tuple[float, ...], wrong: int) -> float:
    """Return the mean of the parts, capped below the target if any row contradicts the record."""
    highest = 4.0 - 0.5 * wrong if wrong else MAX_SCORE
    return max(0.0, min(_mean(*parts), highest))


def _trail_score(results: Sequence[ProbeResult]) -> float:
    files = [result for result in results if result.probe.kind == "artifact"]
    changed = [result for result in files if result.probe.answer != "read"]
    return _answered_score(files + changed * (CHANGED_FILE_WEIGHT - 1))


def _answered_score(results: Iterable[ProbeResult]) -> float:
    answered = [result.found for result in results]
    return MAX_SCORE * sum(answered) / len(answered) if answered else MAX_SCORE


def _mean(*parts: float) -> float:
    return round(sum(parts) / len(parts), 2)
