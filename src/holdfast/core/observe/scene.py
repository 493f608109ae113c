"""Calls with their results, and the steps of the agent, as they stand in a window.

Ids repeat in the wild, results come late or twice, and calls stay open. A result belongs to the
newest call of its id that nobody has answered; whatever is left over belongs to none.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import (
    Attached,
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
    """A call in sight, and where its result stands."""

    call: int
    """The place of the call among the items."""
    body: ToolCalled
    result: int | None = None
    step: int = 0


class Scene(Struct, frozen=True):
    """A window read as what the agent did: its steps, its turns, its calls."""

    items: tuple[Item, ...]
    steps: tuple[int, ...]
    """For each item: how many steps of the agent had begun by then."""
    turns: tuple[int, ...]
    """For each item: how many requests of the user had been made by then."""
    pairs: tuple[Pair, ...]
    of_result: dict[int, Pair]
    """By the place of a result: the call it answers."""
    of_call: dict[int, Pair]

    @property
    def step_count(self) -> int:
        """Steps of the agent in all."""
        return self.steps[-1] if self.steps else 0


def read_scene(items: Sequence[Item]) -> Scene:
    """Read a window as what the agent did."""
    steps, turns = _numbered(items)
    pairs = _paired(items, steps)
    return Scene(
        items=tuple(items),
        steps=steps,
        turns=turns,
        pairs=pairs,
        of_result={pair.result: pair for pair in pairs if pair.result is not None},
        of_call={pair.call: pair for pair in pairs},
    )


def _numbered(items: Sequence[Item]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    steps: list[int] = []
    turns: list[int] = []
    step = turn = 0
    speaking = ""
    for item in items:
        role = role_of(item.body)
        if role == "assistant" and speaking != "assistant":
            step += 1
        turn += is_request(item.body)
        speaking = role
        steps.append(step)
        turns.append(turn)
    return tuple(steps), tuple(turns)


def _paired(items: Sequence[Item], steps: Sequence[int]) -> tuple[Pair, ...]:
    pairs: list[Pair] = []
    waiting: dict[str, list[int]] = {}
    for at, item in enumerate(items):
        match item.body:
            case ToolCalled() as body:
                waiting.setdefault(body.call, []).append(len(pairs))
                pairs.append(Pair(at, body, None, steps[at]))
            case ToolReturned() as body if waiting.get(body.call):
                number = waiting[body.call].pop()
                known = pairs[number]
                pairs[number] = Pair(known.call, known.body, at, known.step)
            case _:
                pass
    return tuple(pairs)


def final_answers(scene: Scene) -> dict[int, int]:
    """For each finished turn: where the text stands that the agent ended it with.

    A turn is finished when the user spoke again after it; what it ended with is a text that no
    call followed.
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


# What a person would call a body: whose words, or which tool's.


def kind_of(body: Source, tools: Mapping[str, str]) -> str:
    """What a person would call this: whose words, or which tool's."""
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
