"""Turns, steps and calls in no format, and how each wire says them."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

Message: TypeAlias = dict[str, Any]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAKoAAABVCAYAAAA="


class Call(NamedTuple):
    """A call and what becomes of it: answered, lost, late (after other words) or twice."""

    id: str
    tool: str
    arguments: dict[str, Any]
    output: str
    fate: str
    failed: bool
    picture: bool


class Step(NamedTuple):
    """One answer of the model that asks for tools."""

    thought: str | None
    said: str | None
    calls: tuple[Call, ...]


class Turn(NamedTuple):
    """One request, what the agent does about it, and its last words."""

    asked: str
    steps: tuple[Step, ...]
    final: str | None
    thought: str | None


class Manner(NamedTuple):
    """How a client writes what could be written in several ways."""

    blocks: bool
    """Texts as lists of one block."""
    compact: bool
    """Arguments without white space."""
    system: bool
    """System messages where the wire has them."""


def _at_once(step: Step) -> list[Call]:
    """The results that come right after a step; some come twice."""
    out: list[Call] = []
    for call in step.calls:
        out += {"answered": [call], "twice": [call, call]}.get(call.fate, [])
    return out


def _late(step: Step) -> list[Call]:
    return [call for call in step.calls if call.fate == "late"]


def _signature(turn: int, step: int) -> str:
    """No two thoughts of a history are signed alike."""
    return f"Sig{turn:04}{step:04}=="


# Anthropic.


def anthropic(turns: Sequence[Turn], manner: Manner) -> list[Message]:
    """Results in one user message, first in it; late ones after the words that came between."""
    out: list[Message] = []
    for number, turn in enumerate(turns):
        out.append({"role": "user", "content": _content(turn.asked, manner)})
        if manner.system and number == 0:
            out.append({"role": "system", "content": "The date is 2026-11-15."})
        for at, step in enumerate(turn.steps):
            out.append({"role": "assistant", "content": [*_step_blocks(number, at, step)]})
            results = [_result_block(call, manner) for call in _at_once(step)]
            late = [_result_block(call, manner) for call in _late(step)]
            words = {"type": "text", "text": "[Request interrupted by user]"}
            if late and number % 2:
                results += [words, *late]
            if results:
                out.append({"role": "user", "content": results})
            if late and not number % 2:
                out += [{"role": "user", "content": [words]}, {"role": "user", "content": late}]
            # A system message may not stand between a call and a result that is still to come.
            if manner.system and at == 1 and all(c.fate == "answered" for c in step.calls):
                said = [{"type": "text", "text": "The todo list is empty."}]
                out.append({"role": "system", "content": said})
        if turn.final is not None:
            signed = _signed(turn.thought, number, len(turn.steps))
            last = [*signed, {"type": "text", "text": turn.final}]
            plain = not signed and not manner.blocks
            out.append({"role": "assistant", "content": turn.final if plain else last})
    return out


def _content(text: str, manner: Manner) -> str | list[Message]:
    return [{"type": "text", "text": text}] if manner.blocks else text


def _signed(thought: str | None, turn: int, step: int) -> list[Message]:
    """A thought in one of its three forms: readable, without its text, not to be read."""
    signature = _signature(turn, step)
    if thought is None:
        return []
    if step % 3 == 2:
        return [{"type": "redacted_thinking", "data": signature}]
    text = "" if step % 3 == 1 else thought
    return [{"type": "thinking", "thinking": text, "signature": signature}]


def _step_blocks(turn: int, at: int, step: Step) -> Iterator[Message]:
    yield from _signed(step.thought, turn, at)
    if step.said is not None:
        yield {"type": "text", "text": step.said}
    for call in step.calls:
        yield {"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments}


def _result_block(call: Call, manner: Manner) -> Message:
    words: list[Message] = [{"type": "text", "text": call.output}] if call.output else []
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    image = {"type": "image", "source": source}
    content = [*words, image] if call.picture else words if manner.blocks and words else call.output
    block: Message = {"type": "tool_result", "tool_use_id": call.id, "content": content}
    return {**block, "is_error": True} if call.failed else block


# OpenAI chat.


def openai_chat(turns: Sequence[Turn], manner: Manner) -> list[Message]:
    """A message per result; pictures follow as the user's, since tools may send text only."""
    out: list[Message] = []
    if manner.system:
        out.append({"role": "system", "content": "You are a careful engineer."})
    for turn in turns:
        out.append({"role": "user", "content": _content(turn.asked, manner)})
        for step in turn.steps:
            message: Message = {"role": "assistant", "content": step.said}
            if step.thought is not None:
                message["reasoning_content"] = step.thought
            out.append({**message, "tool_calls": [_chat_call(c, manner) for c in step.calls]})
            out += [_chat_result(call, manner) for call in _at_once(step)]
            shown = [call for call in _at_once(step) if call.picture]
            if shown and all(call.fate == "answered" for call in step.calls):
                url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
                out.append({"role": "user", "content": [url for _ in shown]})
            if _late(step):
                out.append({"role": "user", "content": "Are you still there?"})
                out += [_chat_result(call, manner) for call in _late(step)]
        if turn.final is not None:
            out.append({"role": "assistant", "content": turn.final})
    return out


def _written(call: Call, manner: Manner) -> str:
    return json.dumps(call.arguments, separators=(",", ":") if manner.compact else None)


def _chat_call(call: Call, manner: Manner) -> Message:
    made = {"name": call.tool, "arguments": _written(call, manner)}
    return {"id": call.id, "type": "function", "function": made}


def _chat_result(call: Call, manner: Manner) -> Message:
    return {"role": "tool", "tool_call_id": call.id, "content": _content(call.output, manner)}


# OpenAI responses.


def openai_responses(turns: Sequence[Turn], manner: Manner) -> list[Message]:
    """An item per call and per output."""
    out: list[Message] = []
    if manner.system:
        out.append(_item("developer", "input_text", "You are a careful engineer."))
    for number, turn in enumerate(turns):
        out.append(_item("user", "input_text", turn.asked))
        for at, step in enumerate(turn.steps):
            out += _reasoning(step.thought, _signature(number, at))
            if step.said is not None:
                out.append(_item("assistant", "output_text", step.said))
            out += [_call_item(call, manner) for call in step.calls]
            out += [_output_item(call) for call in _at_once(step)]
            if _late(step):
                out.append(_item("user", "input_text", "Are you still there?"))
                out += [_output_item(call) for call in _late(step)]
        if turn.final is not None:
            out += _reasoning(turn.thought, _signature(number, len(turn.steps)))
            out.append(_item("assistant", "output_text", turn.final))
    return out


def _item(role: str, kind: str, text: str) -> Message:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _reasoning(thought: str | None, signature: str) -> list[Message]:
    if thought is None:
        return []
    summary = [{"type": "summary_text", "text": thought}]
    return [{"type": "reasoning", "summary": summary, "encrypted_content": signature}]


def _call_item(call: Call, manner: Manner) -> Message:
    named = {"call_id": call.id, "name": call.tool}
    if call.tool == "apply_patch":
        return {"type": "custom_tool_call", **named, "input": call.arguments["input"]}
    return {"type": "function_call", **named, "arguments": _written(call, manner)}


def _output_item(call: Call) -> Message:
    kind = "custom_tool_call" if call.tool == "apply_patch" else "function_call"
    output: str | list[Message] = call.output
    if call.picture:
        image = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}
        output = [{"type": "input_text", "text": call.output}, image]
    return {"type": f"{kind}_output", "call_id": call.id, "output": output}


SPEAK: dict[str, Callable[[Sequence[Turn], Manner], list[Message]]] = {
    "anthropic": anthropic,
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
}
