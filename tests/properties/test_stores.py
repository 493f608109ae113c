"""Two stores, the same things done to both: they never differ, whatever dies in between."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from holdfast.core.ledger.append import Batch
from holdfast.core.ledger.entry import Compressed, Restored
from holdfast.core.ledger.head import Head
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.store import Store
from tests.examples import examples
from tests.properties.sessions import WIRES, Message, hiding, histories, words


class Died(Exception):
    """What a writer raises half-way."""


class TwoStores(RuleBasedStateMachine):
    """One session in memory, one in a file, told the same things."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.path = str(Path(self.folder.name) / "own" / "ledger.db")
        self.left_open: list[SqliteStore] = []
        self.memory: Store = MemoryStore()
        self.file = SqliteStore(self.path)
        self.pair = (Session("s", self.memory), Session("s", self.file))
        self.told: list[Message] = []
        self.rest: list[Message] = []
        self.committed: list[str] = []

    @initialize(data=st.data(), wire=st.sampled_from(WIRES))
    def begin(self, data: st.DataObject, wire: str) -> None:
        self.rest = data.draw(histories(wire))

    def commit(self, body: Compressed | Restored) -> None:
        one, other = (session.ledger.commit(body) for session in self.pair)
        assert one == other

    def both(self, name: str, *args: Any, **kwargs: Any) -> None:
        one, other = (getattr(session, name)(*args, **kwargs) for session in self.pair)
        assert one == other

    @precondition(lambda self: self.rest)
    @rule(size=st.integers(1, 4))
    def tell(self, size: int) -> None:
        new, self.rest = self.rest[:size], self.rest[size:]
        self.told += new
        self.both("extend", new)

    @rule(size=st.integers(0, 4))
    def resend(self, size: int) -> None:
        new, self.rest = self.rest[:size], self.rest[size:]
        self.told = self.told + new
        self.both("sync", self.told)

    @precondition(lambda self: self.told)
    @rule(data=st.data(), text=words)
    def rewind(self, data: st.DataObject, text: str) -> None:
        upto = data.draw(st.integers(1, len(self.told)))
        self.told = [*self.told[:upto], {"role": "user", "content": text}]
        self.both("sync", self.told)

    @precondition(lambda self: len(self.pair[0].ledger.window().items) > 0)
    @rule(data=st.data(), stand_in=st.booleans(), together=st.booleans())
    def hide(self, data: st.DataObject, stand_in: bool, together: bool) -> None:
        items = list(self.pair[0].ledger.window().items)
        some = data.draw(
            st.lists(st.sampled_from(items), min_size=1, unique_by=lambda i: i.entry.seq)
        )
        some.sort(key=lambda item: item.entry.seq)
        body = hiding(self.pair[0], some, stand_in, together)
        self.pair[1].ledger.head()
        self.commit(body)
        self.committed.append(f"#{self.pair[0].ledger.head().seq}")

    @precondition(lambda self: self.committed)
    @rule()
    def restore(self) -> None:
        entry = self.pair[0].ledger.find(self.committed.pop())
        assert isinstance(entry.body, Compressed)
        saved = sum(step.before - step.after for step in entry.body.steps)
        generation = self.pair[0].ledger.window().generation
        self.commit(Restored(entry.id, generation, saved))

    @rule(prompt=st.integers(1, 9_000), model=st.sampled_from((None, "claude-opus-4", "gpt-4o")))
    def report(self, prompt: int, model: str | None) -> None:
        self.both("report", {"prompt_tokens": prompt, "completion_tokens": 5}, model=model)

    @rule(what=st.sampled_from(("task_done", "phase_change")))
    def note(self, what: str) -> None:
        self.both("note", what, of="drawn")

    @rule()
    def look(self) -> None:
        self.both("status")

    @rule(closed=st.booleans())
    def crash_and_reopen(self, closed: bool) -> None:
        if closed:
            self.file.close()
        else:
            self.left_open.append(self.file)
        self.file = SqliteStore(self.path)
        self.pair = (Session("s", self.memory), Session("s", self.file))

    @rule(text=words)
    def die_while_writing(self, text: str) -> None:
        def build(head: Head) -> Batch:
            raise Died

        for session in self.pair:
            with pytest.raises(Died):
                session.store.append("s", build)

    @invariant()
    def both_hold_the_same(self) -> None:
        one, other = self.memory, self.file
        assert list(one.read("s")) == list(other.read("s"))
        assert one.head("s") == other.head("s")
        assert list(one.sightings("s")) == list(other.sightings("s"))
        assert one.names("s") == other.names("s")

    @invariant()
    def both_send_the_same(self) -> None:
        assert self.pair[0].wire() == self.pair[1].wire()

    @invariant()
    def nothing_is_damaged(self) -> None:
        assert [*self.memory.check(), *self.file.check()] == []

    def teardown(self) -> None:
        for store in (*self.left_open, self.file):
            store.close()
        self.folder.cleanup()


@pytest.mark.hypothesis
def test_two_stores_never_differ() -> None:
    fewer = settings(max_examples=examples(33), stateful_step_count=15)
    run_state_machine_as_test(TwoStores, settings=fewer)
