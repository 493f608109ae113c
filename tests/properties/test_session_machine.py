"""A session through everything that can happen to it: nothing is lost, whatever the order (C04)."""

import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,  # pyright: ignore[reportUnknownVariableType]
)
from msgspec.structs import replace

from holdfast import NothingToShrink, Outcome, Policy, Session
from holdfast.core.ledger.append import Batch
from holdfast.core.ledger.entry import Compressed, EntryId, Restored, Step
from holdfast.core.ledger.head import Head
from holdfast.core.plan.policy import DueAt
from holdfast.errors import BadCompression
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.store import Build
from tests.examples import examples
from tests.properties.laws import (
    MODELS,
    broken_laws,
    broken_window_laws,
    policies,
    spelled,
)
from tests.provider.histories import histories

Message: TypeAlias = dict[str, Any]


class Killed(BaseException):
    """The process is gone: nothing after this is run."""


class DyingStore(SqliteStore):
    """A store whose process dies when it is about to write a compression, if told to."""

    dies = False

    def append(self, session: str, build: Build) -> Batch:
        def deadly(head: Head) -> Batch:
            batch = build(head)
            if self.dies and any(isinstance(e.body, Compressed) for e in batch.entries):
                raise Killed
            return batch

        return super().append(session, deadly)


class Life(RuleBasedStateMachine):
    """One session of one agent."""

    wire = ""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.root = self._folder.name
        self.said: list[Message] = []
        self.policy = Policy()
        self.sent: tuple[int, list[str]] = (0, [])
        """What was sent last, a spelling a message, and how many compressions there were then."""
        self.session = self._opened()

    def _opened(self) -> Session:
        store = DyingStore(str(Path(self.root) / "ledger.db"), project="tests")
        return Session("s", store, policy=self.policy, root=self.root)

    @initialize(data=st.data(), small=policies, window=st.integers(2_000, 6_000))
    def begin(self, data: st.DataObject, small: Policy, window: int) -> None:
        events = data.draw(st.sampled_from(((), ("task_done",))))
        self.policy = replace(
            small,
            window=window,
            reserve=500,
            model=data.draw(st.sampled_from(MODELS[self.wire])),
            at=DueAt(events=events),
        )
        self.session.ledger.policy = self.policy
        first = data.draw(histories(self.wire))
        self.session.extend(first)
        self.said += first

    @rule(data=st.data())
    def append(self, data: st.DataObject) -> None:
        new = data.draw(histories(self.wire))
        for message in new:
            self.session.append(message)
        self.said += new

    @rule(data=st.data())
    def go_on_turn_by_turn(self, data: st.DataObject) -> None:
        for message in data.draw(histories(self.wire)):
            self.session.append(message)
            self.said.append(message)
            self._check_window(self._sent())

    @rule()
    def send(self) -> None:
        sent = self._sent()
        self._check_window(sent)
        # Nothing came in between: the same bytes.
        assert spelled(self.session.messages()) == spelled(sent)

    @rule(client_resends=st.booleans())
    def drift(self, client_resends: bool) -> None:
        """The agent asks for what it was told, and the client does not know what we tell it."""
        asks = {"role": "assistant", "content": "Could you remind me what we are working on?"}
        new = [_as_said(self.wire, asks), _as_said(self.wire, GO_ON)]
        self.said += new
        if client_resends:
            assert not self.session.sync(self.said).branched
        else:
            self.session.extend(new)
        self._check_window(self._sent())

    @rule()
    def sync_the_whole_history(self) -> None:
        before = self._window()
        synced = self.session.sync(self.said)
        assert (synced.added, synced.branched) == (0, False)
        assert self._window() == before

    @rule(data=st.data())
    def sync_our_window_and_more(self, data: st.DataObject) -> None:
        new = data.draw(histories(self.wire))
        synced = self.session.sync([*json.loads(self._window()), *new])
        assert (synced.added, synced.branched) == (len(new), False)
        self.said += new

    @rule()
    def compact_and_undo(self) -> None:
        before = self._window()
        made = self.session.compact()
        assert spelled(made.messages) == self._window()
        if made.steps:
            assert self._window() != before
            self.session.undo()
        assert self._window() == before

    @rule(percent=st.integers(10, 100))
    def compact_to_a_budget(self, percent: int) -> None:
        before = json.loads(self._window())
        budget = self.session.status().tokens * percent // 100
        try:
            made = self.session.compact(budget)
            assert made.after.tokens <= budget
            assert spelled(made.messages) == self._window()
        except NothingToShrink as refused:
            assert isinstance(refused.outcome, Outcome)
            made = refused.outcome
            assert self._window() == spelled(before)
        assert broken_laws(self.wire, before, made) == []

    @rule()
    def undo(self) -> None:
        try:
            self.session.undo()
        except BadCompression:
            assert self._hidden() == set()

    @rule()
    def note_that_a_task_is_done(self) -> None:
        self.session.note("task_done")

    @rule()
    def another_process_takes_over(self) -> None:
        before = self._window()
        self.session.close()
        self.session = self._opened()
        assert self._window() == before

    @rule(budgeted=st.booleans())
    def die_before_a_compression_is_written(self, budgeted: bool) -> None:
        store = self.session.store
        assert isinstance(store, DyingStore)
        before, logged = self._window(), _compressions(self.session)
        store.dies = True
        try:
            if budgeted:
                self.session.compact(self.session.status().tokens * 3 // 4)
            else:
                self.session.messages()
        except (Killed, NothingToShrink):
            pass
        self.session.close()
        self.session = self._opened()
        assert (self._window(), _compressions(self.session)) == (before, logged)

    @precondition(lambda self: self.said)
    @invariant()
    def nothing_is_lost(self) -> None:
        self._check_window(json.loads(self._window()))

    def _sent(self) -> list[Message]:
        """What is sent now; what was sent before stays, unless a compression was logged."""
        sent = self.session.messages()
        now, before = [spelled(message) for message in sent], self.sent
        self.sent = (self.session.ledger.window().generation, now)
        if self.sent[0] == before[0]:
            assert now[: len(before[1])] == before[1]
        return sent

    def _window(self) -> str:
        """What is in sight, with nothing done about it."""
        return spelled([json.loads(raw) for raw in self.session.ledger.live_window.messages()])

    def _check_window(self, shown: list[Message]) -> None:
        hidden = len(self._hidden_in_place())
        read = self.session.read
        found = broken_window_laws(self.wire, self.said, shown, read=read, hidden=hidden)
        assert found == []

    def _hidden(self) -> set[EntryId]:
        """What compressions hide that nobody lifted."""
        return {name for step in self._steps() for name in step.hides}

    def _hidden_in_place(self) -> set[EntryId]:
        """What is hidden behind the last entry that a summary stands for."""
        seqs = {entry.id: entry.seq for entry in self.session.store.read("s")}
        summed = (s.hides for s in self._steps() if s.kind == "summary")
        last = max((seqs[name] for hides in summed for name in hides), default=0)
        return {name for name in self._hidden() if seqs[name] > last}

    def _steps(self) -> list[Step]:
        made = {e.id: e.body for e in self.session.store.read("s")}
        lifted = {body.compressed for body in made.values() if isinstance(body, Restored)}
        return [
            step
            for at, body in made.items()
            if isinstance(body, Compressed) and at not in lifted
            for step in body.steps
        ]

    def teardown(self) -> None:
        self.session.ledger.head()
        damage = list(self.session.store.check())
        self.session.close()
        left = list(_drafts(Path(self.root)))
        self._folder.cleanup()
        assert (damage, left) == ([], [])


GO_ON = {"role": "user", "content": "go on"}


def _as_said(wire: str, message: Message) -> Message:
    return {"type": "message", **message} if wire == "openai_responses" else message


def _compressions(session: Session) -> int:
    return sum(isinstance(entry.body, Compressed) for entry in session.store.read("s"))


def _drafts(root: Path) -> Iterable[Path]:
    return (file for file in root.glob(".holdfast/**/.*") if file.is_file())


def _lives(wire: str) -> Iterator[type[Life]]:
    yield type(f"Life_{wire}", (Life,), {"wire": wire})


@pytest.mark.hypothesis
@pytest.mark.parametrize("wire", MODELS)
def test_a_session_loses_nothing_whatever_happens_to_it(wire: str) -> None:
    (life,) = _lives(wire)
    few = settings(max_examples=examples(10), stateful_step_count=12)
    run_state_machine_as_test(life, settings=few)


@pytest.mark.slow
@pytest.mark.parametrize("wire", MODELS)
def test_a_session_loses_nothing_over_a_long_life(wire: str) -> None:
    (life,) = _lives(wire)
    run_state_machine_as_test(life, settings=settings(max_examples=40, stateful_step_count=40))
