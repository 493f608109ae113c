"""Counting beside others who write: what is kept is what a replay of everything says."""

from pathlib import Path

import pytest

from holdfast.core.ledger.entry import Compacted
from holdfast.core.measure.tokens import CountTokens
from holdfast.engine import counts
from holdfast.engine.counts import update_counts
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.store import Store


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else SqliteStore(str(tmp_path / "ledger.db"))


def say(store: Store, *texts: str) -> None:
    Session("s", store).extend([{"role": "user", "content": text} for text in texts])


@pytest.mark.parametrize("others", [("third",), ("third", "fourth", "fifth")])
def test_who_writes_while_others_count_is_counted_the_next_time(
    store: Store, monkeypatch: pytest.MonkeyPatch, others: tuple[str, ...]
) -> None:
    say(store, "first", "second")
    writing = [others]
    true = counts.counter

    def overtaken(vocabulary: str) -> CountTokens:
        while writing:
            say(store, *writing.pop())
        return true(vocabulary)

    monkeypatch.setattr(counts, "counter", overtaken)
    head = update_counts(store, "s")
    assert (head.counted, head.seq) == (2, 2 + len(others))
    assert list(store.check()) == []
    head = update_counts(store, "s")
    assert (head.counted, head.lane("").uncounted) == (head.seq, 0)
    assert list(store.check()) == []


def test_who_counts_behind_a_compaction_gets_there_beside_a_busy_writer(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(store, "first", "second")
    Session("s", store).ledger.derive(Compacted("auto"))
    true = counts.counter

    def always_overtaken(vocabulary: str) -> CountTokens:
        say(store, "another")
        return true(vocabulary)

    monkeypatch.setattr(counts, "counter", always_overtaken)
    head = update_counts(store, "s")
    assert (head.counted, head.seq) == (3, 4)
    assert list(store.check()) == []
