"""Five hundred facts hidden at every depth of real sessions: are they among the first three found?

A fact is a path, an id, an error, a decision or a number, said once: as a message, or in the middle
of a large result. Five facts are about the same thing, so that its name alone does not find the one
that is meant. Each is asked for in the words it was said in, and in other words.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

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
Said: TypeAlias = Mapping[str, Sequence[tuple[str, str, str]]]

KNOWN: Said = {
    "path": (
        (
            "The deployment manifest of {name} lives in /srv/{a}/{b}/rollout-{n}.yaml.",
            "deployment manifest of {name}",
            "where is the file that describes how {name} gets shipped?",
        ),
        (
            "I put the credentials that {name} needs into /etc/{a}/{b}-{n}.env.",
            "credentials that {name} needs",
            "where did we store the secrets for {name}?",
        ),
        (
            "{name} writes what it logs to /var/log/{a}/{b}-{n}.log.",
            "{name} writes what it logs to",
            "in which folder can I read the output of {name}?",
        ),
        (
            "The database schema for {name} is defined by src/{a}/{b}/schema_{n}.sql.",
            "database schema for {name}",
            "which script creates the tables of {name}?",
        ),
        (
            "Tests covering {name} were moved to tests/{a}/test_{b}_{n}.py.",
            "tests covering {name} were moved to",
            "where are the checks for {name} now?",
        ),
        (
            "Backups of {name} end up under /mnt/{a}/{b}/{n}/.",
            "backups of {name}",
            "what directory has the saved copies of {name}?",
        ),
    ),
    "id": (
        (
            "The incident that took {name} down has the ticket number OPS-{n}{m}.",
            "the incident that took {name} down, ticket number",
            "which case did we open when {name} crashed?",
        ),
        (
            "The pull request which refactors {name} is #{n}{m}.",
            "pull request which refactors {name}",
            "what was the change under review that cleaned up {name}?",
        ),
        (
            "The fix for {name} landed in commit {n}fe{m}a9.",
            "fix for {name} landed in commit",
            "which revision repaired {name}?",
        ),
        (
            "The AWS account that hosts {name} is acct-{n}{m}.",
            "AWS account that hosts {name}",
            "which cloud subscription does {name} run in?",
        ),
        (
            "Customer reports about {name} are tracked as bug BZ-{n}{m}.",
            "customer reports about {name} bug",
            "under what issue did users complain about {name}?",
        ),
        (
            "The container image of {name} is pinned to sha-{n}c{m}d.",
            "container image of {name} pinned",
            "which build of {name} is docker fixed at?",
        ),
    ),
    "error": (
        (
            "{name} stopped with: ConnectionResetError: peer {a}.{b}.internal closed after {n} bytes",
            "{name} ConnectionResetError peer closed",
            "what was the failure of {name} when the other side hung up?",
        ),
        (
            "Running {name} raised PermissionError: [Errno 13] Permission denied: '/{a}/{b}/{n}'",
            "running {name} PermissionError",
            "what happened when {name} was not allowed to write?",
        ),
        (
            "{name} died: OutOfMemoryError: Java heap space while loading {a} and {b} ({n})",
            "{name} OutOfMemoryError heap space",
            "how did {name} run out of RAM?",
        ),
        (
            "Importing {name} gives ModuleNotFoundError: No module named '{a}_{b}_{n}'",
            "importing {name} ModuleNotFoundError",
            "which package is missing when loading {name}?",
        ),
        (
            "{name} answers 504 Gateway Timeout after {n} s when {a} calls {b}",
            "{name} answers 504 Gateway Timeout",
            "what do we see when {name} is too slow to respond?",
        ),
        (
            "Parsing the settings of {name} failed: yaml.scanner.ScannerError at line {n} near {a}: {b}",
            "parsing settings of {name} ScannerError",
            "what is broken in the config of {name}?",
        ),
    ),
    "decision": (
        (
            "We decided to keep {name} on the {a} queue instead of {b}, because retries cost {n} ms.",
            "decided to keep {name} on the queue because of retries",
            "what did we choose for {name} and why did we not move it?",
        ),
        (
            "For {name} let's go with {a} rather than {b}: it needs {n} fewer lines.",
            "for {name} go with rather than, fewer lines",
            "which alternative was picked for {name}, being shorter?",
        ),
        (
            "We agreed that {name} will not support {a} any more; {b} covers all {n} users.",
            "agreed that {name} will not support any more",
            "what was dropped from {name} and for what reason?",
        ),
        (
            "The {a} cache in front of {name} was rejected in favour of {b} since staleness above {n} s hurts.",
            "cache in front of {name} rejected staleness",
            "why is there no caching for {name}?",
        ),
        (
            "{name} gets rewritten in {a}; patching the {b} version would take {n} days.",
            "{name} gets rewritten, patching would take",
            "did we plan to start {name} over or repair it?",
        ),
        (
            "Only admins may delete {name}, as {a} asked for after {b} lost {n} rows.",
            "only admins may delete {name}",
            "who is allowed to remove {name} and what made us restrict it?",
        ),
    ),
    "number": (
        (
            "The cache of {name} may grow to {n}{m} entries before it is flushed.",
            "cache of {name} entries before it is flushed",
            "how big can the buffer of {name} become until it gets emptied?",
        ),
        (
            "{name} listens on port 4{n}.",
            "{name} listens on port",
            "what address number do clients connect to for {name}?",
        ),
        (
            "A request to {name} is cancelled after {n} seconds.",
            "request to {name} cancelled after seconds",
            "what is the timeout of {name}?",
        ),
        (
            "{name} handled {n}{m} orders per minute in the load test.",
            "{name} handled orders per minute load test",
            "how much throughput did the benchmark of {name} show?",
        ),
        (
            "We pay {n} dollars a month for {name}.",
            "pay dollars a month for {name}",
            "how expensive is {name}?",
        ),
        (
            "{name} tries {n} times before it gives up.",
            "{name} tries times before it gives up",
            "how many retries does {name} have?",
        ),
    ),
}
"""What is hidden, asked for word by word, and in other words: those that the ranking was made with."""


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
