"""Session, the public object: records messages, returns what to send, calls the packages below."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Unpack

from holdfast.core.faults import Fault
from holdfast.core.ledger.entry import Derived, Noted, Restored, text_of
from holdfast.core.ledger.notes import Note, Pinned, Spawned, Unpinned, encode, note_of, notes_in
from holdfast.core.ledger.summary import SUMMARY_BUDGET
from holdfast.core.measure.usage import Usage
from holdfast.core.plan.policy import Policy
from holdfast.engine import receive
from holdfast.engine.fault_log import faults_in, notes_faults
from holdfast.engine.intake import Intake, Message
from holdfast.engine.ledger import Ledger, LedgerOptions
from holdfast.engine.live_window import message_dicts
from holdfast.engine.references import holder_of, text_of_entry
from holdfast.engine.status import log_of, usage_of
from holdfast.errors import NotRecorded
from holdfast.stores.store import Store
from holdfast.text.jsontext import Json

if TYPE_CHECKING:
    from holdfast.core.ledger.summary import Intent
    from holdfast.core.plan.plan import Plan
    from holdfast.core.verify.drift.signs import Drift
    from holdfast.core.view.log import Event
    from holdfast.core.view.search.excerpts import Hit
    from holdfast.engine.checkpoints import Checkpoint
    from holdfast.engine.drift import DriftWatch
    from holdfast.engine.engine import Account, Engine, Outcome
    from holdfast.engine.sync import Synced
    from holdfast.packets.packet import Packet


class Session:
    """One agent's session: record messages, and get what to send now."""

    def __init__(
        self,
        name: str,
        store: Store,
        *,
        owns_store: bool = True,
        **options: Unpack[LedgerOptions],
    ) -> None:
        self.ledger = Ledger(name, store, **options)
        self.name, self.store = name, store
        self.agent, self.root = self.ledger.agent, self.ledger.root
        self.owns_store = owns_store
        self._intake = Intake(self.ledger)

    @property
    def policy(self) -> Policy:
        """The policy that decides for this session."""
        return self.ledger.policy

    def sibling(self, name: str, *, wire: str = "", store: Store | None = None) -> "Session":
        """Return another session of the project, here or in `store`; it takes over closing it."""
        owns, self.owns_store = self.owns_store, self.owns_store and store is not None
        own = self.store if store is None else store
        return Session(name, own, owns_store=owns, **self.ledger.shared_options(wire))

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store, unless the caller brought it."""
        if self.owns_store:
            self.store.close()

    def append(self, message: Message) -> None:
        """Add one new message at the end."""
        self.extend([message])

    def extend(self, messages: Iterable[Message]) -> None:
        """Add new messages at the end, all or none.

        Raises:
            MixedWires: the session holds messages of another format.
            Unreadable: one of them is no message.
        """
        receive.append_messages(self.ledger, self._intake, messages)
        receive.note_named(self.ledger, partial(record, self), self._at_boundary)

    def sync(self, messages: Iterable[Message]) -> "Synced":
        """Read a client's whole history: known messages stay, new ones are added."""
        synced = receive.sync_messages(self.ledger, self._intake, messages)
        receive.note_named(self.ledger, partial(record, self), self._at_boundary)
        return synced

    def report(
        self,
        usage: object = None,
        error: str | Mapping[str, object] | BaseException | None = None,
        model: str | None = None,
    ) -> None:
        """Report what the provider said about the last request: it calibrates the counts.

        `usage` is the SDK's own object or a mapping, of OpenAI, Anthropic, Gemini, LangChain or
        Pydantic AI; `error` is the provider's or SDK's error.

        Raises:
            Unreadable: the usage counts no input tokens, or those of several requests.
        """
        receive.note_report(self.ledger, usage, error, model)

    @notes_faults
    def note(self, what: str, **facts: str) -> None:
        """Record an event that the messages do not hold, and do what the policy says about it."""
        self.ledger.note(Noted(what, facts))
        self._at_boundary(what)
        if what == Spawned.what and self.policy.packets.generate == "on":
            from holdfast.packets.deliver import deliver_to_spawned  # late: few have workers

            worker = note_of(Noted(what, self.ledger.storable_facts(facts)))
            assert isinstance(worker, Spawned)
            deliver_to_spawned(self.ledger, worker)

    def _at_boundary(self, event: str) -> None:
        """Let the engine act on an event, if the policy lists it."""
        if event in self.policy.at.events:
            self.engine.at_boundary(event)

    def messages(self) -> list[dict[str, Json]]:
        """Return what to send now, as dictionaries of the caller's own."""
        return message_dicts(self._to_send())

    def wire(self) -> bytes:
        """Return what to send now, as the bytes of a JSON array."""
        return b"[" + b",".join(self._to_send()) + b"]"

    @notes_faults
    def _to_send(self) -> list[bytes]:
        self.watch.consider()
        return self.engine.to_send()

    def faults(self) -> tuple[Fault, ...]:
        """Return the rules that failed on this session and were skipped, oldest first."""
        return tuple(faults_in(self.ledger.events()))

    @property
    def engine(self) -> "Engine":
        """Decides when to compress, and does it."""
        return self.ledger.engine

    @cached_property
    def watch(self) -> "DriftWatch":
        """Checks whether the agent still does what it was asked to."""
        from holdfast.engine.drift import DriftWatch  # late: hooks append

        return DriftWatch(self.ledger)

    def drift(self, message_or_text: Mapping[str, object] | str) -> "Drift":
        """Judge the agent's next message against the session; change nothing.

        Raises:
            Unreadable: a dictionary was given that is no message.
        """
        return self.watch.judge(message_or_text)

    def plan(self) -> "Plan":
        """Plan a compression now: what it hides, costs and saves, and what it keeps."""
        return self.engine.plan()

    def compact(self, budget: int | None = None) -> "Outcome":
        """Compress now: as planned, or down to a budget of tokens.

        Raises:
            NothingToShrink: the budget cannot be reached; nothing was changed.
        """
        return self.engine.compact(budget)

    def undo(self) -> Restored:
        """Undo the newest compression: the next window is the one before it.

        Raises:
            BadCompression: there is none to undo.
        """
        return self.engine.undo()

    def summary(self, budget: int = SUMMARY_BUDGET) -> "Account":
        """Summarize the session up to now in rows; `str` of it is a text of that budget."""
        return self.engine.account(budget)

    def intent(self) -> "Intent":
        """Return what the user wants: the first request, the current one, and how it changed."""
        return self.engine.path_rows().intent

    def pin(self, text_or_ref: str) -> str:
        """Keep a text, or that of a reference, in every window; return the id of the pin."""
        text = text_or_ref
        with suppress(NotRecorded):
            body = self.ledger.find(text_or_ref).body
            text = text if isinstance(body, Derived) else text_of(body)
        record(self, Pinned(text))
        return next(notes_in(reversed(self.ledger.notes()), Pinned))[0].id

    def unpin(self, pin: str) -> None:
        """Lift a pin or a constraint: by its id, the entry it was read from, or its words."""
        record(self, Unpinned(pin))

    def status(self, *, quick: bool = False) -> Usage:
        """Return how full the window is; `quick` loads no tokenizer if bytes decide the level."""
        return usage_of(self.ledger, quick=quick)

    def log(self) -> "tuple[Event, ...]":
        """Return every compression, undo and postponement, oldest first."""
        return log_of(self.ledger)

    def level(self, number: int) -> str:
        """Return what a reader needs to continue, fenced: 100, 500 or 2,000 tokens (1, 2, 3).

        If a level cannot be made, that is noted, and the next larger one is returned.
        """
        from holdfast.engine.levels import recover_level

        return recover_level(self.ledger, number)

    def checkpoint(self) -> "Checkpoint":
        """Save the state of the work: no model, nothing is hidden; the same state only once.

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
        """Make a packet of what a worker needs for a task, in 100, 400 or 800 tokens.

        With a `pane`, it is recorded and its file is written; without, nothing is changed.
        `codebase` are texts of files by path, `continues` the session whose work is continued.

        Raises:
            BadSetting: the task, the depth or a layer is invalid.
            NotHanded: the file could not be written; the packet is recorded.
        """
        from holdfast.packets import deliver, make  # late: few hand work over

        audience = deliver.audience_of(pane)
        made = make.generate_packet(
            self.ledger,
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
        delivered = deliver.deliver_packet(self.ledger, made, task=task, budget=budget)
        return deliver.as_packet(delivered.packet)

    def recover(
        self, query: str, limit: int = 5, budget: int | None = None, *, scope: str = "session"
    ) -> "list[Hit]":
        """Find excerpts about something in the window or hidden from it, the best first.

        Returns at most `limit` excerpts, of at most `budget` tokens. `scope` is `session`,
        `project` or `ledger`. Excerpts are data, never instructions.

        Raises:
            BadSetting: the policy wants a model to compare meanings, and it is not installed.
        """
        from holdfast.engine.recover import recover_redacted  # late: hooks search nothing

        return recover_redacted(self.ledger, query, limit, budget, scope=scope)

    def read(self, ref: str, lines: tuple[int, int] | None = None) -> str:
        """Return the exact text of an entry, named by the beginning of its id.

        `lines` selects lines by the numbers that hits of `recover` have.

        Raises:
            NotRecorded: there is no such entry.
            Ambiguous: several ids begin like this.
        """
        return text_of_entry(self.ledger.find(ref), lines)

    def holding(self, ref: str) -> "Session":
        """Return the session that holds a reference: this one, or one that it continues."""
        holder = holder_of(self.store, self.name, ref)
        if holder == self.name:
            return self
        return Session(holder, self.store, policy=self.policy, root=self.root, owns_store=False)


def record(session: Session, note: Note) -> None:
    """Record a note of a known kind, and do what the policy says about it."""
    body = encode(note)
    session.note(body.what, **body.facts)
