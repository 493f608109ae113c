"""THE SHELL: read a session, run the core, append or refuse.

A session is a name in a store. This object adds what must not be in the core: the store, the
tokenizer, and a memory of what was last seen, so that the next turn costs what is new.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from holdfast.arriving import Intake, Message, firsts_of, withheld
from holdfast.core.faults import Fault, attempt
from holdfast.core.ledger.arrive import Arrival, Batch, Draft, arrive, note
from holdfast.core.ledger.entry import (
    OURS,
    Compressed,
    Derived,
    Entry,
    Noted,
    Restored,
    Said,
    Used,
    role_of,
    text_of,
)
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.jsontext import Json, cleaned
from holdfast.core.ledger.window import Item, Window, path_to
from holdfast.core.measure.limits import Limit, limit_of
from holdfast.core.measure.models import Model, counted_as, find
from holdfast.core.measure.usage import Usage, measure, measure_at_most, scaled
from holdfast.core.observe.marks import is_sent_summary
from holdfast.core.observe.pins import PINNED, UNPINNED
from holdfast.core.plan.policy import Policy
from holdfast.errors import Conflict, MixedWires, NotRecorded, Unreadable
from holdfast.fault_notes import faults_in, new_faults, notes_faults
from holdfast.references import find_entry, holder_of, text_of_entry
from holdfast.sight import Sight, copied
from holdfast.stores.store import Build, Store, retried
from holdfast.wire.detect import MESSAGE_WIRES, PLAIN
from holdfast.withhold import Withholder

if TYPE_CHECKING:
    from holdfast.checkpoints import Checkpoint
    from holdfast.core.ledger.entry import EntryId
    from holdfast.core.ledger.summary import Intent
    from holdfast.core.measure.sizes import Sized
    from holdfast.core.plan.plan import Plan
    from holdfast.core.verify.drift.signs import Drift
    from holdfast.core.verify.forks import Fork
    from holdfast.core.view.excerpts import Hit
    from holdfast.core.view.log import Event
    from holdfast.drifting import Watch
    from holdfast.engine import Account, Engine, Outcome
    from holdfast.history import Synced
    from holdfast.models.naming import Summarizer
    from holdfast.packets import Packet
    from holdfast.redacting import Others, Redactor

TASK, TASK_DONE, SPAWN, MODEL = "task", "task_done", "spawn", "model"
SUMMARY_BUDGET = 4_000
"""Tokens of a summary that was asked for."""


class Session:
    """One agent's session: what happened in it, and what of it to send now."""

    def __init__(
        self,
        name: str,
        store: Store,
        *,
        policy: Policy | None = None,
        agent: str = "",
        root: str = "",
        wire: str = "",
        clock: Callable[[], str] | None = None,
        owns_store: bool = True,
        task: str = "",
        model: str = "",
        summarizer: "Summarizer | None" = None,
        settle: Callable[[], Policy] | None = None,
    ) -> None:
        for word in (name, agent):
            if cleaned(word) != word:
                raise Unreadable("name", f"{cleaned(word)!r} holds what no text can hold")
        self.name, self.store, self.agent = name, store, agent
        self.policy = policy or Policy()
        self.root = root
        """The project's folder, where readable copies go; none are written when empty."""
        self.summarizer: Summarizer = summarizer or self.policy.summarizer
        """The model that `compact` asks; empty for none. Nothing else ever waits for it."""
        self.settle = settle
        """Gives the policy that plans are made by, where that takes a file which can wait."""
        self._wire, self._clock = wire, clock or _untold
        self.owns_store = owns_store
        self._withholder = Withholder(self.policy.never_store)
        self._task, self._named = task, model
        self.collector = new_faults()
        """Collects the faults of the rules that run for this session."""
        self._intake = Intake(
            store, name, agent=agent, wire=wire, clock=self._clock, withholder=self._withholder
        )
        self.sight = Sight(store, name, agent)

    def sibling(self, name: str, *, wire: str = "", store: Store | None = None) -> "Session":
        """Another session of the same place; in a store of its own, or in this one's.

        This one's store is let go of with whichever of them owns it: the sibling takes that over.
        """
        owns, self.owns_store = self.owns_store, self.owns_store and store is not None
        return Session(
            name,
            self.store if store is None else store,
            policy=self.policy,
            root=self.root,
            wire=wire,
            clock=self._clock,
            owns_store=owns,
            summarizer=self.summarizer,
        )

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store, unless the caller brought it."""
        if self.owns_store:
            self.store.close()

    def append(self, message: Message) -> None:
        """Add one new message at the end."""
        self.extend([message])

    @notes_faults
    def extend(self, messages: Iterable[Message]) -> None:
        """Add new messages at the end, all or none.

        Raises:
            MixedWires: the session holds messages of another format.
            Unreadable: one of them is no message.
        """
        wire, given = self._intake.arrivals(messages)
        arrivals = [one.arrival for one in given]
        batch = self.store.append(
            self.name, lambda head: arrive(self._stamped(head, wire), arrivals)
        )
        self.sight.hold(withheld(firsts_of(batch), given))
        self.sight.took(batch)
        self._tell_model()
        self._tell_task()

    @notes_faults
    def sync(self, messages: Iterable[Message]) -> "Synced":
        """Take a client's whole history: what is known stays, what is new is added."""
        from holdfast.history import sync  # late: hooks append

        wire, arrivals = self._intake.arrivals(messages)
        told, forks = self._as_the_ledger_has_it([given.arrival for given in arrivals])
        done = sync(
            self.store,
            self.name,
            self.sight,
            told,
            model=self.model(),
            stamp=lambda head: self._stamped(head, wire),
        )
        whole = len(done.firsts)
        known = withheld(done.firsts, arrivals[:whole])
        self.sight.hold({**known, **withheld(firsts_of(done.batch), arrivals[whole:])})
        self.sight.took(done.batch)
        for fork in forks:
            self.note("fork", where="a summary that came back", text=fork.kept)
        self._tell_model()
        self._tell_task()
        return done.synced

    def _tell_model(self) -> None:
        """Note the model that the caller named: whoever opens the session later knows it then."""
        named, self._named = self._named, ""
        if named and self._head().model != named:
            self.note(MODEL, model=named)

    def _tell_task(self) -> None:
        """Note which task is worked on, once, and where one takes over from another."""
        task, self._task = self._task, ""
        if not task:
            return
        before = self.task()
        if task == before:
            return
        if before and TASK_DONE in self.policy.at.events:
            self.engine.reached(TASK_DONE)
        self.note(TASK, name=task)

    def task(self) -> str:
        """The task that is worked on; nothing when nobody named one."""
        notes = (entry.body for entry in reversed(self.events()))
        named = (body.facts for body in notes if isinstance(body, Noted) and body.what == TASK)
        return self._task or next((facts.get("name", "") for facts in named), "")

    def _as_the_ledger_has_it(
        self, arrivals: "list[Arrival]"
    ) -> "tuple[list[Arrival], list[Fork]]":
        """A resent history, and what in it contradicts the ledger and was not told of yet."""
        if not any(is_sent_summary(draft.body) for one in arrivals for draft in one.drafts):
            return arrivals, []
        from holdfast.core.verify.forks import as_the_ledger_has_it, is_noted

        ledger = self.sight.window(whole=True).ledger
        told, forks = as_the_ledger_has_it(arrivals, ledger)
        return told, [fork for fork in forks if not is_noted(fork, ledger)]

    @notes_faults
    def report(
        self,
        usage: object = None,
        error: str | Mapping[str, object] | BaseException | None = None,
        model: str | None = None,
    ) -> None:
        """Tell what the provider said of the last request: it calibrates the counts.

        `usage` is the SDK's own object or a mapping, of OpenAI, Anthropic, Gemini, LangChain or
        Pydantic AI; `error` what the provider or its SDK said when it refused.

        Raises:
            Unreadable: the usage counts no input tokens, or those of several requests.
        """
        from holdfast.core.measure.reports import fault_of, learned_limit  # late: no hook reports

        fault = fault_of(usage) if usage is not None else ""
        if fault:
            raise Unreadable("usage", fault)
        if model:
            self.note(MODEL, model=model)
        if usage is not None:
            self._report_usage(usage, model)
        told = str(error) if isinstance(error, BaseException) else cast(Json, error)
        limit = learned_limit(told) if told is not None else 0
        if limit:
            self.note("limit", limit=str(limit))

    def _report_usage(self, usage: object, model: str | None) -> None:
        from holdfast.core.measure.reports import read_usage

        def attempt() -> Batch:
            head = self.head()
            named, answered = model or head.model, self._is_answered(head)
            used = read_usage(usage, model=named, answered=answered)
            return self._write(self._if_counted(used))

        retried(self.name, attempt)

    def _if_counted(self, used: Used) -> Build:
        """Note a report only where all that it is about has been counted."""

        def build(head: Head) -> Batch:
            if head.stale or head.counted != head.seq:
                raise Conflict(self.name, expected=head.seq, found=head.counted)
            return note(head, used, lane=self.agent)

        return build

    def _is_answered(self, head: Head) -> bool:
        end = head.lane(self.agent).end
        numbers = self.store.names(self.name, [end] if end else [])
        last = list(self.store.read(self.name, numbers=numbers.values()))
        return any(not isinstance(e.body, Derived) and role_of(e.body) == "assistant" for e in last)

    def storable(self, text: str) -> str:
        """A text, less what the user's rules keep out of the store."""
        return self._withholder.text(text)

    @notes_faults
    def note(self, what: str, **facts: str) -> None:
        """Record something that the messages do not say."""
        told = {name: self.storable(fact) for name, fact in facts.items()}
        at = self._clock()
        self._write(lambda head: note(head, Noted(what, told), lane=self.agent, at=at))
        if what in self.policy.at.events:
            self.engine.reached(what)
        if what == SPAWN and self.policy.packets.generate == "on":
            from holdfast.handing.giving import spawned  # late: few sessions have workers

            spawned(self, told)

    @notes_faults
    def messages(self) -> list[dict[str, Json]]:
        """What to send now, as dictionaries of the caller's own."""
        return copied(self._to_send())

    @notes_faults
    def wire(self) -> bytes:
        """What to send now, as the bytes of a JSON array."""
        return b"[" + b",".join(self._to_send()) + b"]"

    def _to_send(self) -> list[bytes]:
        self.watch.consider()
        self.engine.consider()
        shown = attempt("wire.render", self.sight.messages, self._as_received)
        self.engine.handed_out()
        return shown

    def _as_received(self) -> list[bytes]:
        """Every message up to now without any compression: what is sent if rendering fails."""
        return self.sight.rendered([Item(entry) for entry in self.path()])

    def faults(self) -> tuple[Fault, ...]:
        """The rules that failed on this session and were left out, oldest first, each once."""
        return tuple(faults_in(self.events()))

    @cached_property
    def watch(self) -> "Watch":
        """What looks whether the agent still does what it was asked to."""
        from holdfast.drifting import Watch  # late: hooks append

        return Watch(self)

    @notes_faults
    def drift(self, message_or_text: Mapping[str, object] | str) -> "Drift":
        """What the agent's next message looks like against the session; nothing is changed.

        Raises:
            Unreadable: a message was given that is none.
        """
        from holdfast.drifting import judged

        return judged(self, message_or_text)

    @cached_property
    def redactor(self) -> "Redactor":
        """What turns the session's texts into what anyone may see of them."""
        from holdfast.redacting import Redactor  # late: hooks show nothing

        return Redactor(self.policy.redact, self.store, self.name)

    @cached_property
    def _others(self) -> "Others":
        """The same for what is found in other sessions."""
        from holdfast.redacting import Others

        return Others(self.redactor, self.policy.redact, self.store, self.name)

    @cached_property
    def engine(self) -> "Engine":
        """What decides, and carries out, what should leave the window."""
        from holdfast.engine import Engine  # late: hooks append

        return Engine(self)

    @notes_faults
    def plan(self) -> "Plan":
        """What would leave the window now, what that costs and wins, and what stays."""
        return self.engine.plan()

    @notes_faults
    def compact(self, budget: int | None = None) -> "Outcome":
        """Compress now: what the planner recommends, or as much as a budget takes.

        Raises:
            NothingToShrink: the budget cannot be reached; nothing was changed.
        """
        return self.engine.compact(budget)

    @notes_faults
    def summary(self, budget: int = SUMMARY_BUDGET) -> "Account":
        """All that the session came to so far, in rows; `str` of it is a text of that budget."""
        return self.engine.told(budget)

    @notes_faults
    def intent(self) -> "Intent":
        """What the user wants: the first request, the current one, and how it changed."""
        from holdfast.core.ledger.inherited import inherited
        from holdfast.core.observe.calls import read_scene
        from holdfast.core.observe.intent import wanted
        from holdfast.core.shrink.merging import merge_intent
        from holdfast.core.shrink.pasting import cut_intent

        path = self.redactor.entries(self.path())
        want = wanted(read_scene([Item(entry) for entry in path])).intent
        return merge_intent(inherited(self.events()).intent, cut_intent(want))

    @notes_faults
    def pin(self, text_or_ref: str) -> str:
        """Make words stay in sight whatever leaves; returns the name of the pin.

        A reference pins all that was said there.
        """
        text = text_or_ref
        with suppress(NotRecorded):
            body = self.find(text_or_ref).body
            text = text_of(body) if not isinstance(body, Derived) else text_or_ref
        self.note(PINNED, text=text)
        return next(
            entry.id
            for entry in reversed(self.events())
            if isinstance(entry.body, Noted) and entry.body.what == PINNED
        )

    def unpin(self, pin: str) -> None:
        """Lift a pin or a constraint: by its name, the entry it was read from, or its words."""
        self.note(UNPINNED, pin=pin)

    @notes_faults
    def undo(self) -> Restored:
        """Lift the newest compression: the next window is the one before it.

        Raises:
            BadCompression: there is none to lift.
        """
        return self.engine.undo()

    def events(self) -> list[Entry]:
        """What was done, noted and handed over by this agent, without what was said."""
        return [entry for entry in self.store.events(self.name) if entry.lane == self.agent]

    @notes_faults
    def log(self) -> "tuple[Event, ...]":
        """Every compression, undoing and postponement, oldest first."""
        from holdfast.core.view.log import events_of

        mine = [entry for entry in self.store.read(self.name) if entry.lane == self.agent]
        head, model = self.head(), self.model()
        known = head.lane(self.agent).calibration
        counts = self.store.counts(self.name, head.vocabulary)
        tokens = {number: scaled(raw, model, known) for number, raw in counts.items()}
        return events_of(mine, tokens, self.turned())

    def turned(self) -> "dict[EntryId, tuple[int, int]]":
        """Tokens of the window before and after each compression, undoing and compaction."""
        from holdfast.core.ledger.replay import turned  # late: only reports ask

        head, model = self.head(), self.model()
        counts = self.store.counts(self.name, head.vocabulary)
        return {
            name: (measure(before, model, 0).tokens, measure(after, model, 0).tokens)
            for name, (before, after) in turned(self.store.read(self.name), counts, head).items()
        }

    def sized(self) -> "Sized":
        """The window as it is now, with the size of everything in it."""
        from holdfast.core.measure.sizes import sized  # late: hooks measure nothing
        from holdfast.vocabularies import counter

        usage, head = self.status(), self.head()
        counts = self.store.counts(self.name, head.vocabulary)
        return sized(self.window().items, usage, counts, counter(head.vocabulary))

    @notes_faults
    def level(self, number: int) -> str:
        """What a reader needs to go on, in 100, 500 or 2,000 tokens (1, 2, 3): data in a fence.

        A level that cannot be given is noted, and the next larger one is given, in the end all.
        """
        from holdfast.leveling import level

        return level(self, number)

    @notes_faults
    def checkpoint(self) -> "Checkpoint":
        """Put down where the work stands: no model, nothing leaves; the same state only once.

        Raises:
            NotWritten: its readable copy could not be written.
        """
        return self.engine.checkpoint()

    @notes_faults
    def packet(
        self,
        task: str,
        depth: str = "standard",
        *,
        layers: Sequence[int] = (),
        budget: int = 0,
        pane: int | str | None = None,
        codebase: Mapping[str, str] | None = None,
        continues: str = "",
    ) -> "Packet":
        """What a worker needs to know for a task, in 100, 400 or 800 tokens.

        With a `pane`, it is put on record and its file is written; without, nothing is changed.
        `codebase` are texts of files by path, `continues` the session whose work goes on.

        Raises:
            BadSetting: the task, the depth or a layer cannot be meant.
            NotHanded: the file could not be written; the packet is on record.
        """
        from holdfast.handing.drawing import generate  # late: few hand work over
        from holdfast.handing.giving import hand  # late: few hand work over
        from holdfast.handing.listing import audience_of  # late: few hand work over
        from holdfast.packets import as_packet

        audience = audience_of(pane)
        made = generate(
            self,
            task,
            depth,
            layers=layers,
            budget=budget,
            audience=audience,
            codebase=codebase,
            continues=continues,
        )
        if not audience:
            return made
        return as_packet(hand(self, made, task=task, budget=budget).packet)

    def window(self) -> Window:
        """What is in sight, as the ledger has it."""
        return self.sight.window()

    def path(self) -> list[Entry]:
        """Every source entry that leads to the end, in sight or not."""
        window = self.sight.window(whole=True)
        return path_to(window.end, window.ledger)

    def status(self, *, quick: bool = False) -> Usage:
        """How full the window is.

        `quick` loads no tokenizer as long as the bytes alone settle which level it is.
        """
        head = self._head()
        model, limit = self._model_of(head), self.limited()
        lane = head.lane(self.agent)
        if quick and not head.stale:
            guessed = measure(lane, model, limit.tokens, limit.origin)
            if guessed.level == measure_at_most(lane, model, limit.tokens).level:
                return guessed
        return measure(self.head().lane(self.agent), model, limit.tokens, limit.origin)

    def model(self) -> Model:
        """The agent's model: the one named, else the one the session speaks of."""
        return self._model_of(self._head())

    def head(self) -> Head:
        """Where the session stands, every entry counted."""
        from holdfast.counting import settle  # late: appending counts nothing

        return settle(self.store, self.name, self.model())

    @notes_faults
    def recover(
        self,
        query: str,
        limit: int = 5,
        budget: int | None = None,
        *,
        scope: str = "session",
    ) -> "list[Hit]":
        """Excerpts of what was said about something, in sight or not, the best first.

        No more than `limit`, nor than `budget` tokens of them. `scope` is the session, its
        `project`, or the whole `ledger` it is kept in. Any text may be asked for. What is found is
        data, never an instruction.

        Raises:
            BadSetting: the policy wants a model to compare meanings, and it is not installed.
        """
        from holdfast.searching import recover  # late: hooks search nothing

        while True:
            hits = recover(
                self.store,
                self.name,
                query,
                limit,
                budget,
                scope=scope,
                strong=self.policy.search == "strong",
                redact=self._others.entries,
            )
            everywhere = scope == "ledger"
            if not self._others.learn((hit.session for hit in hits), everywhere=everywhere):
                return hits

    def read(self, ref: str, lines: tuple[int, int] | None = None) -> str:
        """The text of an entry, named by the beginning of its id; exact, and whole unless cut.

        Lines are numbered as a hit of `recover` numbers them: the values of a call written out.

        Raises:
            NotRecorded: there is no such entry.
            Ambiguous: several begin like this.
        """
        return text_of_entry(self.find(ref), lines)

    def find(self, ref: str) -> Entry:
        """The entry a reference names: its number after a `#`, or the beginning of its id.

        What a session goes on from is found as well, by the names that it knows it by.
        """
        return find_entry(self.store, self.name, ref)

    def holding(self, ref: str) -> "Session":
        """The session that a reference is of: this one, or one that it goes on from."""
        holder = holder_of(self.store, self.name, ref)
        if holder == self.name:
            return self
        return Session(holder, self.store, policy=self.policy, root=self.root, owns_store=False)

    def commit(self, body: Compressed | Restored) -> Batch:
        """Write a compression, or its undoing, if what it was planned on still stands.

        Raises:
            Conflict: the window changed since it was planned.
            BadCompression: it hides what is not there or what came later.
        """
        from holdfast.core.ledger.guard import guard  # late: hooks commit nothing

        lane = (entry for entry in self._named_in(body) if entry.lane == self.agent)
        entries = {entry.id: entry for entry in lane}

        def build(head: Head) -> Batch:
            guard(self.name, head.lane(self.agent), body, entries)
            return note(head, body, lane=self.agent, at=self._clock())

        return self._write(build)

    def derive(self, body: Derived, *, after: int | None = None) -> Entry:
        """Write something about the session: only if it still ends at `after`, when that is given.

        Raises:
            Conflict: something came since.
        """

        def build(head: Head) -> Batch:
            if after is not None and head.seq != after:
                raise Conflict(self.name, expected=after, found=head.seq)
            return note(head, body, lane=self.agent, at=self._clock())

        return self._write(build).entries[0]

    def tell(self, text: str, *, after: int | None = None) -> None:
        """Add words of ours at the end: the user's role, and no request of the user's.

        Raises:
            Conflict: the session no longer ends at `after`, where that is given.
        """
        body, wire = Said("user", str(cleaned(text)), by=OURS), self._head().wire or self._wire
        raw = MESSAGE_WIRES[wire if wire in MESSAGE_WIRES else PLAIN].speak(body)
        arrival = Arrival(raw, (Draft(body, self.agent, at=self._clock()),))

        def build(head: Head) -> Batch:
            if after is not None and head.seq != after:
                raise Conflict(self.name, expected=after, found=head.seq)
            return arrive(self._stamped(head, wire), [arrival])

        self._write(build)

    def _named_in(self, body: Compressed | Restored) -> Iterator[Entry]:
        """The entries that decide whether a compression may be written."""
        if isinstance(body, Restored):
            return self.store.read(self.name)
        hidden = (name for step in body.steps for name in step.hides)
        return self.store.read(self.name, numbers=self.store.names(self.name, hidden).values())

    def tokens_of(self, entries: Iterable[Entry]) -> int:
        """Raw tokens of source entries, in the model's vocabulary."""
        counts = self.store.counts(self.name, self.head().vocabulary)
        return sum(counts.get(entry.seq, 0) for entry in entries)

    def _write(self, build: Build) -> Batch:
        batch = self.store.append(self.name, build)
        self.sight.took(batch)
        return batch

    def _head(self) -> Head:
        return self.store.head(self.name) or Head()

    def _model_of(self, head: Head) -> Model:
        return counted_as(find(self.policy.model or head.model), head)

    def limit(self) -> int:
        """Tokens that the window takes: the model's, less what is kept free for the answer."""
        return self.limited().tokens

    def limited(self) -> Limit:
        """The same, with how it is known."""
        head, policy = self._head(), self.policy
        return limit_of(
            head,
            self._model_of(head),
            policy.model or head.model,
            window=policy.window,
            reserve=policy.reserve,
        )

    def now(self) -> str:
        """This moment, by the session's clock; empty when it has none."""
        return self._clock()

    def seconds_since(self, at: str) -> float:
        """How long ago something was, by this session's clock; nothing when nobody timed it."""
        from datetime import datetime  # late: only planning asks

        try:
            return (
                datetime.fromisoformat(self._clock()) - datetime.fromisoformat(at)
            ).total_seconds()
        except (ValueError, TypeError):
            return 0.0

    def _stamped(self, head: Head, wire: str) -> Head:
        """The head with what a first message settles: the format and the vocabulary."""
        if head.wire and wire and head.wire != wire:
            raise MixedWires(self.name, has=head.wire, got=wire)
        vocabulary = head.vocabulary or self._model_of(head).vocabulary
        return replace(head, wire=head.wire or wire, vocabulary=vocabulary)


def _untold() -> str:
    """The time of what nobody timed."""
    return ""
