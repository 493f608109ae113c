"""Pair the tool calls of a window with their results, and number its steps and turns.

In real sessions call ids repeat, results arrive late or twice, and some calls never get a result. A
result is paired with the newest unanswered call of its id; if there is none, it stays unpaired.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import (
    Attached,
    Entry,
    Opaque,
    Said,
    Source,
    Thought,
    ToolCalled,
    ToolReturned,
    is_request,
    role_of,
)
from holdfast.core.ledger.window import Item


class Pair(Struct, frozen=True):
    """A tool call in a window, with the index of its result."""

    call: int
    """Index of the call among the items."""
    body: ToolCalled
    result: int | None = None
    step: int = 0


class Scene(Struct, frozen=True):
    """The items of a window with their steps, turns and paired calls."""

    items: Sequence[Item]
    steps: Sequence[int]
    """For each item: number of agent steps that began at or before it."""
    turns: Sequence[int]
    """For each item: number of user requests made at or before it."""
    pairs: Sequence[Pair]
    by_result: dict[int, Pair]
    """By index of a result: the call that it answers."""
    by_call: dict[int, Pair]

    @property
    def step_count(self) -> int:
        """Number of agent steps in the window."""
        return self.steps[-1] if self.steps else 0


def scene_of(entries: Iterable[Entry]) -> Scene:
    """Return the scene of raw entries, without compression."""
    return read_scene([Item(entry) for entry in entries])


def read_scene(items: Sequence[Item]) -> Scene:
    """Return the scene of a window's items."""
    reader = SceneReader()
    reader.extend(items)
    read = reader.scene()
    steps, turns, pairs = tuple(read.steps), tuple(read.turns), tuple(read.pairs)
    return Scene(tuple(items), steps, turns, pairs, read.by_result, read.by_call)


class SceneReader:
    """Reads the scene of items that grow in number: each is read once."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self._steps: list[int] = []
        self._turns: list[int] = []
        self._pairs: list[Pair] = []
        self._by_result: dict[int, Pair] = {}
        self._by_call: dict[int, Pair] = {}
        self._unanswered: dict[str, list[int]] = {}
        """The pairs without a result, by the id of their call."""

    def extend(self, items: Iterable[Item]) -> None:
        """Read more items."""
        step, turn = (self._steps[-1], self._turns[-1]) if self._items else (0, 0)
        role = role_of(self._items[-1].body) if self._items else ""
        for item in items:
            body, before = item.body, role
            role = role_of(body)
            step += role == "assistant" and before != "assistant"
            turn += is_request(body)
            self._steps.append(step)
            self._turns.append(turn)
            self._items.append(item)
            self._pair(len(self._items) - 1, body, step)

    def _pair(self, at: int, body: Source, step: int) -> None:
        match body:
            case ToolCalled():
                self._unanswered.setdefault(body.call, []).append(len(self._pairs))
                self._pairs.append(Pair(at, body, None, step))
                self._by_call[at] = self._pairs[-1]
            case ToolReturned() if self._unanswered.get(body.call):
                number = self._unanswered[body.call].pop()
                pair = self._pairs[number]
                self._pairs[number] = pair = Pair(pair.call, pair.body, at, pair.step)
                self._by_result[at] = self._by_call[pair.call] = pair
            case _:
                pass

    def scene(self) -> Scene:
        """Return the scene of the items so far; it is valid until more are read."""
        return Scene(
            self._items, self._steps, self._turns, self._pairs, self._by_result, self._by_call
        )


def final_answers(scene: Scene) -> dict[int, int]:
    """Return, for each finished turn, the index of the agent text that ended it.

    A turn is finished if the user spoke after it. Its final answer is the last agent text that no
    tool call or result follows.
    """
    answers: dict[int, int] = {}
    last = scene.turns[-1] if scene.turns else 0
    for at, item in enumerate(scene.items):
        turn = scene.turns[at]
        if turn in (0, last):
            continue
        match item.body:
            case Said(role="assistant"):
                answers[turn] = at
            case ToolCalled() | ToolReturned():
                answers.pop(turn, None)
            case _:
                pass
    return answers


def name_kind(body: Source, tools: Mapping[str, str]) -> str:
    """Return the display name of a body's kind: its speaker or its tool."""
    match body:
        case Said():
            return {"host": "injected text", "summary": "summary"}.get(body.by, body.role)
        case Thought():
            return "thinking"
        case ToolCalled():
            return f"{body.tool} calls"
        case ToolReturned():
            return f"{tools.get(body.call, 'unknown tool')} results"
        case Attached():
            return body.media.kind
        case Opaque():
            return body.kind or "opaque"
