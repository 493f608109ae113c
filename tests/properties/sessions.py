"""Draws sessions: histories in every message wire, documents of lines, and things done to them."""

import json
from typing import Any, NamedTuple, TypeAlias

from hypothesis import strategies as st

from holdfast.core.ledger.entry import (
    Compressed,
    Said,
    Source,
    Step,
    Thought,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.ledger.window import Item
from holdfast.core.measure.tokens import count_body
from holdfast.models.tokenizers import counter
from holdfast.session.session import Session

Message: TypeAlias = dict[str, Any]
WIRES = ("anthropic", "openai_chat", "openai_responses")
PNG = "iVBORw0KGgoAAAANSUhEUgAAAKoAAABVCAYAAAA="
WEBP = "UklGRhYAAABXRUJQVlA4WAoAAAAQAAAAqQAAVAAA"

ODD = (
    "",
    " ",
    "\n\t",
    "a\0b",
    "\ud800",
    "e\u0301 \u00e9",
    "\u2028\u2029\ufeff",
    "\U0001f9d1\u200d\U0001f680",
    '{"role": "user"}',
    "</system-reminder>",
    "[gone]",
)
words = st.one_of(
    st.sampled_from(("go on", "read it", "why?", "done", "so be it. " * 30)),
    st.text(max_size=12),
    st.sampled_from(ODD),
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False), words
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=5,
)
arguments = st.dictionaries(st.text(min_size=1, max_size=5), values, max_size=3)


class Called(NamedTuple):
    """A call, and what comes back: nothing, once, or twice; at once or after the next words."""

    name: str
    tool: str
    arguments: dict[str, Any]
    results: tuple[str, ...]
    late: bool
    failed: bool


class Turn(NamedTuple):
    """One request and what the agent does about it."""

    asked: str
    picture: bool
    thought: str | None
    said: str | None
    calls: tuple[Called, ...]
    order: int
    """How the results of parallel calls are turned around."""


@st.composite
def turns(draw: st.DrawFn) -> list[Turn]:
    """A session, in no format yet."""
    drawn = draw(st.integers(1, 4))
    return [draw(one_turn(number)) for number in range(drawn)]


@st.composite
def one_turn(draw: st.DrawFn, number: int) -> Turn:
    calls = tuple(
        Called(
            f"call_{number}_{at}",
            draw(st.sampled_from(("read", "bash", "edit"))),
            draw(arguments),
            tuple(draw(st.lists(words, min_size=0 if rare else 1, max_size=2 if rare else 1))),
            late=draw(st.integers(0, 7)) == 0,
            failed=draw(st.booleans()),
        )
        for at in range(draw(st.integers(0, 3)))
        for rare in (draw(st.integers(0, 4)) == 0,)
    )
    return Turn(
        asked=draw(words),
        picture=draw(st.integers(0, 5)) == 0,
        thought=draw(st.none() | words),
        said=draw(st.none() | words),
        calls=calls,
        order=draw(st.integers(0, 5)),
    )


def histories(wire: str) -> st.SearchStrategy[list[Message]]:
    """Histories in a message wire that it surely is."""
    return turns().map(lambda drawn: SURE[wire] + spoken(wire, drawn))


any_history = st.sampled_from(WIRES).flatmap(
    lambda wire: histories(wire).map(lambda messages: (wire, messages))
)

SURE: dict[str, list[Message]] = {
    "anthropic": [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t0", "content": "x"}]}
    ],
    "openai_chat": [{"role": "tool", "tool_call_id": "t0", "content": "x"}],
    "openai_responses": [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "x"}]}
    ],
}
"""A first message that leaves no doubt about the format."""


def spoken(wire: str, drawn: list[Turn]) -> list[Message]:
    """Turns as messages of a wire."""
    write = {"anthropic": anthropic, "openai_chat": openai_chat, "openai_responses": responses}[
        wire
    ]
    out: list[Message] = []
    late: list[Message] = []
    for turn in drawn:
        out += [write.asked(turn), *late]
        late = []
        out += write.answered(turn)
        soon = [call for call in turn.calls if not call.late]
        shift = turn.order % max(len(soon), 1)
        out += write.returned(soon[shift:] + soon[:shift])
        late = write.returned([call for call in turn.calls if call.late])
    return out + late


class anthropic:  # noqa: N801 - a namespace of writers, named as the wire
    @staticmethod
    def asked(turn: Turn) -> Message:
        if not turn.picture:
            return {"role": "user", "content": turn.asked}
        source = {"type": "base64", "media_type": "image/png", "data": PNG}
        blocks = [{"type": "image", "source": source}, {"type": "text", "text": turn.asked}]
        return {"role": "user", "content": blocks}

    @staticmethod
    def answered(turn: Turn) -> list[Message]:
        blocks: list[Message] = []
        if turn.thought is not None:
            blocks.append({"type": "thinking", "thinking": turn.thought, "signature": "sig"})
        if turn.said is not None:
            blocks.append({"type": "text", "text": turn.said})
        blocks += [
            {"type": "tool_use", "id": call.name, "name": call.tool, "input": call.arguments}
            for call in turn.calls
        ]
        return [{"role": "assistant", "content": blocks}] if blocks else []

    @staticmethod
    def returned(calls: list[Called]) -> list[Message]:
        blocks: list[Message] = []
        for call in calls:
            for text in call.results:
                block = {"type": "tool_result", "tool_use_id": call.name, "content": text}
                blocks.append({**block, "is_error": True} if call.failed else block)
        return [{"role": "user", "content": blocks}] if blocks else []


class openai_chat:  # noqa: N801
    @staticmethod
    def asked(turn: Turn) -> Message:
        if not turn.picture:
            return {"role": "user", "content": turn.asked}
        picture = {"type": "image_url", "image_url": {"url": f"data:image/webp;base64,{WEBP}"}}
        return {"role": "user", "content": [{"type": "text", "text": turn.asked}, picture]}

    @staticmethod
    def answered(turn: Turn) -> list[Message]:
        message: Message = {"role": "assistant", "content": turn.said}
        if turn.thought is not None:
            message["reasoning_content"] = turn.thought
        if turn.calls:
            message["tool_calls"] = [
                {
                    "id": call.name,
                    "type": "function",
                    "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
                }
                for call in turn.calls
            ]
        return [message]

    @staticmethod
    def returned(calls: list[Called]) -> list[Message]:
        return [
            {"role": "tool", "tool_call_id": call.name, "content": text}
            for call in calls
            for text in call.results
        ]


class responses:  # noqa: N801
    @staticmethod
    def asked(turn: Turn) -> Message:
        parts: list[Message] = [{"type": "input_text", "text": turn.asked}]
        if turn.picture:
            url = f"data:image/png;base64,{PNG}"
            parts.append({"type": "input_image", "image_url": url})
        return {"type": "message", "role": "user", "content": parts}

    @staticmethod
    def answered(turn: Turn) -> list[Message]:
        items: list[Message] = []
        if turn.thought is not None:
            summary = [{"type": "summary_text", "text": turn.thought}]
            items.append({"type": "reasoning", "summary": summary, "encrypted_content": "e"})
        if turn.said is not None:
            content = [{"type": "output_text", "text": turn.said}]
            items.append({"type": "message", "role": "assistant", "content": content})
        return items + [
            {
                "type": "function_call",
                "call_id": call.name,
                "name": call.tool,
                "arguments": json.dumps(call.arguments),
            }
            for call in turn.calls
        ]

    @staticmethod
    def returned(calls: list[Called]) -> list[Message]:
        return [
            {"type": "function_call_output", "call_id": call.name, "output": text}
            for call in calls
            for text in call.results
        ]


@st.composite
def spelled(draw: st.DrawFn, messages: list[Message]) -> list[bytes]:
    """Messages as bytes, each spelled in a way of its own."""
    out: list[bytes] = []
    for message in messages:
        separators = draw(st.sampled_from(((",", ":"), (", ", ": "), (" ,", " :\t"))))
        ascii_only = draw(st.booleans()) or "\\ud8" in json.dumps(message)
        text = json.dumps(message, separators=separators, ensure_ascii=ascii_only)
        out.append(text.encode())
    return out


# Things done to a session.


def hiding(session: Session, shown: list[Item], stand_in: bool, together: bool) -> Compressed:
    """A compression that hides items in sight; its counts are the true ones."""
    head = session.ledger.head()
    count = counter(head.vocabulary)
    groups = [shown] if together else [[item] for item in shown]
    steps: list[Step] = []
    for group in groups:
        body = instead_of(group) if stand_in else None
        steps.append(
            Step(
                hides=tuple(name for item in group for name in item.shows),
                reason="drawn",
                stand_in=body,
                before=sum(count_body(item.body, count) for item in group),
                after=count_body(body, count) if body else 0,
            )
        )
    return Compressed(tuple(steps), session.ledger.window().generation, head.seq)


def instead_of(group: list[Item]) -> Source | None:
    """What stands in for items: its like for a result, a call or words, a message for several."""
    if len(group) > 1:
        return Said("user", f"[{len(group)} gone]")
    match group[0].body:
        case ToolReturned() as body:
            return ToolReturned(body.call, "[gone]", body.failed)
        case ToolCalled() as body:
            return ToolCalled(body.call, body.tool, '{"gone":true}')
        case Thought():
            return None
        case body:
            return Said(body.role, "[gone]")


def in_sight(session: Session) -> int:
    """Raw tokens of what is in sight, counted anew."""
    items = session.ledger.window().items
    count = counter(session.ledger.head().vocabulary) if items else len
    return sum(count_body(item.body, count) for item in items)
