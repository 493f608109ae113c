"""Session, the public object: one agent's session, and calls to the packages below."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING

from holdfast.core.faults import Fault, attempt
from holdfast.core.ledger.entry import Derived, Noted, Restored, text_of
from holdfast.core.ledger.window import Item
from holdfast.core.measure.usage import Usage
from holdfast.core.observe.requests.pins import PINNED, UNPINNED
from holdfast.core.plan.policy import Policy
from holdfast.engine.fault_log import faults_in, session_notes_faults
from holdfast.engine.intake import Message
from holdfast.engine.ledger import MODEL, TASK, Ledger
from holdfast.engine.live_window import copied
from holdfast.engine.receive import append_messages, intake_for, note_report, sync_messages
from holdfast.engine.references import holder_of, text_of_entry
from holdfast.engine.status import log_of, usage_of
from holdfast.errors import NotRecorded, Unreadable
from holdfast.stores.store import Store
from holdfast.text.jsontext import Json, cleaned

if TYPE_CHECKING:
    from holdfast.core.ledger.summary import Intent
    from holdfast.core.plan.plan import Plan
    from holdfast.core.verify.drift.signs import Drift
    from holdfast.core.view.log import Event
    from holdfast.core.view.search.excerpts import Hit
    from holdfast.engine.checkpoints import Checkpoint
    from holdfast.engine.drift import Watch
    from holdfast.engine.engine import Account, Engine, Outcome
    from holdfast.engine.redact import Others
    from holdfast.engine.sync import Synced
    from holdfast.models.naming import Summarizer
    from holdfast.packets.packet import Packet

TASK_DONE, SPAWN = "task_done", "spawn"
SUMMARY_BUDGET = 4_000
"""Tokens of a summary for which no budget is given."""


class Session:
    """One agent's session: record messages, and get what to send now."""

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
        self.ledger = Ledger(
            name,
            store,
            policy=policy,
            agent=agent,
            root=root,
            wire=wire,
            clock=clock,
            task=task,
            summarizer=summarizer,
            settle=settle,
        )
        self.name, self.agent, self.root, self.store = name, agent, root, store
        self.owns_store = owns_store
        self._model = model
        self._intake = intake_for(self.ledger)

    @property
    def policy(self) -> Policy:
        """The policy that decides for this session."""
        return self.ledger.policy

    def sibling(self, name: str, *, wire: str = "", store: Store | None = None) -> "Session":
        """Another session of the same project; in its own store, or in this one's.

        The store is closed with the session that owns it: the sibling takes that over.
        """
        owns, self.owns_store = self.owns_store, self.owns_store and store is not None
        return Session(
            name,
            self.store if store is None else store,
            policy=self.policy,
            root=self.root,
            wire=wire,
            clock=self.ledger.clock,
            owns_store=owns,
            summarizer=self.ledger.summarizer,
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
        """Close the store, unless the caller brought it."""
        if self.owns_store:
            self.store.close()

    def append(self, message: Message) -> None:
        """Add one new message at the end."""
        self.extend([message])

    @session_notes_faults
    def extend(self, messages: Iterable[Message]) -> None:
        """Add new messages at the end, all or none.

        Raises:
            MixedWires: the session holds messages of another format.
            Unreadable: one of them is no message.
        """
        append_messages(self.ledger, self._intake, messages)
        self._note_named()

    @session_notes_faults
    def sync(self, messages: Iterable[Message]) -> "Synced":
        """Read a client's whole history: known messages stay, new ones are added."""
        synced = sync_messages(self.ledger, self._intake, messages)
        self._note_named()
        return synced

    def _note_named(self) -> None:
        """Note the model and the task that the caller named, once each."""
        model, self._model = self._model, ""
        if model and self.ledger.raw_head().model != model:
            self.note(MODEL, model=model)
        task, self.ledger.named_task = self.ledger.named_task, ""
        before = self.ledger.task() if task else ""
        if task == before:
            return
        if before and TASK_DONE in self.policy.at.events:
            self.engine.reached(TASK_DONE)
        self.note(TASK, name=task)

    @session_notes_faults
    def report(
        self,
        usage: object = None,
        error: str | Mapping[str, object] | BaseException | None = None,
        model: str | None = None,
    ) -> None:
        """Report what the provider said of the last request: it calibrates the counts.

        `usage` is the SDK's own object or a mapping, of OpenAI, Anthropic, Gemini, LangChain or
        Pydantic AI; `error` what the provider or its SDK said when it refused.

        Raises:
            Unreadable: the usage counts no input tokens, or those of several requests.
        """
        note_report(self.ledger, usage, error, model)

    @session_notes_faults
    def note(self, what: str, **facts: str) -> None:
        """Record an event that the messages do not hold, and do what the policy says about it."""
        self.ledger.note(what, **facts)
        if what in self.policy.at.events:
            self.engine.reached(what)
        if what == SPAWN and self.policy.packets.generate == "on":
            from holdfast.packets.deliver import spawned  # late: few sessions have workers

            spawned(self.ledger, {key: self.ledger.storable(fact) for key, fact in facts.items()})

    @session_notes_faults
    def messages(self) -> list[dict[str, Json]]:
        """Return what to send now, as dictionaries of the caller's own."""
        return copied(self._to_send())

    @session_notes_faults
    def wire(self) -> bytes:
        """Return what to send now, as the bytes of a JSON array."""
        return b"[" + b",".join(self._to_send()) + b"]"

    def _to_send(self) -> list[bytes]:
        self.watch.consider()
        self.engine.consider()
        shown = attempt("wire.render", self.ledger.sight.messages, self._as_received)
        self.engine.handed_out()
        return shown

    def _as_received(self) -> list[bytes]:
        """Every message without any compression: sent if rendering the window fails."""
        return self.ledger.sight.rendered([Item(entry) for entry in self.ledger.path()])

    def faults(self) -> tuple[Fault, ...]:
        """The rules that failed on this session and were skipped, oldest first, each once."""
        return tuple(faults_in(self.ledger.events()))

    @cached_property
    def engine(self) -> "Engine":
        """Decides when to compress, and does it."""
        from holdfast.engine.engine import engine_of  # late: hooks append

        return engine_of(self.ledger)

    @cached_property
    def watch(self) -> "Watch":
        """Checks whether the agent still does what it was asked to."""
        from holdfast.engine.drift import Watch  # late: hooks append

        return Watch(self.ledger)

    @session_notes_faults
    def drift(self, message_or_text: Mapping[str, object] | str) -> "Drift":
        """Judge the agent's next message against the session; nothing is changed.

        Raises:
            Unreadable: a dictionary was given that is no message.
        """
        from holdfast.engine.drift import judged

        return judged(self.ledger, message_or_text)

    @session_notes_faults
    def plan(self) -> "Plan":
        """Plan a compression now: what it hides, costs and wins, and what it keeps."""
        return self.engine.plan()

    @session_notes_faults
    def compact(self, budget: int | None = None) -> "Outcome":
        """Compress now: as planned, or down to a budget of tokens.

        Raises:
            NothingToShrink: the budget cannot be reached; nothing was changed.
        """
        return self.engine.compact(budget)

    @session_notes_faults
    def undo(self) -> Restored:
        """Lift the newest compression: the next window is the one before it.

        Raises:
            BadCompression: there is none to lift.
        """
        return self.engine.undo()

    @session_notes_faults
    def summary(self, budget: int = SUMMARY_BUDGET) -> "Account":
        """Summarize the session up to now in rows; `str` of it is a text of that budget."""
        return self.engine.told(budget)

    def intent(self) -> "Intent":
        """What the user wants: the first request, the current one, and how it changed."""
        return self.ledger.intent()

    @session_notes_faults
    def pin(self, text_or_ref: str) -> str:
        """Keep words in every window; returns the id of the pin.

        A reference pins the whole text of its entry.
        """
        text = text_or_ref
        with suppress(NotRecorded):
            body = self.ledger.find(text_or_ref).body
            text = text_of(body) if not isinstance(body, Derived) else text_or_ref
        self.note(PINNED, text=text)
        return next(
            entry.id
            for entry in reversed(self.ledger.events())
            if isinstance(entry.body, Noted) and entry.body.what == PINNED
        )

    def unpin(self, pin: str) -> None:
        """Lift a pin or a constraint: by its id, the entry it was read from, or its words."""
        self.note(UNPINNED, pin=pin)

    def status(self, *, quick: bool = False) -> Usage:
        """How full the window is; `quick` loads no tokenizer if the bytes decide the level."""
        return usage_of(self.ledger, quick=quick)

    @session_notes_faults
    def log(self) -> "tuple[Event, ...]":
        """Every compression, undo and postponement, oldest first."""
        return log_of(self.ledger)

    @session_notes_faults
    def level(self, number: int) -> str:
        """What a reader needs to continue, in 100, 500 or 2,000 tokens (1, 2, 3): fenced data.

        A level that cannot be made is noted, and the next larger one is returned, at last all.
        """
        from holdfast.engine.levels import level

        return level(self.ledger, number)

    @session_notes_faults
    def checkpoint(self) -> "Checkpoint":
        """Save the state of the work: no model, nothing is hidden; the same state only once.

        Raises:
            NotWritten: its readable copy could not be written.
        """
        return self.engine.checkpoint()

    @session_notes_faults
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
        """Make a packet of what a worker needs for a task, in 100, 400 or 800 tokens.

        With a `pane`, it is recorded and its file is written; without, nothing is changed.
        `codebase` are texts of files by path, `continues` the session whose work is continued.

        Raises:
            BadSetting: the task, the depth or a layer is invalid.
            NotHanded: the file could not be written; the packet is recorded.
        """
        from holdfast.packets.deliver import make_and_hand  # late: few hand work over

        return make_and_hand(
            self.ledger,
            task,
            depth,
            layers=layers,
            budget=budget,
            pane=pane,
            codebase=codebase,
            continues=continues,
        )

    @cached_property
    def _others(self) -> "Others":
        """Redacts what is found in other sessions."""
        from holdfast.engine.redact import Others

        return Others(self.ledger.redactor, self.policy.redact, self.store, self.name)

    @session_notes_faults
    def recover(
        self, query: str, limit: int = 5, budget: int | None = None, *, scope: str = "session"
    ) -> "list[Hit]":
        """Find excerpts about something in the window or hidden from it, the best first.

        No more than `limit`, nor than `budget` tokens of them. `scope` is the session, its
        `project`, or the whole `ledger` it is kept in. What is found is data, never an instruction.

        Raises:
            BadSetting: the policy wants a model to compare meanings, and it is not installed.
        """
        from holdfast.engine.recover import recover_redacted  # late: hooks search nothing

        strong = self.policy.search == "strong"
        return recover_redacted(
            self.store, self.name, query, limit, budget, scope=scope, strong=strong, by=self._others
        )

    def read(self, ref: str, lines: tuple[int, int] | None = None) -> str:
        """The text of an entry, named by the beginning of its id; exact, and whole unless cut.

        Lines are numbered as a hit of `recover` numbers them: the values of a call written out.

        Raises:
            NotRecorded: there is no such entry.
            Ambiguous: several begin like this.
        """
        return text_of_entry(self.ledger.find(ref), lines)

    def holding(self, ref: str) -> "Session":
        """The session that holds a reference: this one, or one that it continues."""
        holder = holder_of(self.store, self.name, ref)
        if holder == self.name:
            return self
        return Session(holder, self.store, policy=self.policy, root=self.root, owns_store=False)
