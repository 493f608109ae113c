"""Ask a model to improve the summary of a compression, if the user compacts and configured one.

Its answer is checked against the record before any row of it is used. If anything fails, the
compression is the one without a model, and the log has the reason.
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
from holdfast.core.shrink.ask.answers import ModelRows, ask_for_rows
from holdfast.core.shrink.summary.rows import is_anchor, original_scene
from holdfast.engine.never_store import NeverStoreFilter
from holdfast.errors import BadSetting
from holdfast.models.drive import AskFn, answer
from holdfast.models.limits import Guard, Limits
from holdfast.models.naming import resolve_model
from holdfast.project.paths import HOLDFAST_FOLDER

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger

SPENT_FILE = "asked.json"
"""File in the project's folder that records the tokens spent on questions."""
MAX_PROMPT_TOKENS = 16_000
"""Maximum tokens of one question; a longer span is split into several questions."""


class SummaryModel:
    """The model of a session: adds rows to a summary, within the limits on its cost."""

    def __init__(self, ledger: "Ledger", model: AskFn | None = None) -> None:
        self._ledger, self._model = ledger, model
        policy = ledger.policy
        limits = Limits(deadline=float(policy.summarizer_deadline), tokens=policy.summarizer_tokens)
        path = str(Path(ledger.root) / HOLDFAST_FOLDER / SPENT_FILE) if ledger.root else None
        self._guard = Guard(limits, path)
        self._answers: dict[tuple[EntryId, ...], ModelRows] = {}
        """Rows by hidden entries: a compression that is retried asks nothing twice."""

    def improve(
        self,
        candidate: Candidate,
        items: Sequence[Item],
        count: CountTokens,
        again: Callable[[Summary], Candidate],
        *,
        budget: int | None = None,
    ) -> tuple[Candidate, str]:
        """Return the candidate with a model's rows, or as it was and why.

        `again` makes the candidate again with rows to add: in the same room, verified as always.
        """
        body = candidate.body
        if body is None or body.summary is None:
            return candidate, ""
        answer_rows = self._ask_once(body, body.summary, items, count)
        if answer_rows.refused or not answer_rows.summary.by:
            return candidate, answer_rows.refused
        improved = again(answer_rows.summary)
        over = budget is not None and improved.plan.after.tokens > budget
        if over or _summarized_entries(improved.body) != _summarized_entries(body):
            return candidate, "there is no room for what the model added"
        return improved, ""

    def _ask_once(
        self, body: Compressed, known: Summary, items: Sequence[Item], count: CountTokens
    ) -> ModelRows:
        names = _summarized_entries(body)
        if names not in self._answers:
            self._answers = {names: self._ask(_items_leaving(items, names), known, count)}
        return self._answers[names]

    def _ask(self, span: Sequence[Item], known: Summary, count: CountTokens) -> ModelRows:
        redact = NeverStoreFilter(self._ledger.policy.never_store).text
        replies: list[Answer | Failed] = []
        asking = ask_for_rows(span, known, count, MAX_PROMPT_TOKENS, redact=redact)
        try:
            model = self._model or resolve_model(self._ledger.summarizer)
        except BadSetting as error:
            return ModelRows(refused=str(error))
        answer_rows = answer(_record_replies(asking, replies), model, self._guard)
        if not answer_rows.refused:
            self._guard.accept()
        elif replies and isinstance(replies[-1], Answer):
            self._guard.strike()
        return answer_rows


def _summarized_entries(body: Compressed | None) -> tuple[EntryId, ...]:
    """Return the entries that the summary of a compression replaces."""
    steps = body.steps if body is not None else ()
    return tuple(name for step in steps if step.kind == "summary" for name in step.hides)


def _items_leaving(items: Sequence[Item], names: Sequence[EntryId]) -> Sequence[Item]:
    """Return the newly hidden items, without stand-ins and without an older summary."""
    hidden = frozenset(names)
    leaving = [item for item in items if item.entry.id in hidden and not is_anchor(item)]
    return original_scene(leaving).items


def _record_replies(asking: Asking[ModelRows], replies: list[Answer | Failed]) -> Asking[ModelRows]:
    """Ask the same questions, and append every reply to `replies`."""
    try:
        ask = next(asking)
        while True:
            reply = yield ask
            replies.append(reply)
            ask = asking.send(reply)
    except StopIteration as done:
        return done.value
