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

    items: tuple[Item, ...]
    steps: tuple[int, ...]
    """For each item: number of agent steps that began at or before it."""
    turns: tuple[int, ...]
    """For each item: number of user requests made at or before it."""
    pairs: tuple[Pair, ...]
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
    steps, turns = _number_steps_and_turns(items)
    pairs = _pair_calls(items, steps)
    return Scene(
        items=tuple(items),
        steps=steps,
        turns=turns,
        pairs=pairs,
        by_result={pair.result: pair for pair in pairs if pair.result is not None},
        by_call={pair.call: pair for pair in pairs},
    )


def _number_steps_and_turns(items: Sequence[Item]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    steps: list[int] = []
    turns: list[int] = []
    step = turn = 0
    last_role = ""
    for item in items:
        role = role_of(item.body)
        if role == "assistant" and last_role != "assistant":
            step += 1
        turn += is_request(item.body)
        last_role = role
        steps.append(step)
        turns.append(turn)
    return tuple(steps), tuple(turns)


def _pair_calls(items: Sequence[Item], steps: Sequence[int]) -> tuple[Pair, ...]:
    pairs: list[Pair] = []
    unanswered: dict[str, list[int]] = {}
    for at, item in enumerate(items):
        match item.body:
            case ToolCalled() as body:
                unanswered.setdefault(body.call, []).append(len(pairs))
                pairs.append(Pair(at, body, None, steps[at]))
            case ToolReturned() as body if unanswered.get(body.call):
                number = unanswered[body.call].pop()
                pair = pairs[number]
                pairs[number] = Pair(pair.call, pair.body, at, pair.step)
            case _:
                pass
    return tuple(pairs)


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
