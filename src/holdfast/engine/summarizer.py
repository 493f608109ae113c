"""Asking a model about what is about to leave: only when someone compacts, and named a model.

What it says is checked against the record before a row of it is used. Whatever goes wrong, the
compression stands as it would without a model, and the log says why.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.core.asking import Answer, Asking, Failed
from holdfast.core.ledger.entry import Compressed, EntryId
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.plan.plan import Candidate
from holdfast.core.shrink.ask.answers import Made, summarising
from holdfast.core.shrink.summary.rows import as_it_came, is_anchor
from holdfast.engine.never_store import Withholder
from holdfast.errors import BadSetting
from holdfast.models.drive import AskFn, answer
from holdfast.models.limits import Guard, Limits
from holdfast.models.naming import model_of
from holdfast.project.paths import FOLDER

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger

ASKED = "asked.json"
"""The file in the project's folder that keeps what was asked so far."""
PROMPT = 16_000
"""Tokens that one question may have; a longer span is asked about in parts."""


class Summarizing:
    """A session's model: what it adds to a compression, and what it may cost."""

    def __init__(self, ledger: "Ledger", model: AskFn | None = None) -> None:
        self._ledger, self._model = ledger, model
        policy = ledger.policy
        limits = Limits(deadline=float(policy.summarizer_deadline), tokens=policy.summarizer_tokens)
        path = str(Path(ledger.root) / FOLDER / ASKED) if ledger.root else None
        self._guard = Guard(limits, path)
        self._made: dict[tuple[EntryId, ...], Made] = {}
        """What came of each question: a compression that is tried again asks nothing twice."""

    def improved(
        self,
        candidate: Candidate,
        items: Sequence[Item],
        count: CountTokens,
        again: Callable[[Summary], Candidate],
        *,
        budget: int | None = None,
    ) -> tuple[Candidate, str]:
        """The candidate with a model's rows, or as it was and why.

        `again` makes the candidate anew with rows to add: in the same room, verified as always.
        """
        body = candidate.body
        if body is None or body.summary is None:
            return candidate, ""
        made = self._asked(body, body.summary, items, count)
        if made.refused or not made.summary.by:
            return candidate, made.refused
        other = again(made.summary)
        over = budget is not None and other.plan.after.tokens > budget
        if over or _hidden(other.body) != _hidden(body):
            return candidate, "there is no room for what the model added"
        return other, ""

    def _asked(
        self, body: Compressed, known: Summary, items: Sequence[Item], count: CountTokens
    ) -> Made:
        names = _hidden(body)
        if names not in self._made:
            self._made = {names: self._ask(_leaving(items, names), known, count)}
        return self._made[names]

    def _ask(self, span: Sequence[Item], known: Summary, count: CountTokens) -> Made:
        redact = Withholder(self._ledger.policy.never_store).text
        heard: list[Answer | Failed] = []
        asking = summarising(span, known, count, PROMPT, redact=redact)
        try:
            model = self._model or model_of(self._ledger.summarizer)
        except BadSetting as error:
            return Made(refused=str(error))
        made = answer(_overheard(asking, heard), model, self._guard)
        if not made.refused:
            self._guard.accept()
        elif heard and isinstance(heard[-1], Answer):
            self._guard.strike()
        return made


def _hidden(body: Compressed | None) -> tuple[EntryId, ...]:
    """What the summary of a compression stands for."""
    steps = body.steps if body is not None else ()
    return tuple(name for step in steps if step.kind == "summary" for name in step.hides)


def _leaving(items: Sequence[Item], names: Sequence[EntryId]) -> Sequence[Item]:
    """The entries that are newly hidden, as they came; an older summary is none of them."""
    hidden = frozenset(names)
    leaving = [item for item in items if item.entry.id in hidden and not is_anchor(item)]
    return as_it_came(leaving).items


def _overheard(asking: Asking[Made], heard: list[Answer | Failed]) -> Asking[Made]:
    """The same questions, with all replies put down in `heard`."""
    try:
        ask = next(asking)
        while True:
            reply = yield ask
            heard.append(reply)
            ask = asking.send(reply)
    except StopIteration as done:
        return done.value
