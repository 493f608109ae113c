"""Replay a finished session: what Holdfast would have compressed, and what each request costs.

The session is read once. Before each request of the agent, the code of a live session decides; one
meter bills that request, and another one the request without compression.
"""

from collections.abc import Callable, Iterable
from hashlib import sha256

from msgspec.structs import replace

from holdfast.core.apply import items_after
from holdfast.core.compress import at_birth, plan_batch
from holdfast.core.ledger.append import derived_entry
from holdfast.core.ledger.entry import (
    Compressed,
    Derived,
    Entry,
    EntryId,
    Source,
    ToolCalled,
    ToolReturned,
    Used,
    pack,
    role_of,
    text_of,
)
from holdfast.core.ledger.head import Head, Lane, advance_head
from holdfast.core.ledger.notes import Persisted, Postponed, encode
from holdfast.core.ledger.window import GrowingList, Item, Window
from holdfast.core.ledger.window import advance_window as grow
from holdfast.core.measure.bill import BilledPart, BillingMeter, RequestFrame
from holdfast.core.measure.frames import Report, frame_of
from holdfast.core.measure.models import Model
from holdfast.core.measure.tokens import count_body
from holdfast.core.measure.usage import measure
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.worth import find_names, is_by_agent
from holdfast.core.plan.due import due, grown_enough
from holdfast.core.plan.plan import Candidate
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.state import State
from holdfast.core.shrink.step import ShrinkContext, no_address
from holdfast.core.verify.quality import Quality
from holdfast.core.view.replay import ReplayCosts
from holdfast.models.tokenizers import counter

MAX_ITEMS_TO_CALL = 12
"""Items back from a result within which its call is searched."""
PREFIX_TOKENS = 20_000
"""Tokens of system prompt and tools before the messages of every request."""


def replay(
    session: str,
    entries: Iterable[Entry],
    *,
    policy: Policy,
    model: Model,
    limit: int,
    prefix: int = PREFIX_TOKENS,
    window: int = 0,
    reports: Iterable[Report] = (),
    factor: float = 1.0,
    progress: Callable[[int], None] | None = None,
) -> ReplayCosts:
    """Replay a session's own entries as if Holdfast had compressed it.

    `reports` are the provider's reports on its requests, `factor` how many of its tokens one raw
    token is. A request without a report has the same tokens beside its entries as the one before
    it; if there is no report at all, `prefix` tokens.
    """
    sources = [entry for entry in entries if not isinstance(entry.body, Derived)]
    running = Replay(policy, model, limit, prefix, window=window, reports=reports, factor=factor)
    for number, entry in enumerate(sources):
        running.add(entry)
        if progress is not None and number % 50 == 0:
            progress(number)
    return running.result(session)


class Replay:
    """The state of a replay that is running."""

    def __init__(
        self,
        policy: Policy,
        model: Model,
        limit: int,
        prefix: int,
        *,
        window: int = 0,
        reports: Iterable[Report] = (),
        factor: float = 1.0,
    ) -> None:
        self.policy, self.model, self.limit, self.factor = policy, model, limit, factor
        self.reports = {report.request: report for report in reports}
        first = next(iter(self.reports.values()), None)
        self.frame = frame_of(first, round(first.raw * factor)) if first else RequestFrame(prefix)
        self.context = ShrinkContext(
            count=counter(model.vocabulary), address=no_address, policy=policy
        )
        window = window or policy.window or model.window
        self.ours = BillingMeter(model.cache, prefix=prefix, window=window)
        self.none = BillingMeter(model.cache, prefix=prefix, window=window)
        self.head, self.window = Head(vocabulary=model.vocabulary), Window()
        self.counts: dict[int, int] = {}
        self.provider_tokens = 0
        """Tokens of all entries, as the provider would count them."""
        self.all_parts: list[BilledPart] = []
        self.parts: dict[EntryId, BilledPart] = {}
        self.stand_in_parts: dict[tuple[EntryId, Source | None], BilledPart] = {}
        self.known: dict[EntryId, frozenset[str]] = {}
        self.seq = self.sent = 0
        self.answer_names: set[str] = set()
        self.answering = False
        self.compressions = self.postponed = 0
        self.scores: list[Quality] = []
        self.names_that_left: set[str] = set()
        """Names in hidden entries that were not used since."""
        self.used = self.seen = 0

    def add(self, entry: Entry) -> None:
        """Add one more entry of the session."""
        body = entry.body
        assert not isinstance(body, Derived)
        is_agents = role_of(body) == "assistant"
        if is_agents and not self.answering:
            self._request(entry.id)
        if not is_agents and self.answering:
            self._end_answer()
        self.answering = is_agents
        self._append(entry, body)
        if is_agents and is_by_agent(body):
            self.answer_names |= self.known[entry.id]

    def _append(self, entry: Entry, body: Source) -> None:
        self.seq += 1
        tokens = count_body(body, self.context.count)
        placed = replace(
            entry, seq=self.seq, lane="", parent=self.window.end, message=self._message(entry)
        )
        self.counts[self.seq] = tokens
        self.head = advance_head(self.head, placed, tokens)
        self.window = grow(self.window, [placed])
        part = BilledPart(entry.id, round(tokens * self.factor), find_names(text_of(body)))
        self.known[entry.id], self.parts[entry.id] = part.names, part
        self.all_parts.append(part)
        self.provider_tokens += part.tokens
        self.ours.add_arrival(part)
        if isinstance(body, ToolReturned) and not body.failed:
            self._note_written(body)

    def _message(self, entry: Entry) -> int:
        """Return the number of its message's first entry in this replay."""
        return self.seq - (entry.seq - entry.message if entry.message else 0)

    def _note_written(self, body: ToolReturned) -> None:
        """Assume that a successful write was on disk: a live session would have noted it."""
        for item in reversed(self.window.items[-MAX_ITEMS_TO_CALL:]):
            call = item.entry.body
            if isinstance(call, ToolCalled) and call.call == body.call:
                if touch_of(call).verb in ("write", "edit"):
                    self._derive(encode(Persisted(item.entry.id, sha256="assumed")))
                return

    def _derive(self, body: Derived) -> None:
        self.seq += 1
        entry = derived_entry(self.seq, body, parent=self.window.end, lane="", at="")
        self.counts.setdefault(self.seq, 0)
        self.head = advance_head(self.head, entry, 0)
        if isinstance(body, Compressed):
            self.window = _compressed_window(self.window, entry, body)
        else:
            self.window = grow(self.window, [entry])

    def _request(self, answer: EntryId) -> None:
        self._decide()
        if answer in self.reports:
            self.frame = self._frame_for(self.reports[answer])
        self.none.bill_request(self.all_parts, self.frame)
        parts = [self._part(item) for item in self.window.items]
        size = self.ours.bill_request(parts, self.frame)
        size -= (
            self.ours.fetched_tokens
        )  # fetched for the bill; no entry of this replay tells of it
        self.sent = self.seq
        self._derive(Used(size=size, input=size, model=self.model.id))

    def _frame_for(self, report: Report) -> RequestFrame:
        """Return the tokens of a request that no entry accounts for."""
        sent = self.provider_tokens - round(report.dropped * self.factor)
        return frame_of(report, max(sent, 0))

    def _end_answer(self) -> None:
        again = self.answer_names & self.names_that_left
        self.used += len(again)
        self.seen += sum(self.ours.is_visible(name) for name in again)
        self.names_that_left -= again
        self.ours.charge_fetches(self.answer_names)
        self.answer_names = set()

    def _decide(self) -> None:
        state = self._state()
        first_candidate = at_birth(state, self.context)
        if first_candidate is not None:
            self._apply(first_candidate)
        lane = self._lane()
        usage = measure(lane, self.model, self.limit)
        due_now = due(usage, lane, self.policy)
        if due_now.action and grown_enough(lane, usage):
            self._apply(plan_batch(self._state(), self.context, due_now))

    def _apply(self, candidate: Candidate) -> None:
        if candidate.body is not None:
            self._note_compression(candidate.body)
            self._derive(candidate.body)
            self.compressions += 1
        else:
            self._derive(encode(Postponed(self._lane().tokens)))
            self.postponed += 1

    def _note_compression(self, body: Compressed) -> None:
        """Record the scores and the names that leave before a compression is applied."""
        if body.summary is not None:
            self.scores.append(Quality(**body.quality))
        hidden = {name for step in body.steps for name in step.hides}
        for item in self.window.items:
            if hidden.issuperset(item.shows) and item.entry.seq <= self.sent:
                self.names_that_left |= self._part(item).names

    def _lane(self) -> Lane:
        return self.head.lane("")

    def _state(self) -> State:
        return State(
            window=self.window,
            counts=self.counts,
            lane=self._lane(),
            model=self.model,
            limit=self.limit,
            policy=self.policy,
            seq=self.seq,
            sent=self.sent,
            known_names=self.known,
        )

    def _part(self, item: Item) -> BilledPart:
        if item.stand_in is None:
            return self.parts[item.entry.id]
        place = (item.entry.id, item.stand_in)
        if place not in self.stand_in_parts:
            text = text_of(item.stand_in)
            key = sha256(pack(item.stand_in)).hexdigest()
            tokens = round(count_body(item.stand_in, self.context.count) * self.factor)
            self.stand_in_parts[place] = BilledPart(key, tokens, find_names(text))
        return self.stand_in_parts[place]

    def result(self, session: str) -> ReplayCosts:
        """Return the costs and counts of the whole replay."""
        self._end_answer()
        return ReplayCosts(
            name=session,
            ours=self.ours.cost(),
            none=self.none.cost(),
            compressions=self.compressions,
            postponed=self.postponed,
            scores=tuple(self.scores),
            used=self.used,
            seen=self.seen,
            tasks=self._lane().turns,
        )


def _compressed_window(window: Window, entry: Entry, body: Compressed) -> Window:
    """Return the window after a compression; there is no undo here, so no fold is needed."""
    return Window(
        lane=window.lane,
        end=window.end,
        generation=window.generation + 1,
        items=GrowingList(items_after(window.items, body.steps)),
        ledger=window.ledger.plus([entry]),
    )
