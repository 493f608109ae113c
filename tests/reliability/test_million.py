"""A project of a million entries can be added to and searched: appending costs what is new."""

import os
from pathlib import Path
from random import Random
from statistics import quantiles
from time import perf_counter

import pytest

from holdfast.session.session import Session
from holdfast.stores.sqlite import SqliteStore

ENTRIES = int(os.environ.get("HOLDFAST_ENTRIES", "1000000"))
A_SESSION = 1_000
PARTS = 5
"""Searches on the way: each indexes what came since the one before."""
WORDS = 20_000
SLOWER = 8
"""Times by which an append may take longer in the end than it did at the beginning."""


def text(draw: Random, number: int) -> str:
    words = (f"word{int(WORDS * draw.random() ** 3)}" for _ in range(12))
    return f"{' '.join(words)} entry_{number}"


def messages(draw: Random, start: int) -> list[dict[str, object]]:
    roles = ("user", "assistant")
    return [
        {"role": roles[number % 2], "content": text(draw, number)}
        for number in range(start, start + A_SESSION)
    ]


def appends(store: SqliteStore, name: str) -> list[float]:
    took: list[float] = []
    with Session(name, store, owns_store=False) as session:
        for at in range(60):
            start = perf_counter()
            session.append({"role": ("user", "assistant")[at % 2], "content": f"one more {at}"})
            took.append(perf_counter() - start)
    return took


@pytest.mark.slow
def test_a_million_entries_are_added_to_and_searched(tmp_path: Path) -> None:
    draw = Random(11)
    told: list[str] = []
    with SqliteStore(str(tmp_path / "ledger.db"), project="million") as store:
        first = quantiles(appends(store, "first"), n=10)
        for start in range(0, ENTRIES, A_SESSION):
            with Session(f"s{start}", store, owns_store=False) as session:
                session.extend(messages(draw, start))
            if (start + A_SESSION) % (ENTRIES // PARTS) == 0:
                told.append(searched(store, start))
        last = quantiles(appends(store, "last"), n=10)
    print("\n".join(told), f"\nappend p50 {first[4] * 1e3:.1f} ms, then {last[4] * 1e3:.1f} ms")
    assert last[4] < first[4] * SLOWER


def searched(store: SqliteStore, start: int) -> str:
    """Ask for one entry by its name, before and after it is indexed."""
    with Session(f"s{start}", store, owns_store=False) as session:
        began = perf_counter()
        indexed = session.recover(f"entry_{start + 7}", scope="project")
        middle = perf_counter()
        again = session.recover(f"entry_{start // 2 + 7}", scope="project")
        end = perf_counter()
    assert f"entry_{start + 7}" in indexed[0].text
    assert f"entry_{start // 2 + 7}" in again[0].text
    return f"{start:>9,}: {middle - began:6.1f} s with indexing, {(end - middle) * 1e3:6.0f} ms"
