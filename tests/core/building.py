"""Windows made by hand: what was said and done, as items, and what is planned on them."""

import json
from collections.abc import Sequence
from typing import TypeAlias

from holdfast.core.ledger.entry import (
    Derived,
    Entry,
    Noted,
    Said,
    Source,
    Thought,
    ToolCalled,
    ToolReturned,
    is_request,
)
from holdfast.core.ledger.head import Lane
from holdfast.core.ledger.window import GrowingList, Item, Window
from holdfast.core.measure.models import Model
from holdfast.core.measure.tokens import count_body
from holdfast.core.observe.scene import Scene, read_scene
from holdfast.core.plan.plan import Candidate
from holdfast.core.plan.policy import Policy, Tail
from holdfast.core.plan.state import State

Told: TypeAlias = Source | tuple[Source, ...]
"""A message of one part, or one of several."""

PLAIN = Model("plain", 100_000, reserve=0, exact=True)
"""A model whose tokens are the words, and whose thinking is bound to nothing."""
BOUND = Model("bound", 100_000, reserve=0, exact=True, bound=True)
NO_TAIL = Policy(tail=Tail(percent=0, steps=1))


def words(text: str) -> int:
    """A count that a reader can check."""
    return len(text.split())


def lines(count: int, text: str = "row") -> str:
    """So many lines of two words each."""
    return "\n".join(f"{text} {number}" for number in range(count))


def named(seq: int) -> str:
    """The name of the entry of a number."""
    return f"{seq:012x}".ljust(32, "0")


def ask(text: str) -> Said:
    return Said("user", text)


def answer(text: str) -> Said:
    return Said("assistant", text)


def call(name: str, tool: str, /, **arguments: object) -> ToolCalled:
    return ToolCalled(name, tool, json.dumps(arguments))


def bash(name: str, command: str) -> ToolCalled:
    return call(name, "Bash", command=command)


def back(name: str, output: str, *, failed: bool = False) -> ToolReturned:
    return ToolReturned(name, output, failed)


def thought(text: str, seal: str = "") -> Thought:
    return Thought(text, seal)


def entries(*messages: Told) -> list[Entry]:
    """Messages as entries, one after the other."""
    made: list[Entry] = []
    for message in messages:
        first = len(made) + 1
        parts = message if isinstance(message, tuple) else (message,)
        for part, body in enumerate(parts):
            seq, parent = first + part, made[-1].id if made else None
            made.append(Entry(named(seq), parent, body, seq, message=first, part=part))
    return made


def items(*messages: Told) -> list[Item]:
    """Messages as they stand in a window."""
    return [Item(entry) for entry in entries(*messages)]


def scene(*messages: Told) -> Scene:
    return read_scene(items(*messages))


def standing(item: Item, body: Source) -> Item:
    """An item in whose place something else stands."""
    return Item(item.entry, (item.entry.id,), body)


def seen_on_disk(seq: int) -> Noted:
    """The note that what a call wrote was seen on disk."""
    return Noted("persisted", {"entry": named(seq), "path": "x", "sha256": "5eed"})


def state(
    shown: Sequence[Item],
    *,
    policy: Policy = NO_TAIL,
    model: Model = PLAIN,
    limit: int = 1_000,
    sent: int | None = None,
    notes: Sequence[Derived] = (),
    spared: frozenset[str] = frozenset(),
) -> State:
    """What a plan for a window is made from, counted in words."""
    counts = {item.entry.seq: count_body(item.body, words) for item in shown if not item.covers}
    last = shown[-1].entry.seq if shown else 0
    noted = [
        Entry(named(last + number), shown[-1].entry.id, body, last + number)
        for number, body in enumerate(notes, 1)
    ]
    ledger = [*(item.entry for item in shown), *noted]
    looked = read_scene(shown)
    lane = Lane(
        end=shown[-1].entry.id if shown else None,
        tokens=sum(count_body(item.body, words) for item in shown),
        turns=sum(is_request(item.body) for item in shown),
        steps=looked.step_count,
    )
    return State(
        window=Window(end=lane.end, items=GrowingList(shown), ledger=GrowingList(ledger)),
        counts=counts,
        lane=lane,
        model=model,
        limit=limit,
        policy=policy,
        seq=last + len(noted),
        sent=last if sent is None else sent,
        brought_back=spared,
    )


def steps_of(made: Candidate | None) -> list[tuple[str, str]]:
    """What was done to which entry."""
    body = made.body if made is not None else None
    return [(step.kind, step.hides[0]) for step in body.steps] if body is not None else []
