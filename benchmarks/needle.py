"""Five hundred facts hidden at every depth of real sessions: are they among the first three found?

A fact is a path, an id, an error, a decision or a number, said once: as a message, or in the middle
of a large result. Each is asked for in the words it was said in, and in other words. First each is
about another thing; then five are about the same, one of each kind, so that its name alone does not
find the one that is meant: once with wordings that the ranking was made with, once with others.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from benchmarks.data import trajectories
from benchmarks.needles import HELD_OUT, KNOWN, Said
from benchmarks.table import print_table
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore

FACTS, SESSIONS = 500, 10
SHORTEST = 60
"""Messages of a session that is long enough to hide something in."""
FIRST = 3
SEED = 11
NAMES = tuple(
    f"{first}-{second}"
    for first in ("heron", "cobalt", "juniper", "marlin", "saffron", "tundra", "velvet", "walnut")
    for second in ("gate", "mill", "port", "field", "works", "yard", "bridge", "loft")
)


class Fact(Struct, frozen=True):
    """Something hidden, and two ways to ask for it."""

    kind: str
    text: str
    exact: str
    reworded: str


def run() -> None:
    """Print the table."""
    messages = _sessions()
    if not messages:
        print("needle: no real sessions here (set HOLDFAST_DATA)")
        return
    ways = (
        ("each about another thing", KNOWN, False),
        ("five about the same thing", KNOWN, True),
        ("the same, held out", HELD_OUT, True),
    )
    rows = [row for how, said, same in ways for row in _measured(how, messages, said, same=same)]
    header = ("facts", "kind", "asked", "found among the first 3", "the same, reworded")
    print_table("A needle in real sessions", header, rows)


def _measured(
    how: str, messages: Sequence[list[dict[str, Any]]], said: Said, *, same: bool
) -> list[tuple[object, ...]]:
    found: dict[str, list[tuple[bool, bool]]] = {kind: [] for kind in said}
    facts = list(_facts(said, same=same))
    share = FACTS // len(messages)
    for number, session in enumerate(messages):
        some = facts[number * share : (number + 1) * share]
        told = _hidden_in(session, some, random.Random(SEED + number))
        for fact in some:
            exact = _is_found(told, fact.exact, fact)
            found[fact.kind].append((exact, _is_found(told, fact.reworded, fact)))
    rows = [(how, kind, len(got), *_shares(got)) for kind, got in found.items()]
    everything = [pair for got in found.values() for pair in got]
    return [*rows, (how, "all", len(everything), *_shares(everything))]


def _shares(got: Sequence[tuple[bool, bool]]) -> tuple[str, str]:
    exact, reworded = (sum(pair[at] for pair in got) / len(got) for at in (0, 1))
    return f"{exact:.3f}", f"{reworded:.3f}"


def _sessions() -> list[list[dict[str, Any]]]:
    """The messages of some long sessions, as far as they have words."""
    long: list[list[dict[str, Any]]] = []
    for one in trajectories():
        told = [
            {"role": "user" if m["role"] == "tool" else m["role"], "content": m["content"]}
            for m in one["messages"]
            if m.get("content") and m["role"] in ("user", "assistant", "tool")
        ]
        if len(told) >= SHORTEST:
            long.append(told)
    step = max(len(long) // SESSIONS, 1)
    return long[::step][:SESSIONS]


def _facts(said: Said, *, same: bool) -> Iterator[Fact]:
    """One of each kind in turn, in every wording in turn."""
    chance = random.Random(SEED)
    kinds = tuple(said)
    for number in range(FACTS):
        kind, turn = kinds[number % len(kinds)], number // len(kinds)
        # Another step through the wordings for each kind, so that all meet all.
        text, exact, reworded = said[kind][
            (turn + number % len(kinds) * (turn // 7)) % len(said[kind])
        ]
        name = NAMES[(turn if same else number) % len(NAMES)]
        a, b = chance.sample(("amber", "basalt", "cedar", "delta", "ember", "fjord"), 2)
        words = {"name": name, "a": a, "b": b, "n": chance.randrange(100, 999), "m": number}
        yield Fact(kind, text.format(**words), exact.format(**words), reworded.format(**words))


def _hidden_in(
    messages: Sequence[dict[str, Any]], facts: Sequence[Fact], chance: random.Random
) -> Session:
    """The session with the facts at every depth: by themselves, or inside what is there."""
    told: list[dict[str, Any]] = [dict(message) for message in messages]
    large = [at for at, one in enumerate(told) if len(one["content"]) > 4_000]
    for number, fact in enumerate(facts):
        if number % 2 and large:
            one = told[chance.choice(large)]
            lines = one["content"].split("\n")
            lines.insert(chance.randrange(len(lines) + 1), fact.text)
            one["content"] = "\n".join(lines)
    alone = [fact for number, fact in enumerate(facts) if not (number % 2 and large)]
    for number, fact in enumerate(alone):
        at = number * len(told) // len(alone)
        told.insert(at, {"role": chance.choice(("user", "assistant")), "content": fact.text})
    session = Session("needle", MemoryStore())
    session.extend(told)
    return session


def _is_found(session: Session, query: str, fact: Fact) -> bool:
    return any(fact.text[-40:] in hit.text for hit in session.recover(query, FIRST))
