"""Ask a model to improve the summary of a compression, if the user compacts and configured one.

Its answer is checked against the record before any row of it is used. If anything fails, the
compression is the one without a model, and the log has the reason.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.core.ledger.entry import Compressed, EntryId
from holdfast.core.ledger.notes import SummarizerRefused
from holdfast.core.ledger.summary import Summary
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.plan.plan import Candidate
from holdfast.core.plan.state import State
from holdfast.core.shrink.ask.answers import ModelRows, ask_for_rows, count_reasons
from holdfast.core.shrink.ask.prompts import Span
from holdfast.core.shrink.summary.rows import is_anchor, original_scene
from holdfast.core.summarize import read_path
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
"""Maximum tokens of a question: of a longer span, it shows the moments chosen for that room."""


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
        state: State,
        count: CountTokens,
        again: Callable[[Summary], Candidate],
        *,
        budget: int | None = None,
    ) -> tuple[Candidate, SummarizerRefused | None]:
        """Return the candidate with a model's rows, and a note if not all of them are used.

        `again` makes the candidate again with rows to add: in the same room, verified as always.
        """
        body = candidate.body
        if body is None or body.summary is None:
            return candidate, None
        rows = self._ask_once(body, body.summary, state, count)
        if not rows.summary.by:
            return candidate, SummarizerRefused(rows.refused) if rows.refused else None
        improved = again(rows.summary)
        over = budget is not None and improved.plan.after.tokens > budget
        if over or _summarized_entries(improved.body) != _summarized_entries(body):
            return candidate, SummarizerRefused("there is no room for what the model added")
        if not rows.left_out:
            return improved, None
        return improved, SummarizerRefused(
            count_reasons(rows.left_out), left_out=len(rows.left_out), by=rows.by
        )

    def _ask_once(
        self, body: Compressed, known: Summary, state: State, count: CountTokens
    ) -> ModelRows:
        names = _summarized_entries(body)
        if names not in self._answers:
            self._answers = {names: self._ask(_span_of(state, names), known, count)}
        return self._answers[names]

    def _ask(self, span: Span, known: Summary, count: CountTokens) -> ModelRows:
        redact = NeverStoreFilter(self._ledger.policy.never_store).text
        asking = ask_for_rows(span, known, count, MAX_PROMPT_TOKENS, redact=redact)
        try:
            model = self._model or resolve_model(self._ledger.summarizer)
        except BadSetting as error:
            return ModelRows(refused=str(error))
        rows = answer(asking, model, self._guard)
        if not rows.refused:
            self._guard.accept()
        elif rows.by:
            self._guard.strike()
        return rows


def _summarized_entries(body: Compressed | None) -> tuple[EntryId, ...]:
    """Return the entries that the summary of a compression replaces."""
    steps = body.steps if body is not None else ()
    return tuple(name for step in steps if step.kind == "summary" for name in step.hides)


def _span_of(state: State, names: Sequence[EntryId]) -> Span:
    """Return the newly hidden entries and those that stay, without stand-ins for several."""
    hidden = frozenset(names)
    items = [item for item in state.window.items if not is_anchor(item)]
    leaves = [item for item in items if item.entry.id in hidden]
    stays = [item for item in items if item.entry.id not in hidden]
    return Span(original_scene(leaves).items, original_scene(stays).items, read_path(state).moments)
