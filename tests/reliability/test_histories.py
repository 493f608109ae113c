"""Appenders, compressors, readers and kills at once; then every history is checked: C02."""

import random
import select
from collections.abc import Iterable
from pathlib import Path

import pytest

from holdfast import Session
from holdfast.core.ledger.entry import Entry, Said
from holdfast.stores.sqlite import SqliteStore
from tests.reliability.forks import Child, Forks, Words
from tests.reliability.ledgers import SESSION, compressions, ledger, said, sources, store_at
from tests.reliability.tasks import AT_ONCE

APPENDERS, COMPRESSORS = 4, 2
KILL_EVERY, READ_EVERY = 120, 15
"""Operations between two kills, and between two readings."""


class History:
    """What the children say, and what the ledger must therefore hold."""

    def __init__(self, forks: Forks, root: Path) -> None:
        self.forks, self.root = forks, str(root)
        self.appended: dict[str, int] = {}
        """How many appends of each appender were acknowledged."""
        self.written: dict[int, str] = {}
        """The compressions acknowledged: their names by number."""
        self.conflicts = self.readings = self.kills = 0
        self.children: dict[Child, str] = {}
        """What each child is: the name of an appender, or a task."""

    @property
    def operations(self) -> int:
        return sum(self.appended.values()) + len(self.written) + self.conflicts + self.readings

    def start(self, kind: str) -> None:
        if kind in ("compress", "watch"):
            self.children[self.forks.start(kind, self.root)] = kind
            return
        name = f"{kind.split('.', maxsplit=1)[0]}.{len(self.appended)}-"
        self.appended[name] = 0
        self.children[self.forks.start("append_as", self.root, name)] = name

    def listen(self) -> None:
        """Take note of what was said up to now."""
        ready, _, _ = select.select(list(self.children), [], [], 5)
        for child in ready:
            for words in child.within(0):
                self.note(self.children[child], words)
                self.answer(child, words)

    def answer(self, child: Child, words: Words) -> None:
        """Let an appender go on that waits, and the reader when there is something to read."""
        if isinstance(words[0], int) and words[0] % AT_ONCE == AT_ONCE - 1:
            child.tell("on")
        if self.operations >= (self.readings + 1) * READ_EVERY:
            next(child for child, kind in self.children.items() if kind == "watch").tell("on")

    def note(self, kind: str, words: Words) -> None:
        match words:
            case ["written", int(seq), str(name)]:
                self.written[seq] = name
            case ["conflict"]:
                self.conflicts += 1
            case ["read", int()]:
                self.readings += 1
            case [int(number)]:
                assert number == self.appended[kind]
                self.appended[kind] += 1
            case _:
                raise AssertionError(words)

    def kill(self, child: Child) -> str:
        kind = self.children.pop(child)
        for words in child.kill():
            self.note(kind, words)
        self.kills += 1
        return kind


def run(forks: Forks, root: Path, operations: int) -> History:
    history = History(forks, root)
    draw = random.Random(5)
    kinds = [f"w{number}." for number in range(APPENDERS)] + ["compress"] * COMPRESSORS + ["watch"]
    for kind in kinds:
        history.start(kind)
    with store_at(ledger(str(root))) as store:
        reader = Reader(store)
        while history.operations < operations:
            history.listen()
            reader.check(history)
            if history.operations > (history.kills + 1) * KILL_EVERY:
                victims = [child for child, kind in history.children.items() if kind != "watch"]
                history.start(history.kill(draw.choice(victims)))
    for child in list(history.children):
        history.kill(child)
    return history


class Reader:
    """A reader of its own: it sees every entry that was acknowledged before it looked."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.names: dict[int, str] = {}
        self.seen: dict[str, int] = {}

    def check(self, history: History) -> None:
        for entry in self.store.read(SESSION, since=len(self.names)):
            self.names[entry.seq] = entry.id
            if isinstance(entry.body, Said):
                name = entry.body.text.split("-")[0] + "-"
                self.seen[name] = self.seen.get(name, 0) + 1
        assert list(self.names) == list(range(1, len(self.names) + 1))
        assert history.written.items() <= self.names.items()
        behind = {
            name: acked
            for name, acked in history.appended.items()
            if self.seen.get(name, 0) < acked
        }
        assert behind == {}


def check_appends(entries: Iterable[Entry], history: History) -> None:
    """Each appender's messages are there once and in order; at most one of them unacknowledged."""
    found: dict[str, list[object]] = {name: [] for name in history.appended}
    for entry in sources(entries):
        assert isinstance(entry.body, Said)
        found[entry.body.text.split("-")[0] + "-"].append(entry.body)
    for name, acked in history.appended.items():
        assert found[name] == said(len(found[name]), name)
        assert acked <= len(found[name]) <= acked + 1


def check_window(store: SqliteStore, entries: list[Entry]) -> None:
    """Each entry is in sight or stood for, once, and in order of what comes first."""
    items = Session(SESSION, store).ledger.window().items
    shown = [name for item in items for name in item.shows]
    assert sorted(shown) == sorted(entry.id for entry in sources(entries))
    firsts = [item.entry.seq for item in items]
    assert firsts == sorted(firsts)


def check(history: History) -> None:
    with store_at(ledger(history.root)) as store:
        entries = list(store.read(SESSION))
        names = {entry.seq: entry.id for entry in entries}
        assert list(names) == list(range(1, len(entries) + 1))
        assert history.written.items() <= names.items()
        generations = [body.generation for body in compressions(entries)]
        assert generations == list(range(len(generations)))
        check_appends(entries, history)
        check_window(store, entries)
        assert list(store.check()) == []
    print(
        f"{history.operations} operations: {sum(history.appended.values())} appends, "
        f"{len(history.written)} compressions, {history.conflicts} conflicts, "
        f"{history.readings} readings, {history.kills} kills"
    )


def test_no_history_loses_repeats_or_reorders_anything(forks: Forks, tmp_path: Path) -> None:
    check(run(forks, tmp_path, 1_200))


@pytest.mark.slow
def test_no_long_history_loses_repeats_or_reorders_anything(forks: Forks, tmp_path: Path) -> None:
    check(run(forks, tmp_path, 10_000))
