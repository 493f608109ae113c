"""Ledger: one agent's lane of one session in a store: read it, fold it, append to it.

It decides nothing: when to compress is the engine's question, and what a caller is given the
session's. Everything below the public API takes this handle.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.ledger.append import Arrival, Batch, Draft, arrive, note
from holdfast.core.ledger.entry import OURS, Compressed, Derived, Entry, Noted, Restored, Said
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.window import Item, Window, path_to
from holdfast.core.measure.limits import Limit, limit_of
from holdfast.core.measure.models import Model, counted_as, find
from holdfast.core.plan.policy import Policy
from holdfast.engine.fault_log import new_faults, notes_faults
from holdfast.engine.live_window import Sight
from holdfast.engine.never_store import Withholder
from holdfast.engine.references import find_entry
from holdfast.errors import Conflict, MixedWires
from holdfast.stores.store import Build, Store
from holdfast.text.jsontext import cleaned
from holdfast.wire.detect import MESSAGE_WIRES, PLAIN

if TYPE_CHECKING:
    from holdfast.core.ledger.summary import Intent
    from holdfast.engine.redact import Redactor
    from holdfast.models.naming import Summarizer

TASK, MODEL = "task", "model"


def no_clock() -> str:
    """Default clock: returns an empty timestamp."""
    return ""


class Ledger:
    """One agent's lane of one session in a store."""

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
        task: str = "",
        summarizer: "Summarizer | None" = None,
        settle: Callable[[], Policy] | None = None,
    ) -> None:
        self.name, self.store, self.agent = name, store, agent
        self.policy = policy or Policy()
        self.root = root
        """The project's folder, where readable copies go; none are written when empty."""
        self.summarizer: Summarizer = summarizer or self.policy.summarizer
        """The model that `compact` asks; empty for none. Nothing else ever waits for it."""
        self.settle = settle
        """Gives the policy that plans are made by, where that takes a file which can wait."""
        self.named_task = task
        """The task that the caller named and that is not written yet."""
        self.wire = wire
        """The format to assume for a session without messages."""
        self.clock = clock or no_clock
        self.withholder = Withholder(self.policy.never_store)
        self.collector = new_faults()
        """Collects the faults of the rules that run for this session."""
        self.sight = Sight(store, name, agent)

    def sibling(self, name: str) -> "Ledger":
        """Another session in the same store, under the same policy."""
        return Ledger(name, self.store, policy=self.policy, root=self.root, clock=self.clock)

    def now(self) -> str:
        """The time by the session's clock; empty if it has none."""
        return self.clock()

    def seconds_since(self, at: str) -> float:
        """Seconds since a time, by this session's clock; 0 if either time is unknown."""
        from datetime import datetime  # late: only planning asks

        try:
            now = datetime.fromisoformat(self.clock())
            return (now - datetime.fromisoformat(at)).total_seconds()
        except (ValueError, TypeError):
            return 0.0

    def storable(self, text: str) -> str:
        """A text without the parts that the user's rules keep out of the store."""
        return self.withholder.text(text)

    @cached_property
    def redactor(self) -> "Redactor":
        """Replaces the session's secrets in texts that somebody else will read."""
        from holdfast.engine.redact import Redactor  # late: hooks show nothing

        return Redactor(self.policy.redact, self.store, self.name)

    def raw_head(self) -> Head:
        """The head as the store has it; its newest entries may not be counted yet."""
        return self.store.head(self.name) or Head()

    def head(self) -> Head:
        """The head with every entry counted."""
        from holdfast.engine.counts import settle  # late: appending counts nothing

        return settle(self.store, self.name, self.model())

    def model(self) -> Model:
        """The agent's model: the one that the policy names, else the one that was reported."""
        return self.model_of(self.raw_head())

    def model_of(self, head: Head) -> Model:
        """The agent's model as a head knows it."""
        return counted_as(find(self.policy.model or head.model), head)

    def limit(self) -> int:
        """Tokens that fit the window: the model's, less the reserve for the answer."""
        return self.limited().tokens

    def limited(self) -> Limit:
        """The same limit, with how it is known."""
        head, policy = self.raw_head(), self.policy
        return limit_of(
            head,
            self.model_of(head),
            policy.model or head.model,
            window=policy.window,
            reserve=policy.reserve,
        )

    def window(self) -> Window:
        """The window as the ledger has it."""
        return self.sight.window()

    def path(self) -> list[Entry]:
        """Every source entry that leads to the end, hidden or not."""
        window = self.sight.window(whole=True)
        return path_to(window.end, window.ledger)

    def events(self) -> list[Entry]:
        """The derived entries of this agent: compressions, notes, packets, checkpoints."""
        return [entry for entry in self.store.events(self.name) if entry.lane == self.agent]

    def find(self, ref: str) -> Entry:
        """The entry that a reference names: its number after a `#`, or the beginning of its id.

        Entries of a session that this one continues are found as well, by the names they have here.
        """
        return find_entry(self.store, self.name, ref)

    def task(self) -> str:
        """The name of the current task; empty if none was named."""
        bodies = (entry.body for entry in reversed(self.events()))
        named = (body.facts for body in bodies if isinstance(body, Noted) and body.what == TASK)
        return self.named_task or next((facts.get("name", "") for facts in named), "")

    @notes_faults
    def intent(self) -> "Intent":
        """What the user wants: the first request, the current one, and how it changed."""
        from holdfast.core.ledger.inherited import inherited
        from holdfast.core.observe.requests.intent import wanted
        from holdfast.core.observe.scene import read_scene
        from holdfast.core.shrink.clip_pastes import cut_intent
        from holdfast.core.shrink.summary.merge import merge_intent

        path = self.redactor.entries(self.path())
        intent = wanted(read_scene([Item(entry) for entry in path])).intent
        return merge_intent(inherited(self.events()).intent, cut_intent(intent))

    def tokens_of(self, entries: Iterable[Entry]) -> int:
        """Raw tokens of source entries, in the model's vocabulary."""
        counts = self.store.counts(self.name, self.head().vocabulary)
        return sum(counts.get(entry.seq, 0) for entry in entries)

    def note(self, what: str, **facts: str) -> None:
        """Record a fact that the messages do not hold. This starts nothing."""
        stored = {name: self.storable(fact) for name, fact in facts.items()}
        at = self.clock()
        self.write(lambda head: note(head, Noted(what, stored), lane=self.agent, at=at))

    def derive(self, body: Derived, *, after: int | None = None) -> Entry:
        """Write a derived entry; with `after`, only if the session still ends there.

        Raises:
            Conflict: something was written since.
        """

        def build(head: Head) -> Batch:
            if after is not None and head.seq != after:
                raise Conflict(self.name, expected=after, found=head.seq)
            return note(head, body, lane=self.agent, at=self.clock())

        return self.write(build).entries[0]

    def commit(self, body: Compressed | Restored) -> Batch:
        """Write a compression, or its undoing, if the window it was planned on is unchanged.

        Raises:
            Conflict: the window changed since it was planned.
            BadCompression: it hides what is not there or what came later.
        """
        from holdfast.core.ledger.guard import guard  # late: hooks commit nothing

        lane = (entry for entry in self._named_in(body) if entry.lane == self.agent)
        entries = {entry.id: entry for entry in lane}

        def build(head: Head) -> Batch:
            guard(self.name, head.lane(self.agent), body, entries)
            return note(head, body, lane=self.agent, at=self.clock())

        return self.write(build)

    def _named_in(self, body: Compressed | Restored) -> Iterator[Entry]:
        """The entries that decide whether a compression may be written."""
        if isinstance(body, Restored):
            return self.store.read(self.name)
        hidden = (name for step in body.steps for name in step.hides)
        return self.store.read(self.name, numbers=self.store.names(self.name, hidden).values())

    def say(self, text: str, *, after: int | None = None) -> None:
        """Append a message of ours, in the user's role; it never counts as a request.

        Raises:
            Conflict: the session no longer ends at `after`, where that is given.
        """
        body, wire = Said("user", str(cleaned(text)), by=OURS), self.raw_head().wire or self.wire
        raw = MESSAGE_WIRES[wire if wire in MESSAGE_WIRES else PLAIN].speak(body)
        arrival = Arrival(raw, (Draft(body, self.agent, at=self.clock()),))

        def build(head: Head) -> Batch:
            if after is not None and head.seq != after:
                raise Conflict(self.name, expected=after, found=head.seq)
            return arrive(self.stamped(head, wire), [arrival])

        self.write(build)

    def write(self, build: Build) -> Batch:
        """Append what `build` makes of the head, and extend the live window with it."""
        batch = self.store.append(self.name, build)
        self.sight.took(batch)
        return batch

    def stamped(self, head: Head, wire: str) -> Head:
        """The head with the format and the vocabulary that a first message settles.

        Raises:
            MixedWires: the session holds messages of another format.
        """
        if head.wire and wire and head.wire != wire:
            raise MixedWires(self.name, has=head.wire, got=wire)
        vocabulary = head.vocabulary or self.model_of(head).vocabulary
        return replace(head, wire=head.wire or wire, vocabulary=vocabulary)
