"""A process that dies at any instant loses nothing that it was told is safe: catalogue D01."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from msgspec import Struct

from holdfast import Session
from holdfast.transcripts.export import export_document
from tests.reliability.forks import Forks, Words
from tests.reliability.ledgers import (
    bodies,
    compressions,
    document,
    ledger,
    said,
    sources,
    store_at,
)

ROUNDS = 8
"""Kills that one store sees before the next one is begun: a check reads all of it."""

Killing: TypeAlias = Callable[[Forks, Path, int], int]

DEFAULT, MANY = 40, 334
"""Kills for each of the three kinds of writing: 120 in all, and 1,000 in all."""


class Instant(Struct, frozen=True):
    """When to kill: so many acknowledged writes after the fork, and a little later."""

    acks: int
    later: float


def instants(kills: int, *, seed: int, acks: int, later: float) -> Iterator[Instant]:
    """Some children die before they have opened the store, some in the middle of a write."""
    draw = random.Random(seed)
    for _ in range(kills):
        yield Instant(draw.choice([0, draw.randint(1, acks)]), draw.uniform(0, later))


def kill_one(forks: Forks, instant: Instant, task: str, *words: int | str) -> list[Words]:
    child = forks.start(task, *words)
    heard = [line for _ in range(instant.acks) if (line := child.hear()) is not None]
    return [*heard, *child.within(instant.later), *child.kill()]


def kill_while_appending(forks: Forks, folder: Path, kills: int) -> int:
    acked = total = 0
    root = folder
    for turn, instant in enumerate(instants(kills, seed=1, acks=20, later=0.03)):
        if turn % ROUNDS == 0:
            root, acked = folder / str(turn), 0
            root.mkdir()
        heard = kill_one(forks, instant, "append", str(root))
        with store_at(ledger(str(root))) as store:
            found = bodies(store)
            assert found == said(len(found))
            assert acked + len(heard) <= len(found) <= acked + len(heard) + 1
            assert list(store.check()) == []
        acked, total = len(found), total + len(heard)
    return total


def kill_while_compressing(forks: Forks, folder: Path, kills: int) -> int:
    acked: dict[int, str] = {}
    total = 0
    root = folder
    for turn, instant in enumerate(instants(kills, seed=2, acks=20, later=0.03)):
        if turn % ROUNDS == 0:
            root, acked = folder / str(turn), {}
            root.mkdir()
        heard = kill_one(forks, instant, "commit", str(root))
        acked |= {int(seq): str(name) for seq, name in heard}
        with store_at(ledger(str(root))) as store:
            entries = list(store.read("s"))
            names = {entry.seq: entry.id for entry in entries}
            assert acked.items() <= names.items()
            written = sources(entries)
            assert [entry.body for entry in written] == said(len(written))
            generations = [body.generation for body in compressions(entries)]
            assert generations == list(range(len(generations)))
            assert list(store.check()) == []
        acked, total = names, total + len(heard)
    return total


def kill_while_ingesting(forks: Forks, folder: Path, kills: int) -> int:
    total = first = 0
    root = folder
    for turn, instant in enumerate(instants(kills, seed=3, acks=5, later=0.1)):
        if turn % ROUNDS == 0:
            root, first = folder / str(turn), 0
            root.mkdir()
        heard = kill_one(forks, instant, "ingest", str(root), first)
        with store_at(ledger(str(root))) as store:
            names = {listed.name for listed in store.sessions()}
            for (number,) in heard:
                session = Session(f"f{number}", store)
                assert b"".join(export_document(session.ledger)) == document(int(number))
            first += len(heard)
            assert names - {f"f{number}" for number in range(first)} <= {f"f{first}"}
            begun = b"".join(seen.lead + seen.raw for seen in store.sightings(f"f{first}"))
            assert document(first).startswith(begun)
            assert list(store.check()) == []
        total += len(heard)
    return total


KINDS = pytest.mark.parametrize(
    "kill", [kill_while_appending, kill_while_compressing, kill_while_ingesting]
)


@KINDS
def test_a_killed_process_loses_nothing_it_was_told_is_safe(
    kill: Killing, forks: Forks, tmp_path: Path
) -> None:
    acked = kill(forks, tmp_path, DEFAULT)
    print(f"{DEFAULT} kills, {acked} acknowledged writes, 0 lost")
    assert acked > DEFAULT


@pytest.mark.slow
@KINDS
def test_a_thousand_killed_processes_lose_nothing_they_were_told_is_safe(
    kill: Killing, forks: Forks, tmp_path: Path
) -> None:
    acked = kill(forks, tmp_path, MANY)
    print(f"{MANY} kills, {acked} acknowledged writes, 0 lost")
    assert acked > MANY
