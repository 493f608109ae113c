"""Five hundred facts hidden at every depth of real sessions: are they among the first three found?

A fact is a path, an id, an error, a decision or a number, said once: as a message, or in the middle
of a large result. Five facts are about the same thing, so that its name alone does not find the one
that is meant. Each is asked for in the words it was said in, and in other words.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from benchmarks.data import trajectories
from benchmarks.table import print_table
from holdfast.session import Session
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
KINDS = (
    (
        "path",
        "The deployment manifest of {name} lives in /srv/{a}/{b}/rollout-{n}.yaml.",
        "deployment manifest of {name}",
        "where is the file that describes how {name} gets shipped?",
    ),
    (
        "id",
        "The incident that took {name} down has the ticket number OPS-{n}{m}.",
        "the incident that took {name} down, ticket number",
        "which case did we open when {name} crashed?",
    ),
    (
        "error",
        "{name} stopped with: ConnectionResetError: peer {a}.{b}.internal closed after {n} bytes",
        "{name} ConnectionResetError peer closed",
        "what was the failure of {name} when the other side hung up?",
    ),
    (
        "decision",
        "We decided to keep {name} on the {a} queue instead of {b}, because retries cost {n} ms.",
        "decided to keep {name} on the queue because of retries",
        "what did we choose for {name} and why did we not move it?",
    ),
    (
        "number",
        "The cache of {name} may grow to {n}{m} entries before it is flushed.",
        "cache of {name} entries before it is flushed",
        "how big can the buffer of {name} become until it gets emptied?",
    ),
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
    found: dict[str, list[tuple[bool, bool]]] = {kind: [] for kind, *_ in KINDS}
    facts = list(_facts())
    share = FACTS // len(messages)
    for number, session in enumerate(messages):
        some = facts[number * share : (number + 1) * share]
        told = _hidden_in(session, some, random.Random(SEED + number))
        for fact in some:
            exact, reworded = (
                _is_found(told, fact.exact, fact),
                _is_found(told, fact.reworded, fact),
            )
            found[fact.kind].append((exact, reworded))
    rows = [(kind, len(got), *_shares(got)) for kind, got in found.items()]
    everything = [pair for got in found.values() for pair in got]
    rows.append(("all", len(everything), *_shares(everything)))
    header = ("kind", "facts", "found among the first 3", "the same, reworded")
    print_table("A needle in real sessions", header, rows)


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


def _facts() -> Iterator[Fact]:
    chance = random.Random(SEED)
    for number in range(FACTS):
        kind, text, exact, reworded = KINDS[number % len(KINDS)]
        # One of each kind about the same thing, in the same session: its name alone does not do.
        name = NAMES[number // len(KINDS) % len(NAMES)]
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
