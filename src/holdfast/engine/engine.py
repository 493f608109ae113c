"""Decide when one session is compressed, have `core/compress.py` plan it, and write the result.

Planning happens outside any lock. A plan is written only if the window is still the one it was made
for, and readable copies are written before the window that refers to them.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.apply import items_after
from holdfast.core.compress import at_birth, plan_batch, plan_to_budget
from holdfast.core.faults import attempt
from holdfast.core.ledger.append import derived_entry
from holdfast.core.ledger.entry import HOLDFAST, Compressed, Entry, EntryId, Restored, role_of
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.notes import Postponed, SummarizerRefused
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item, Window, fold, in_force
from holdfast.core.measure.sizes import raw_sizes
from holdfast.core.measure.tokens import check_token_count
from holdfast.core.measure.usage import measure, measure_at_most
from holdfast.core.plan.due import Due, due, grown_enough
from holdfast.core.plan.floor import floor_of
from holdfast.core.plan.large import may_be_large
from holdfast.core.plan.plan import Candidate, Plan
from holdfast.core.plan.policy import Policy, for_model
from holdfast.core.plan.state import State
from holdfast.core.shrink.step import ShrinkContext
from holdfast.engine.copies import (
    DiskWrites,
    archive_address,
    copy_addresses,
    redact_copies,
    write_copies,
)
from holdfast.engine.fault_log import notes_faults
from holdfast.engine.outcome import Account, Outcome, outcome_of
from holdfast.errors import BadCompression, Blocked, HoldfastError, NothingToShrink, NotWritten
from holdfast.models.tokenizers import counter
from holdfast.stores.store import retry_on_conflict
from holdfast.wire.detect import TRANSCRIPT_WIRES

if TYPE_CHECKING:
    from holdfast.core.observe.moments.story import PathContent
    from holdfast.engine.checkpoints import Checkpoint
    from holdfast.engine.ledger import Ledger
    from holdfast.engine.preserve import Preserver
    from holdfast.engine.story import StoryReader
    from holdfast.engine.summarizer import SummaryModel

logger = logging.getLogger(__name__)

MANUAL_TRIGGER = "asked for"


class Engine:
    """Compresses the window of one session, and remembers which items it has considered."""

    def __init__(self, ledger: "Ledger") -> None:
        self._ledger = ledger
        self._known_names: Mapping[EntryId, frozenset[str]] = {}
        self._sent_seq = 0
        self._considered_items = 0
        self._considered_generation = -1
        self._writes = DiskWrites(ledger)
        self._planned_window = Window()
        """The window that was last planned for, with its secrets."""
        self._counts: dict[int, int] = {}
        self._counted, self._counts_valid_for = 0, ("", 0)
        """The token counts up to an entry, and what they are valid for."""
        self._warned_over_limit = False
        """Whether the log already says that this window is over its limit."""

    @property
    def ledger(self) -> "Ledger":
        """The ledger that it works on."""
        return self._ledger

    def consider(self) -> None:
        """Compress if the policy says so. Never raises: on an error the window stays as it is."""
        self._log_and_continue(self._consider)

    def _log_and_continue(self, act: Callable[[], None]) -> None:
        try:
            attempt("engine", lambda: retry_on_conflict(self._ledger.name, act), lambda: None)
        except HoldfastError as error:
            logger.warning("the window of %r stays as it is: %s", self._ledger.name, error)

    def to_send(self) -> list[bytes]:
        """Compress if the policy says so, and return the messages of the window to send now."""
        self.consider()
        sight = self._ledger.live_window
        messages = attempt("wire.render", sight.messages, self._as_received)
        self.mark_sent()
        return messages

    def _as_received(self) -> list[bytes]:
        """Render every message without any compression: used if rendering the window fails."""
        return self._ledger.live_window.render_items([Item(entry) for entry in self._ledger.path()])

    def mark_sent(self) -> None:
        """Record that every item of the window was given out to be sent."""
        items = self._ledger.window().items
        if items:
            self._sent_seq = max(self._sent_seq, items[-1].entry.seq)

    def _consider(self) -> None:
        window = self._ledger.window()
        fresh = self._new_items(window)
        self._writes.check_new(fresh)
        if self._has_large(fresh):
            attempt("engine.at_birth", lambda: self._plan_and_write(at_birth), lambda: None)
        due_now = self._find_due()
        if due_now.action:
            attempt("engine.batch", lambda: self._compress_due(due_now), lambda: None)
        window = self._ledger.window()
        self._considered_items, self._considered_generation = len(window.items), window.generation

    def _compress_due(self, due_now: Due) -> None:
        """Compress by a batch; a forced one follows a checkpoint and may advise a fresh session."""
        if due_now.action != "force":
            self._compress_batch(due_now)
            return
        from holdfast.engine.checkpoints import (  # late: rarely needed
            advise_if_critical,
            checkpoint_at_critical,
        )

        state = self.state()
        checkpoint_at_critical(
            self._ledger, state, self.shrink_context(state.policy), due_now.trigger
        )
        self._plan_and_write(lambda state, context: plan_batch(state, context, due_now))
        advise_if_critical(self._ledger, self.state())

    def _compress_batch(self, due_now: Due) -> None:
        """Compress by a batch if that pays; take a checkpoint if it is refused.

        Raises:
            Blocked, BadCompression, NotWritten: why nothing was changed.
        """
        try:
            self._plan_and_write(lambda state, context: plan_batch(state, context, due_now))
        except (Blocked, BadCompression, NotWritten):
            from holdfast.engine.checkpoints import (
                checkpoint_after_refusal,  # late: rarely needed
            )

            state = self.state()
            checkpoint_after_refusal(
                self._ledger, state, self.shrink_context(state.policy), due_now.trigger
            )
            raise

    @notes_faults
    def checkpoint(self, trigger: str = MANUAL_TRIGGER) -> "Checkpoint":
        """Save the state of the work.

        Raises:
            NotWritten: its readable copy could not be written.
        """
        from holdfast.engine.checkpoints import (
            take_checkpoint_now,  # late: few sessions ask for one
        )

        return take_checkpoint_now(
            self._ledger, self.state, self.shrink_context(self._ledger.policy), trigger
        )

    @notes_faults
    def at_boundary(self, event: str) -> None:
        """Compress by a batch or a summary, if that pays, when a task is done or a phase left."""
        due_now = Due("weigh", event.replace("_", " "), boundary=True)
        self._log_and_continue(
            lambda: self._plan_and_write(lambda state, context: plan_batch(state, context, due_now))
        )

    def _new_items(self, window: Window) -> list[Item]:
        """Return the items since the last call; in a fresh process, the agent's last step."""
        items = window.items
        if self._considered_generation < 0:
            start = _start_of_last_step(items)
        else:
            start = (
                self._considered_items if self._considered_generation == window.generation else 0
            )
        return [items[at] for at in range(min(start, len(items)), len(items))]

    def _has_large(self, fresh: list[Item]) -> bool:
        policy = self._policy_for(self._ledger.raw_head())
        limit = self._ledger.limit()
        return any(may_be_large(item, policy, limit) for item in fresh)

    def _find_due(self) -> Due:
        """Return which action is due; count with the tokenizer only if estimates cannot decide."""
        session = self._ledger
        head = session.raw_head()
        lane, model, limit = head.lane(session.agent), session.model(), session.limit()
        policy = self._policy_for(head)
        if not head.stale:
            highest = measure_at_most(lane, model, limit)
            grown_lane = replace(lane, tokens=lane.tokens + lane.uncounted)
            if not due(highest, lane, policy).action or not grown_enough(grown_lane, highest):
                return Due()
        lane = session.head().lane(session.agent)
        usage = measure(lane, model, limit)
        due_now = due(usage, lane, policy)
        return due_now if grown_enough(lane, usage) else Due()

    @cached_property
    def _loaded_policy(self) -> Policy:
        """The policy with settings of outside files: planning needs them, appending does not."""
        load_policy = self._ledger.load_policy
        return load_policy() if load_policy is not None else self._ledger.policy

    def _policy_for(self, head: Head) -> Policy:
        policy = self._loaded_policy
        return for_model(policy, policy.model or head.model)

    def _plan_and_write(self, make: "Callable[[State, ShrinkContext], Candidate | None]") -> None:
        """Plan with `make`, and write the compression, or a note that it was postponed."""
        for_summary = make is not at_birth
        state = self.state(for_summary=for_summary)
        context = self.shrink_context(state.policy, for_summary=for_summary)
        candidate = make(state, context)
        if candidate is None:
            return
        self._known_names = candidate.names_by_entry or self._known_names
        if candidate.body is not None:
            self.write(candidate, state)
        else:
            self._note_postponed(candidate, state)

    def _note_postponed(self, candidate: Candidate, state: State) -> None:
        plan = candidate.plan
        is_over = plan.before.fraction >= 1 or plan.verdict == "refused"
        if is_over and not self._warned_over_limit:
            logger.warning(
                "the window of %r has %s tokens and takes %s, and %s",
                self._ledger.name,
                f"{plan.before.tokens:,}",
                f"{plan.before.limit:,}",
                plan.reason,
            )
        self._warned_over_limit = is_over
        postponed = Postponed(
            raw=state.lane.tokens,
            trigger=plan.trigger,
            reason=plan.reason,
            saves=sum(step.before - step.after for step in plan.steps),
            gain=round(plan.bill.gain),
        )
        self._ledger.note(postponed)

    @cached_property
    def _story(self) -> "StoryReader":
        from holdfast.engine.story import StoryReader  # late: it loads every reader of the record

        return StoryReader(self._ledger)

    @notes_faults
    def state(self, *, for_summary: bool = True) -> State:
        """Read everything that a plan is made from; what the path says only for a summary."""
        session = self._ledger
        head, window = self._consistent_state()
        if session.redactor.learn():
            self._known_names = {}
            redact_copies(session)
        return State(
            window=session.redactor.window(window),
            counts=self._counts_of(head),
            lane=head.lane(session.agent),
            model=session.model(),
            limit=session.limit(),
            limit_from=session.limit_with_origin().origin,
            policy=self._policy_for(head),
            seq=head.seq,
            sent=max(self._sent_seq, _last_agent_seq(window)),
            warm=self._is_cache_warm(window),
            known_names=self._known_names,
            brought_back=_undone_entries(window.ledger),
            hosted=head.wire in TRANSCRIPT_WIRES,
            reading=self._story.read(window.end) if for_summary else None,
        )

    def _counts_of(self, head: Head) -> Mapping[int, int]:
        """Return the token counts of all entries; reads only those of new ones."""
        session = self._ledger
        valid_for = (head.vocabulary, session.erased_upto)
        if valid_for != self._counts_valid_for or head.counted < self._counted:
            self._counts, self._counted, self._counts_valid_for = {}, 0, valid_for
        new = session.store.counts(session.name, head.vocabulary, since=self._counted)
        self._counts.update(new)
        self._counted = head.counted
        return self._counts

    def _consistent_state(self) -> tuple[Head, Window]:
        """Return the head and a window that holds no later entry: others may write in between."""
        while True:
            head = self._ledger.head()
            self._planned_window = window = self._ledger.planning_window()
            if self._ledger.live_window.seq <= head.seq:
                return head, window

    def _is_cache_warm(self, window: Window) -> bool:
        """Return whether the provider still caches the last request; yes if its time is unknown."""
        sent_at = next(
            (item.entry.at for item in reversed(window.items) if _is_from_agent(item)), ""
        )
        return self._ledger.seconds_since(sent_at) < self._ledger.model().cache.seconds

    def shrink_context(self, policy: Policy, *, for_summary: bool = True) -> ShrinkContext:
        """Return the token counter, paths of copies and lines to carry that shrinking needs."""
        session = self._ledger
        vocabulary = session.raw_head().vocabulary
        return ShrinkContext(
            count=counter(vocabulary or session.model().vocabulary),
            address=copy_addresses(session, policy),
            policy=policy,
            session=session.name,
            archive=archive_address(session, policy),
            preserved_refs=self.preserver.refs(policy)
            if for_summary and self.preserver is not None
            else None,
        )

    @cached_property
    def preserver(self) -> "Preserver | None":
        """Keeps the project's own files up to date; None if the session has no project."""
        if not self._ledger.root:
            return None
        from holdfast.engine.preserve import Preserver  # late: only planning asks

        return Preserver(self._ledger)

    def write(self, candidate: Candidate, state: State) -> str:
        """Write the copies, then the compression that names them; return the checkpoint before it.

        Raises:
            Conflict: the window changed since it was planned.
            NotWritten: a copy could not be written.
            Blocked: something that has to be preserved is missing.
        """
        assert candidate.body is not None
        body = candidate.body
        if self.preserver is not None:
            body = self.preserver.prepare(candidate, state)
        write_copies(self._ledger, body, state)
        ref = self._checkpoint_before_summary(body, state)
        self._ledger.commit(body)
        self._warned_over_limit = self._warned_over_limit and candidate.plan.after.fraction >= 1
        return ref

    def _checkpoint_before_summary(self, body: Compressed, state: State) -> str:
        """Take a checkpoint before a summary replaces old entries; return its reference."""
        if body.summary is None:
            return ""
        from holdfast.engine.checkpoints import BEFORE_SUMMARY, take_checkpoint  # late: only tier 3

        return take_checkpoint(
            self._ledger, state, self.shrink_context(state.policy), BEFORE_SUMMARY
        ).ref

    def _raw_tokens(self, window: Window) -> int:
        """Count the raw tokens of a window of the session."""
        session = self._ledger
        head = session.head()
        counts = session.store.counts(session.name, head.vocabulary)
        return sum(raw_sizes(window.items, counts, counter(head.vocabulary)))

    def note_files_on_disk(self) -> None:
        """Note which writes are on disk: only the arguments of those may be truncated later."""
        self._writes.check_all()

    @notes_faults
    def plan(self) -> Plan:
        """Return what the planner would do now, and why; change nothing."""
        return self.candidate().plan

    @notes_faults
    def candidate(self, budget: int | None = None) -> Candidate:
        """Return the compression to make now: by the policy, or to get under a budget."""
        self._writes.check_all()
        candidate = self._make_candidate(self.state(), budget)
        self._known_names = candidate.names_by_entry or self._known_names
        return candidate

    def _make_candidate(
        self,
        state: State,
        budget: int | None,
        rows: Summary = Summary(),  # noqa: B008
    ) -> Candidate:
        context = replace(self.shrink_context(state.policy), model_rows=rows)
        if budget is not None:
            return plan_to_budget(state, context, budget, f"budget of {budget:,} tokens")
        due_now = due(state.usage, state.lane, state.policy)
        return plan_batch(
            state, context, due_now if due_now.action else Due("weigh", MANUAL_TRIGGER)
        )

    @notes_faults
    def compact(self, budget: int | None = None) -> Outcome:
        """Compress now: as the planner recommends, or down to a budget of tokens.

        Raises:
            NothingToShrink: the budget cannot be reached; nothing was changed.
            BadCompression: what was planned would break something; nothing was changed.
        """
        if budget is not None:
            check_token_count("budget", budget)
        refused: SummarizerRefused | None = None

        def write() -> Outcome:
            nonlocal refused
            self._writes.check_all()
            state = self.state()
            candidate = self._make_candidate(state, budget)
            after = candidate.plan.after.tokens
            if candidate.losses:
                raise BadCompression(self._ledger.name, candidate.plan.reason)
            if budget is not None and after > budget:
                raise self.nothing_to_shrink(candidate, state, budget)
            candidate, refused = self._with_model_rows(candidate, state, budget)
            outcome_now = self.outcome(candidate)
            if candidate.body is not None:
                outcome_now = replace(outcome_now, checkpoint=self.write(candidate, state))
            return outcome_now

        outcome = retry_on_conflict(self._ledger.name, write)
        if refused is not None:
            self._ledger.note(refused)
        return outcome

    def nothing_to_shrink(self, candidate: Candidate, state: State, budget: int) -> NothingToShrink:
        """Return the error for a budget that cannot be reached, with the parts that must stay."""
        steps = candidate.body.steps if candidate.body is not None else ()
        items = items_after(state.window.items, steps)
        floor = floor_of(
            items, self.shrink_context(state.policy, for_summary=False).count, state.model
        )
        system = state.usage_at(floor.system).tokens
        return NothingToShrink(
            candidate.plan.after.tokens,
            budget,
            self.outcome(candidate),
            system=system,
            calls=state.usage_at(floor.system + floor.calls).tokens - system,
        )

    def _with_model_rows(
        self, candidate: Candidate, state: State, budget: int | None
    ) -> tuple[Candidate, SummarizerRefused | None]:
        """Return the candidate with a model's rows, and a note if not all of them are used."""
        if self.summary_model is None:
            return candidate, None
        return self.summary_model.improve(
            candidate,
            state,
            self.shrink_context(state.policy).count,
            lambda rows: self._make_candidate(state, budget, rows),
            budget=budget,
        )

    @cached_property
    def summary_model(self) -> "SummaryModel | None":
        """The model that summaries ask; None if the session has none."""
        if not self._ledger.summarizer:
            return None
        from holdfast.engine.summarizer import SummaryModel  # late: most sessions have none

        return SummaryModel(self._ledger)

    @notes_faults
    def outcome(self, candidate: Candidate) -> Outcome:
        """Return the outcome of a candidate for the window last planned for, written or not."""
        return outcome_of(self._ledger, self._planned_window, candidate)

    @notes_faults
    def account(self, budget: int) -> Account:
        """Summarize the session in rows and as a text of `budget` tokens; change nothing."""
        from holdfast.core.summarize import summarize_all

        def make() -> Account:
            state = self.state()
            fitted = summarize_all(state, self.shrink_context(state.policy), budget)
            return Account(fitted.summary, fitted.text)

        return attempt("engine.summary", make, lambda: self._bare_account(budget))

    def _bare_account(self, budget: int) -> Account:
        """Return the user's requests and constraints alone, for when no summary can be made."""
        from holdfast.core.view.levels import render_level

        rows = self._bare_rows()
        count = self.shrink_context(self._ledger.policy, for_summary=False).count
        return Account(rows, render_level(rows, budget, count, session=self._ledger.name).text)

    def _bare_rows(self) -> Summary:
        from holdfast.core.summarize import request_rows

        return request_rows(self._ledger.redactor.entries(self._ledger.path()))

    @notes_faults
    def content(self, *, outside: bool = True) -> "PathContent":
        """Read the session into rows and moments; `outside` adds files kept by the project."""
        from holdfast.core.observe.moments.story import PathContent
        from holdfast.core.summarize import content_of

        def read() -> PathContent:
            state = self.state()
            return content_of(state, self.shrink_context(state.policy, for_summary=outside))

        return attempt("engine.rows", read, lambda: PathContent(self._bare_rows(), ()))

    def rows(self) -> Summary:
        """Read the session into rows, without facts."""
        return self.content().rows

    def path_rows(self) -> Summary:
        """Return the rows of the path that say what to do, without pins; faster than `rows`."""
        from holdfast.core.shrink.summary.story import guiding_rows_to_end

        return guiding_rows_to_end(self._story.read(self._ledger.window().end))

    def guiding_rows_before(self, seq: int) -> Summary:
        """Return the rows of the path that say what to do, up to an entry.

        More if the chapter of that entry has been read since.
        """
        from holdfast.core.shrink.summary.story import guiding_rows_to_end

        reading = self._story.read(self._ledger.window().end)
        rest = tuple(item for item in reading.rest if item.entry.seq < seq)
        return guiding_rows_to_end(replace(reading, rest=rest))

    @notes_faults
    def undo(self) -> Restored:
        """Undo the newest compression: the next window is the one before it.

        Raises:
            BadCompression: there is none to undo.
        """

        def undo_newest() -> Restored:
            window = self._ledger.whole_window()
            compression = newest_undoable(window)
            if compression is None:
                raise BadCompression(self._ledger.name, "there is none to undo")
            restored_tokens = self._raw_tokens(
                window_without(window, compression)
            ) - self._raw_tokens(window)
            lane = self._ledger.head().lane(self._ledger.agent)
            restored = Restored(
                compression.id,
                window.generation,
                restored_tokens,
                raw=lane.tokens + restored_tokens,
            )
            self._ledger.commit(restored)
            return restored

        return retry_on_conflict(self._ledger.name, undo_newest)


def newest_undoable(window: Window) -> Entry | None:
    """Return the newest compression of ours that still hides an item; None if there is none."""
    compressions = (
        entry
        for entry in reversed(in_force(window))
        if isinstance(entry.body, Compressed) and entry.body.by == HOLDFAST
    )
    return next(
        (made for made in compressions if window_without(window, made).items != window.items), None
    )


def window_without(window: Window, compression: Entry) -> Window:
    """Return the window as it would be without a compression."""
    restored = derived_entry(
        window.ledger[-1].seq + 1,
        Restored(compression.id, window.generation),
        parent=window.end,
        lane=window.lane,
    )
    return fold([*window.ledger, restored], lane=window.lane)


def _is_from_agent(item: Item) -> bool:
    return role_of(item.body) == "assistant"


def _start_of_last_step(items: Sequence[Item]) -> int:
    """Return the position at which the agent's last step begins."""
    position = len(items)
    while position > 0 and not _is_from_agent(items[position - 1]):
        position -= 1
    while position > 0 and _is_from_agent(items[position - 1]):
        position -= 1
    return position


def _last_agent_seq(window: Window) -> int:
    """Return the number of the agent's last entry: it and all before it have been sent."""
    items = window.items
    for position in range(len(items), 0, -1):
        if _is_from_agent(items[position - 1]):
            return items[position - 1].entry.seq
    return 0


def _undone_entries(ledger: Iterable[Entry]) -> frozenset[EntryId]:
    """Return the entries that undone compressions hid: the user wanted them in the window."""
    compressions = {entry.id: entry.body for entry in ledger if isinstance(entry.body, Compressed)}
    undone = (e.body.compressed for e in ledger if isinstance(e.body, Restored))
    steps = (step for name in undone if name in compressions for step in compressions[name].steps)
    return frozenset(name for step in steps for name in step.hides)
