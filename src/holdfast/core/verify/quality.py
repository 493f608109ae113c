"""Six dimensions of quality, 0 to 5, read off which questions a candidate answers.

Each dimension is the mean of its parts; a part is five times the share of its questions that are
answered, and five when nothing was to be asked. So a part that is lost altogether misses the
target of its dimension, and a session that has none of it is not blamed.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.summary import Error, Quote, Summary
from holdfast.core.shrink.summary.quoting import name_of
from holdfast.core.shrink.summary.text import gist_of
from holdfast.core.verify.answers import Answered

BEST = 5.0
CHANGED = 3
"""What a file that was changed weighs against one that was only read."""
RECENT = 3
"""The last third of the facts asked for is what work goes on with."""


_NUMBER = re.compile(r"[0-9]+")


class Dimension(Struct, frozen=True):
    """One way in which a summary can be good, and how good it has to be."""

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
    """How good a candidate is. A score that is not given is not reached."""

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
        return tuple(each.key for each in DIMENSIONS if scores[each.key] < each.target)

    @property
    def met(self) -> bool:
        """Whether every target is reached."""
        return not self.misses

    def to_dict(self) -> dict[str, float]:
        """All six scores by their dimension."""
        return {each.key: getattr(self, each.key) for each in DIMENSIONS}


@rule(Quality())
def quality(
    answered: Sequence[Answered],
    *,
    seen: Summary,
    candidate: Summary,
    tail_has_open_loop: bool = True,
) -> Quality:
    """Score a candidate by what it answers of what was drawn from `seen`."""

    def part(*sections: str, where: Callable[[Answered], bool] = lambda _: True) -> float:
        return _share(one for one in answered if one.probe.section in sections and where(one))

    def said(*quotes: Quote) -> float:
        texts = {quote.text for quote in quotes}
        return part("intent", where=lambda one: one.probe.answer in texts)

    still = {row.text for row in seen.errors if not row.resolved}
    facts = [one for one in answered if one.probe.section == "facts"]
    recent = facts[len(facts) - -(-len(facts) // RECENT) :]
    intent = seen.intent
    latest = said(intent.current if intent.current.text else intent.original)
    return Quality(
        accuracy=_accuracy(
            (part("facts"), part("errors"), part("decisions")), contradictions(seen, candidate)
        ),
        context_awareness=_mean(latest, part("progress"), part("next")),
        artifact_trail=round(_trail(answered), 2),
        completeness=round(_share(answered), 2),
        continuity=_mean(
            part("next"),
            part("errors", where=lambda one: one.probe.answer in still),
            _share(recent),
            BEST if tail_has_open_loop else 0.0,
        ),
        instruction_following=_mean(
            part("constraints"),
            said(intent.original),
            latest,
            said(*intent.changes),
        ),
    )


def contradictions(seen: Summary, candidate: Summary) -> int:
    """Rows of a candidate that say otherwise than the record does."""
    actions = {row.path: row.action for row in seen.files}
    still = {_met(row) for row in seen.errors if not row.resolved}
    binding = {(name_of(row.entry), row.text) for row in seen.constraints if not row.lifted}
    numbers: dict[str, set[str]] = {}
    for row in seen.facts:
        numbers.setdefault(name_of(row.entry), set()).update(_NUMBER.findall(row.text))
    wrong = (
        *(row.action != actions.get(row.path, row.action) for row in candidate.files),
        *(row.resolved != "" and _met(row) in still for row in candidate.errors),
        *(
            row.lifted != "" and (name_of(row.entry), row.text) in binding
            for row in candidate.constraints
        ),
        *(_misquotes(row.text, numbers.get(name_of(row.entry))) for row in candidate.facts),
    )
    return sum(wrong)


def _met(row: Error) -> tuple[str, str, str]:
    """What makes two rows the same error: one run may fail several tests, and some pass since."""
    return name_of(row.entry), row.what, gist_of(row.text)


def _misquotes(text: str, known: set[str] | None) -> bool:
    """Whether a fact holds a number that the lines it was read from do not."""
    if known is None:
        return False
    held = _NUMBER.findall(text)
    # The last one may have been cut with the line.
    cut = held[-1:] if text.endswith(("…", "...")) else []
    return not known.issuperset(held[: len(held) - len(cut)])


def _accuracy(parts: tuple[float, ...], wrong: int) -> float:
    """One row that says otherwise is enough to miss the target."""
    most = 4.0 - 0.5 * wrong if wrong else BEST
    return max(0.0, min(_mean(*parts), most))


def _trail(answered: Sequence[Answered]) -> float:
    files = [one for one in answered if one.probe.kind == "artifact"]
    changed = [one for one in files if one.probe.answer != "read"]
    return _share(files + changed * (CHANGED - 1))


def _share(answered: Iterable[Answered]) -> float:
    found = [one.found for one in answered]
    return BEST * sum(found) / len(found) if found else BEST


def _mean(*parts: float) -> float:
    return round(sum(parts) / len(parts), 2)
