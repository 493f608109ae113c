"""The engine at work on a session: look, plan, make, write.

Planning happens outside any lock. What comes of it is written only if the window still is the one
it was planned on; copies on disk are there before the window that names them.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from holdfast.core.apply import after_steps
from holdfast.core.compress import at_birth, batch, may_be_large, to_budget
from holdfast.core.faults import attempt
from holdfast.core.ledger.append import derived
from holdfast.core.ledger.entry import (
    OURS,
    Compressed,
    Entry,
    EntryId,
    Restored,
    role_of,
)
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item, Window, fold, in_force
from holdfast.core.measure.sizes import raw_sizes
from holdfast.core.measure.tokens import check_tokens
from holdfast.core.measure.usage import measure, measure_at_most
from holdfast.core.plan.due import Due, due, ripe
from holdfast.core.plan.floor import floor_of
from holdfast.core.plan.plan import Candidate, Plan
from holdfast.core.plan.policy import Policy, for_model
from holdfast.core.plan.state import State
from holdfast.core.shrink.step import Means
from holdfast.engine.copies import Writes, address_in, archive_in, redact_copies, write_copies
from holdfast.engine.fault_log import session_notes_faults
from holdfast.engine.outcome import Account, Outcome, outcome_of
from holdfast.errors import (
    BadCompression,
    Blocked,
    HoldfastError,
    NothingToShrink,
    NotWritten,
)
from holdfast.models.tokenizers import counter
from holdfast.stores.store import retried
from holdfast.wire.detect import TRANSCRIPT_WIRES

if TYPE_CHECKING:
    from holdfast.engine.checkpoints import Checkpoint
    from holdfast.engine.ledger import Ledger
    from holdfast.engine.preserve import Keeping
    from holdfast.engine.summarizer import Summarizing

logger = logging.getLogger(__name__)

MANUAL = "asked for"


class Engine:
    """Decides for one session, and remembers what it has looked at."""

    def __init__(self, ledger: "Ledger") -> None:
        self._ledger = ledger
        self._known: Mapping[EntryId, frozenset[str]] = {}
        self._sent = 0
        self._looked = 0
        self._generation = -1
        self._writes = Writes(ledger)
        self._seen = Window()
        """The window that was last planned on, secrets and all."""
        self._told = False
        """Whether it was said that the window is over its limit, and nothing has changed since."""

    @property
    def ledger(self) -> "Ledger":
        """The ledger that it works on."""
        return self._ledger

    def consider(self) -> None:
        """Compress if the policy says so. Never raises: the agent goes on with what it had."""
        self._or_leave_it(self._consider)

    def _or_leave_it(self, act: Callable[[], None]) -> None:
        try:
            attempt("engine", lambda: retried(self._ledger.name, act), lambda: None)
        except HoldfastError as error:
            logger.warning("the window of %r stays as it is: %s", self._ledger.name, error)

    def handed_out(self) -> None:
        """Take note that everything in sight was given out to be sent."""
        items = self._ledger.window().items
        if items:
            self._sent = max(self._sent, items[-1].entry.seq)

    def _consider(self) -> None:
        window = self._ledger.window()
        fresh = self._new_items(window)
        self._writes.take(fresh)
        if self._has_large(fresh):
            attempt("engine.at_birth", lambda: self._make(at_birth), lambda: None)
        called = self._due()
        if called.action:
            attempt("engine.batch", lambda: self._called(called), lambda: None)
        window = self._ledger.window()
        self._looked, self._generation = len(window.items), window.generation

    def _called(self, called: Due) -> None:
        """Weigh a batch; a critical window is secured first, and a fresh one advised if need be."""
        if called.action != "force":
            self._weigh(called)
            return
        from holdfast.engine.checkpoints import (  # late: few windows come this far
            advise,
            at_critical,
        )

        state = self.state()
        at_critical(self._ledger, state, self.means(state.policy), called.trigger)
        self._make(lambda state, means: batch(state, means, called))
        advise(self._ledger, self.state())

    def _weigh(self, called: Due) -> None:
        """Weigh a batch; where a summary was due and is refused, the work is put down.

        Raises:
            Blocked, BadCompression, NotWritten: why nothing was changed.
        """
        try:
            self._make(lambda state, means: batch(state, means, called))
        except (Blocked, BadCompression, NotWritten):
            from holdfast.engine.checkpoints import (
                after_refusal,  # late: it hardly ever comes to this
            )

            state = self.state()
            after_refusal(self._ledger, state, self.means(state.policy), called.trigger)
            raise

    def checkpoint(self, trigger: str = MANUAL) -> "Checkpoint":
        """Put down where the work stands.

        Raises:
            NotWritten: its readable copy could not be written.
        """
        from holdfast.engine.checkpoints import take_now  # late: few sessions ask for one

        return take_now(self._ledger, self.state, self.means(self._ledger.policy), trigger)

    def reached(self, event: str) -> None:
        """Weigh a batch or a summary at a boundary that was told of: a task done, a phase left."""
        called = Due("weigh", event.replace("_", " "), boundary=True)
        self._or_leave_it(lambda: self._make(lambda state, means: batch(state, means, called)))

    def _new_items(self, window: Window) -> list[Item]:
        """What came since the last look; in a fresh process, the agent's last step."""
        items = window.items
        if self._generation < 0:
            start = _last_step(items)
        else:
            start = self._looked if self._generation == window.generation else 0
        return [items[at] for at in range(min(start, len(items)), len(items))]

    def _has_large(self, fresh: list[Item]) -> bool:
        policy = self._policy(self._ledger.store.head(self._ledger.name) or Head())
        limit = self._ledger.limit()
        return any(may_be_large(item, policy, limit) for item in fresh)

    def _due(self) -> Due:
        """What is due, found from the sums; the tokenizer is asked only when they cannot tell."""
        session = self._ledger
        head = session.store.head(session.name) or Head()
        lane, model, limit = head.lane(session.agent), session.model(), session.limit()
        policy = self._policy(head)
        if not head.stale:
            most = measure_at_most(lane, model, limit)
            grown = replace(lane, tokens=lane.tokens + lane.uncounted)
            if not due(most, lane, policy).action or not ripe(grown, most):
                return Due()
        lane = session.head().lane(session.agent)
        usage = measure(lane, model, limit)
        called = due(usage, lane, policy)
        return called if ripe(lane, usage) else Due()

    @cached_property
    def _settled(self) -> Policy:
        """The policy with what outside files say: planning needs it, appending does not."""
        settle = self._ledger.settle
        return settle() if settle is not None else self._ledger.policy

    def _policy(self, head: Head) -> Policy:
        policy = self._settled
        return for_model(policy, policy.model or head.model)

    def _make(self, made: "Callable[[State, Means], Candidate | None]") -> None:
        """Plan, and write what was planned or that it was put off."""
        state = self.state()
        means = self.means(state.policy, sums=made is not at_birth)
        candidate = made(state, means)
        if candidate is None:
            return
        self._known = candidate.held or self._known
        if candidate.body is not None:
            self.write(candidate, state)
        else:
            self._put_off(candidate, state)

    def _put_off(self, candidate: Candidate, state: State) -> None:
        plan = candidate.plan
        over = plan.before.fraction >= 1 or plan.verdict == "refused"
        if over and not self._told:
            logger.warning(
                "the window of %r has %s tokens and takes %s, and %s",
                self._ledger.name,
                f"{plan.before.tokens:,}",
                f"{plan.before.limit:,}",
                plan.reason,
            )
        self._told = over
        facts = {
            "raw": str(state.lane.tokens),
            "trigger": plan.trigger,
            "reason": plan.reason,
            "saves": str(sum(step.before - step.after for step in plan.steps)),
            "gain": str(round(plan.bill.gain)),
        }
        self._ledger.note("postponed", **facts)

    @session_notes_faults
    def state(self) -> State:
        """Everything that a plan is made from, as it stands now."""
        session = self._ledger
        head, window = self._stood()
        if session.redactor.learn():
            self._known = {}
            redact_copies(session)
        return State(
            window=session.redactor.window(window),
            counts=session.store.counts(session.name, head.vocabulary),
            lane=head.lane(session.agent),
            model=session.model(),
            limit=session.limit(),
            limit_from=session.limited().origin,
            policy=self._policy(head),
            seq=head.seq,
            sent=max(self._sent, _spoken_upto(window)),
            warm=self._is_warm(window),
            known=self._known,
            spared=_lifted(window.ledger),
            hosted=head.wire in TRANSCRIPT_WIRES,
        )

    def _stood(self) -> tuple[Head, Window]:
        """The head, and a window of which it tells everything: others may write in between."""
        while True:
            head = self._ledger.head()
            self._seen = window = self._ledger.sight.window(whole=True)
            if not window.ledger or window.ledger[-1].seq <= head.seq:
                return head, window

    def _is_warm(self, window: Window) -> bool:
        """Whether the provider still has what was sent last; nobody knows when nobody told."""
        at = next((item.entry.at for item in reversed(window.items) if _is_spoken(item)), "")
        return self._ledger.seconds_since(at) < self._ledger.model().cache.seconds

    def means(self, policy: Policy, *, sums: bool = True) -> Means:
        """What shrinking needs: the model's count, where copies go, what a summary carries."""
        session = self._ledger
        vocabulary = (session.store.head(session.name) or Head()).vocabulary
        return Means(
            count=counter(vocabulary or session.model().vocabulary),
            address=address_in(session, policy),
            policy=policy,
            session=session.name,
            archive=archive_in(session, policy),
            kept=self.keeping.refs(policy) if sums and self.keeping is not None else None,
        )

    @cached_property
    def keeping(self) -> "Keeping | None":
        """What the project preserves outside of the ledger; nothing where there is no project."""
        if not self._ledger.root:
            return None
        from holdfast.engine.preserve import Keeping  # late: only planning asks

        return Keeping(self._ledger)

    def write(self, candidate: Candidate, state: State) -> str:
        """Write the copies, then the compression that names them; tells the checkpoint before it.

        Raises:
            Conflict: the window changed since it was planned.
            NotWritten: a copy could not be written.
            Blocked: something that has to be preserved is missing.
        """
        assert candidate.body is not None
        body = candidate.body
        if self.keeping is not None:
            body = self.keeping.before(candidate, state)
        write_copies(self._ledger, body, state)
        ref = self._secured(body, state)
        self._ledger.commit(body)
        self._told = self._told and candidate.plan.after.fraction >= 1
        return ref

    def _secured(self, body: Compressed, state: State) -> str:
        """The checkpoint that is taken before a summary replaces what is old."""
        if body.summary is None:
            return ""
        from holdfast.engine.checkpoints import take  # late: only tier 3 takes one

        return take(self._ledger, state, self.means(state.policy), "before tier 3").ref

    def _raw_in(self, window: Window) -> int:
        """Raw tokens of a window of the session."""
        session = self._ledger
        head = session.head()
        counts = session.store.counts(session.name, head.vocabulary)
        return sum(raw_sizes(window.items, counts, counter(head.vocabulary)))

    def note_written(self) -> None:
        """Note which writes are on disk: only what was seen there may later be cut short."""
        self._writes.look()

    def plan(self) -> Plan:
        """What the planner would do now, and why; nothing is changed."""
        return self.candidate().plan

    @session_notes_faults
    def candidate(self, budget: int | None = None) -> Candidate:
        """What would be done now: by the policy, or to come under a budget."""
        self._writes.look()
        made = self._weighed(self.state(), budget)
        self._known = made.held or self._known
        return made

    def _weighed(
        self,
        state: State,
        budget: int | None,
        rows: Summary = Summary(),  # noqa: B008
    ) -> Candidate:
        means = replace(self.means(state.policy), added=rows)
        if budget is not None:
            return to_budget(state, means, budget, f"budget of {budget:,} tokens")
        called = due(state.usage, state.lane, state.policy)
        return batch(state, means, called if called.action else Due("weigh", MANUAL))

    def compact(self, budget: int | None = None) -> Outcome:
        """Compress now: what the planner recommends, or as much as a budget takes.

        Raises:
            NothingToShrink: the budget cannot be reached; nothing was changed.
            BadCompression: what was planned would break something; nothing was changed.
        """
        if budget is not None:
            check_tokens("budget", budget)
        refused = ""

        def write() -> Outcome:
            nonlocal refused
            self._writes.look()
            state = self.state()
            candidate = self._weighed(state, budget)
            after = candidate.plan.after.tokens
            if candidate.losses:
                raise BadCompression(self._ledger.name, candidate.plan.reason)
            if budget is not None and after > budget:
                raise self.nothing_to_shrink(candidate, state, budget)
            candidate, refused = self._asked(candidate, state, budget)
            made = self.outcome(candidate)
            if candidate.body is not None:
                made = replace(made, checkpoint=self.write(candidate, state))
            return made

        outcome = retried(self._ledger.name, write)
        if refused:
            self._ledger.note("summarizer", refused=refused)
        return outcome

    def nothing_to_shrink(self, candidate: Candidate, state: State, budget: int) -> NothingToShrink:
        """Say that a budget cannot be reached, and what of the window has to stay."""
        steps = candidate.body.steps if candidate.body is not None else ()
        items = after_steps(state.window.items, steps)
        floor = floor_of(items, self.means(state.policy, sums=False).count, state.model)
        system = state.usage_at(floor.system).tokens
        return NothingToShrink(
            candidate.plan.after.tokens,
            budget,
            self.outcome(candidate),
            system=system,
            calls=state.usage_at(floor.system + floor.calls).tokens - system,
        )

    def _asked(
        self, candidate: Candidate, state: State, budget: int | None
    ) -> tuple[Candidate, str]:
        """The candidate with what a model adds, when there is one; else why it adds nothing."""
        if self.summarizing is None:
            return candidate, ""
        return self.summarizing.improved(
            candidate,
            state.window.items,
            self.means(state.policy).count,
            lambda rows: self._weighed(state, budget, rows),
            budget=budget,
        )

    @cached_property
    def summarizing(self) -> "Summarizing | None":
        """The session's model, when it has one."""
        if not self._ledger.summarizer:
            return None
        from holdfast.engine.summarizer import Summarizing  # late: most sessions ask nobody

        return Summarizing(self._ledger)

    @session_notes_faults
    def outcome(self, candidate: Candidate) -> Outcome:
        """What a candidate for the window last looked at comes to, written or not."""
        return outcome_of(self._ledger, self._seen, candidate)

    @session_notes_faults
    def told(self, budget: int) -> Account:
        """Everything up to now in rows, and as a text of so many tokens; nothing is changed."""
        from holdfast.core.summarize import told

        def fitted() -> Account:
            state = self.state()
            made = told(state, self.means(state.policy), budget)
            return Account(made.summary, made.text)

        return attempt("engine.summary", fitted, lambda: self._bare(budget))

    def _bare(self, budget: int) -> Account:
        """The user's requests and constraints alone, for when no summary can be made."""
        from holdfast.core.view.levels import recovered

        rows = self._bare_rows()
        count = self.means(self._ledger.policy, sums=False).count
        return Account(rows, recovered(rows, budget, count, session=self._ledger.name).text)

    def _bare_rows(self) -> Summary:
        from holdfast.core.summarize import bare_rows

        return bare_rows(self._ledger.redactor.entries(self._ledger.path()))

    @session_notes_faults
    def rows(self, *, outside: bool = True) -> Summary:
        """Read the session into rows, without facts; `outside` adds files kept by the project."""
        from holdfast.core.summarize import rows

        def read() -> Summary:
            state = self.state()
            return rows(state, self.means(state.policy, sums=outside))

        return attempt("engine.rows", read, self._bare_rows)

    def undo(self) -> Restored:
        """Lift the newest compression: the next window is the one before it.

        Raises:
            BadCompression: there is none to lift.
        """

        def lift() -> Restored:
            window = self._ledger.sight.window(whole=True)
            made = undoable(window)
            if made is None:
                raise BadCompression(self._ledger.name, "there is none to undo")
            back = self._raw_in(without(window, made)) - self._raw_in(window)
            lane = self._ledger.head().lane(self._ledger.agent)
            lifted = Restored(made.id, window.generation, back, raw=lane.tokens + back)
            self._ledger.commit(lifted)
            return lifted

        return retried(self._ledger.name, lift)


def undoable(window: Window) -> Entry | None:
    """The newest compression of ours that still hides something in sight; None if there is none."""
    made = (
        entry
        for entry in reversed(in_force(window))
        if isinstance(entry.body, Compressed) and entry.body.by == OURS
    )
    return next((one for one in made if without(window, one).items != window.items), None)


def without(window: Window, made: Entry) -> Window:
    """The window as it would be without a compression."""
    lifted = derived(
        window.ledger[-1].seq + 1,
        Restored(made.id, window.generation),
        parent=window.end,
        lane=window.lane,
    )
    return fold([*window.ledger, lifted], lane=window.lane)


def _is_spoken(item: Item) -> bool:
    return role_of(item.body) == "assistant"


def _last_step(items: Sequence[Item]) -> int:
    """Where the last step of the agent begins."""
    at = len(items)
    while at > 0 and not _is_spoken(items[at - 1]):
        at -= 1
    while at > 0 and _is_spoken(items[at - 1]):
        at -= 1
    return at


def _spoken_upto(window: Window) -> int:
    """The last entry that something of the agent's follows: it has been sent."""
    items = window.items
    for at in range(len(items), 0, -1):
        if _is_spoken(items[at - 1]):
            return items[at - 1].entry.seq
    return 0


def _lifted(ledger: Iterable[Entry]) -> frozenset[EntryId]:
    """What compressions hid that were undone: the user wanted it in sight."""
    made = {entry.id: entry.body for entry in ledger if isinstance(entry.body, Compressed)}
    undone = (e.body.compressed for e in ledger if isinstance(e.body, Restored))
    steps = (step for name in undone if name in made for step in made[name].steps)
    return frozenset(name for step in steps for name in step.hides)


_engines: "WeakKeyDictionary[Ledger, Engine]" = WeakKeyDictionary()
"""The engine of each ledger in use: it remembers what it has looked at."""


def engine_of(ledger: "Ledger") -> Engine:
    """The engine of a ledger, made once."""
    return _engines.get(ledger) or _engines.setdefault(ledger, Engine(ledger))
