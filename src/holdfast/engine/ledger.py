"""Ledger: read, fold and append to one agent's lane of one session in a store.

It decides nothing: the engine decides when to compress, the session what a caller gets. Everything
below the public API takes this handle.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, TypedDict, Unpack

from msgspec.structs import replace

from holdfast.core.ledger.append import Arrival, Batch, Draft, append_arrivals, append_note
from holdfast.core.ledger.entry import (
    HOLDFAST,
    Checkpointed,
    Compressed,
    Derived,
    Entry,
    EntryId,
    Noted,
    Restored,
    Said,
)
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.notes import Note, Purged, TaskNamed, encode, is_note, newest_note
from holdfast.core.ledger.window import GrowingList, Window, path_to
from holdfast.core.measure.limits import Limit, limit_of
from holdfast.core.measure.models import Model, find_model, keep_vocabulary
from holdfast.core.plan.policy import Policy
from holdfast.engine.fault_log import new_faults, notes_faults
from holdfast.engine.live_window import LiveWindow
from holdfast.engine.never_store import NeverStoreFilter
from holdfast.engine.references import find_entry
from holdfast.errors import Conflict, MixedWires, Unreadable
from holdfast.stores.store import Build, Store, events_newest_first
from holdfast.text.jsontext import without_surrogates
from holdfast.wire.detect import DEFAULT_MESSAGE_WIRE, MESSAGE_WIRES

if TYPE_CHECKING:
    from holdfast.engine.copies import Archive
    from holdfast.engine.redact import CrossSessionRedactor, Redactor
    from holdfast.models.naming import Summarizer


LIGHT_KINDS = ("noted", "restored", "resumed", "compacted")
"""Kinds of small derived entries: each is read once."""
CHECKPOINT, MAX_CHECKPOINTS_KEPT = "checkpoint", 4


def no_clock() -> str:
    """Default clock: returns an empty timestamp."""
    return ""


def _check_names(*names: str) -> None:
    for name in names:
        if without_surrogates(name) != name:
            raise Unreadable("name", f"{without_surrogates(name)!r} holds what no text can hold")


class LedgerOptions(TypedDict, total=False):
    """The options that a `Ledger`, and with it a `Session`, is made with."""

    policy: Policy | None
    agent: str
    root: str
    """The project's folder, where readable copies go; none are written when empty."""
    wire: str
    """The format to assume for a session without messages."""
    clock: Callable[[], str] | None
    task: str
    """The task that is worked on; it is noted with the next message."""
    model: str
    """The agent's model; it is noted with the next message."""
    summarizer: "Summarizer | None"
    """The model that `compact` asks; empty for none. No other call waits for it."""
    load_policy: Callable[[], Policy] | None
    """Loads the policy to plan with, if that takes reading files that appending does not need."""


class Ledger:
    """One agent's lane of one session in a store."""

    def __init__(self, name: str, store: Store, **options: Unpack[LedgerOptions]) -> None:
        self.name, self.store, self.agent = name, store, options.get("agent", "")
        _check_names(name, self.agent)
        self.policy = options.get("policy") or Policy()
        self.root = options.get("root", "")
        self.summarizer: Summarizer = options.get("summarizer") or self.policy.summarizer
        self.load_policy = options.get("load_policy")
        self.named_task = options.get("task", "")
        """The task that the caller named and that is not written yet."""
        self.named_model = options.get("model", "")
        """The model that the caller named and that is not written yet."""
        self.wire = options.get("wire", "")
        self.clock = options.get("clock") or no_clock
        self.never_store_filter = NeverStoreFilter(self.policy.never_store)
        self.collector = new_faults()
        """Collects the faults of the rules that run for this session."""
        self.live_window = LiveWindow(store, name, self.agent)
        self._checkpoints: list[Entry] = []
        self._checkpoints_upto = self._checkpoints_erased = 0
        """The newest checkpoints up to an entry, as of a purge."""
        self._events: list[Entry] = []
        self._events_upto = self._erased_upto = 0
        """The light events up to an entry: a later call reads only the entries after it."""

    def sibling(self, name: str) -> "Ledger":
        """Return another session in the same store, under the same policy."""
        return Ledger(name, self.store, policy=self.policy, root=self.root, clock=self.clock)

    def shared_options(self, wire: str) -> LedgerOptions:
        """Return the options for another session of the same project, in a given wire."""
        return {
            "wire": wire,
            "policy": self.policy,
            "root": self.root,
            "clock": self.clock,
            "summarizer": self.summarizer,
        }

    def now(self) -> str:
        """Return the time by the session's clock; empty if it has none."""
        return self.clock()

    def seconds_since(self, at: str) -> float:
        """Return the seconds since a time, by this session's clock; 0 if either time is unknown."""
        from datetime import datetime  # late: only planning asks

        try:
            now = datetime.fromisoformat(self.clock())
            return (now - datetime.fromisoformat(at)).total_seconds()
        except (ValueError, TypeError):
            return 0.0

    def storable(self, text: str) -> str:
        """Return a text without the parts that the user's rules keep out of the store."""
        return self.never_store_filter.text(text)

    def storable_facts(self, facts: Mapping[str, str]) -> dict[str, str]:
        """Return a note's facts without the parts that the user's rules keep out of the store."""
        return {name: self.storable(fact) for name, fact in facts.items()}

    @cached_property
    def redactor(self) -> "Redactor":
        """Replaces the session's secrets in texts that somebody else will read."""
        from holdfast.engine.redact import Redactor  # late: hooks show nothing

        return Redactor(self.policy.redact, self.store, self.name)

    @cached_property
    def cross_session_redactor(self) -> "CrossSessionRedactor":
        """Redacts texts that were found in other sessions."""
        from holdfast.engine.redact import CrossSessionRedactor  # late: hooks search nothing

        return CrossSessionRedactor(self.redactor, self.policy.redact, self.store, self.name)

    @cached_property
    def archive(self) -> "Archive":
        """The page of the whole conversation."""
        from holdfast.engine.copies import Archive  # late: only tier 3 writes it

        return Archive(self)

    def raw_head(self) -> Head:
        """Return the head as the store has it; its newest entries may not be counted yet."""
        return self.store.head(self.name) or Head()

    def head(self) -> Head:
        """Return the head with every entry counted."""
        from holdfast.engine.counts import update_counts  # late: appending counts nothing

        return update_counts(self.store, self.name, self.model())

    def model(self) -> Model:
        """Return the agent's model: the one in the policy, else the one that was reported."""
        return self.model_of(self.raw_head())

    def model_of(self, head: Head) -> Model:
        """Return the agent's model as a head knows it."""
        return keep_vocabulary(find_model(self.policy.model or head.model), head)

    def limit(self) -> int:
        """Return the tokens that fit the window: the model's, less the reserve for the answer."""
        return self.limit_with_origin().tokens

    def limit_with_origin(self) -> Limit:
        """Return the same limit, with where it comes from."""
        head, policy = self.raw_head(), self.policy
        return limit_of(
            head,
            self.model_of(head),
            policy.model or head.model,
            window=policy.window,
            reserve=policy.reserve,
        )

    def window(self) -> Window:
        """Return the current window."""
        return self.live_window.window()

    def whole_window(self) -> Window:
        """Return the window with every entry of the ledger, hidden ones as well."""
        return self.live_window.whole()

    def planning_window(self) -> Window:
        """Return the current window with what plans read of the ledger: notes, links and undoings.

        Its cost does not grow with what is hidden.
        """
        window = self.window()
        read = (*window.ledger, *self._light_events())
        known = {entry.seq: entry for entry in read if not isinstance(entry.body, Checkpointed)}
        return replace(window, ledger=GrowingList(known[seq] for seq in sorted(known)))

    def path(self) -> list[Entry]:
        """Return every source entry that leads to the end, hidden or not."""
        window = self.window()
        path = path_to(window.end, window.ledger)
        if path and path[0].parent is None:
            return path
        # The window has dropped entries that it hides.
        entries = self.store.read(self.name)
        return path_to(window.end, [e for e in entries if e.lane == self.agent])

    def events(self) -> list[Entry]:
        """Return the derived entries of this agent: compressions, notes, packets, checkpoints."""
        return [entry for entry in self.store.events(self.name) if entry.lane == self.agent]

    def newest_checkpoints(self) -> Iterator[Entry]:
        """Yield the checkpoints, newest first; reads about as many as needed, and the new ones."""
        erased, seq = self.erased_upto, self.raw_head().seq
        if erased != self._checkpoints_erased or seq < self._checkpoints_upto:
            self._checkpoints, self._checkpoints_upto = [], 0
        self._checkpoints_erased = erased
        if self._checkpoints_upto:
            later = self.store.events(self.name, since=self._checkpoints_upto, kinds=(CHECKPOINT,))
            self._checkpoints += (entry for entry in later if entry.lane == self.agent)
            self._checkpoints = self._checkpoints[-MAX_CHECKPOINTS_KEPT:]
        else:
            self._checkpoints = list(islice(self._older_checkpoints(), 1))
        self._checkpoints_upto = seq
        yield from reversed(self._checkpoints)
        oldest = self._checkpoints[0].seq if self._checkpoints else 0
        yield from (entry for entry in self._older_checkpoints() if entry.seq < oldest)

    def _older_checkpoints(self) -> Iterator[Entry]:
        found = events_newest_first(self.store, self.name, kinds=(CHECKPOINT,))
        return (entry for entry in found if entry.lane == self.agent)

    def notes(self) -> Sequence[Entry]:
        """Return the notes of this agent, oldest first; reads only entries that are new."""
        return [entry for entry in self._light_events() if isinstance(entry.body, Noted)]

    @property
    def erased_upto(self) -> int:
        """The number of the newest note of a purge; 0 without one. What was read may be erased."""
        self._light_events()
        return self._erased_upto

    def _light_events(self) -> Sequence[Entry]:
        """Return notes, links to other sessions, and undoings with what they undid."""
        seq = self.raw_head().seq
        fresh = self._fresh_events() if seq != self._events_upto else []
        purges = [entry.seq for entry in fresh if is_note(entry.body, Purged)]
        if seq < self._events_upto or purges:
            self._events, self._events_upto = [], 0  # what was read may be erased
            fresh = self._fresh_events()
            self._erased_upto = max([self._erased_upto, *purges])
        self._events += fresh
        self._events_upto = max(seq, *(entry.seq for entry in fresh), 0)
        return self._events

    def _fresh_events(self) -> list[Entry]:
        later = self.store.events(self.name, since=self._events_upto, kinds=LIGHT_KINDS)
        found = [entry for entry in later if entry.lane == self.agent]
        undone = {entry.body.compressed for entry in found if isinstance(entry.body, Restored)}
        if undone:
            made = self.store.events(self.name, kinds=("compressed",))
            found = sorted((*found, *(e for e in made if e.id in undone)), key=lambda e: e.seq)
        return found

    def find(self, ref: str) -> Entry:
        """Return the entry that a reference names: its number after a `#`, or the start of its id.

        Entries of a session that this one continues are found as well.
        """
        return find_entry(self.store, self.name, ref)

    def task(self) -> str:
        """Return the name of the current task; empty if none was named."""
        found = newest_note(self.notes(), TaskNamed)
        return self.named_task or (found[1].name if found is not None else "")

    @notes_faults
    def tokens_of(self, entries: Iterable[Entry]) -> int:
        """Count the raw tokens of source entries, in the model's vocabulary."""
        counts = self.store.counts(self.name, self.head().vocabulary)
        return sum(counts.get(entry.seq, 0) for entry in entries)

    def note(self, noted: Note | Noted) -> None:
        """Record a fact that the messages do not hold. This starts nothing."""
        body = noted if isinstance(noted, Noted) else encode(noted)
        stored = self.storable_facts(body.facts)
        at = self.clock()
        self.write(lambda head: append_note(head, Noted(body.what, stored), lane=self.agent, at=at))

    def derive(self, body: Derived, *, after: int | None = None) -> Entry:
        """Write a derived entry; with `after`, only if the session still ends there.

        Raises:
            Conflict: something was written since.
        """

        def build(head: Head) -> Batch:
            if after is not None and head.seq != after:
                raise Conflict(self.name, expected=after, found=head.seq)
            return append_note(head, body, lane=self.agent, at=self.clock())

        return self.write(build).entries[0]

    def commit(self, body: Compressed | Restored) -> Batch:
        """Write a compression, or its undoing, if the window it was planned on is unchanged.

        Raises:
            Conflict: the window changed since it was planned.
            BadCompression: it hides what is not there or what came later.
        """
        from holdfast.core.ledger.guard import check_compression  # late: hooks commit nothing

        # Entries that a stand-in covers were checked when they were hidden.
        shown = {name: item.entry for item in self.window().items for name in item.shows}
        lane = (entry for entry in self._entries_for_guard(body, shown) if entry.lane == self.agent)
        entries = {**shown, **{entry.id: entry for entry in lane}}

        def build(head: Head) -> Batch:
            check_compression(self.name, head.lane(self.agent), body, entries)
            return append_note(head, body, lane=self.agent, at=self.clock())

        return self.write(build)

    def _entries_for_guard(
        self, body: Compressed | Restored, shown: Container[EntryId]
    ) -> Iterator[Entry]:
        """Return the entries that decide whether a compression may be written, besides `shown`."""
        if isinstance(body, Restored):
            return self.store.read(self.name)
        hidden = [name for step in body.steps for name in step.hides if name not in shown]
        return self.store.read(self.name, numbers=self.store.names(self.name, hidden).values())

    def append_own_message(self, text: str, *, after: int | None = None) -> None:
        """Append a message of ours in the user's role; it never counts as a request.

        Raises:
            Conflict: `after` is given and the session no longer ends there.
        """
        body, wire = (
            Said("user", str(without_surrogates(text)), by=HOLDFAST),
            self.raw_head().wire or self.wire,
        )
        raw = MESSAGE_WIRES[wire if wire in MESSAGE_WIRES else DEFAULT_MESSAGE_WIRE].new_message(
            body
        )
        arrival = Arrival(raw, (Draft(body, self.agent, at=self.clock()),))

        def build(head: Head) -> Batch:
            if after is not None and head.seq != after:
                raise Conflict(self.name, expected=after, found=head.seq)
            return append_arrivals(self.stamp_head(head, wire), [arrival])

        self.write(build)

    def write(self, build: Build) -> Batch:
        """Append the batch that `build` makes from the head, and extend the live window with it."""
        batch = self.store.append(self.name, build)
        self.live_window.extend(batch)
        return batch

    def stamp_head(self, head: Head, wire: str) -> Head:
        """Return the head with the format and the vocabulary that a first message determines.

        Raises:
            MixedWires: the session holds messages of another format.
        """
        if head.wire and wire and head.wire != wire:
            raise MixedWires(self.name, has=head.wire, got=wire)
        vocabulary = head.vocabulary or self.model_of(head).vocabulary
        return replace(head, wire=head.wire or wire, vocabulary=vocabulary)
