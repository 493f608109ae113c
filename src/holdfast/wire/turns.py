"""Turns: what an object of a framework says, on its way into a provider's own messages."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from msgspec import Struct

from holdfast.errors import Unreadable
from holdfast.text.jsontext import Json, NotJson, as_object, as_text, parse
from holdfast.wire import anthropic, openai_chat, openai_responses
from holdfast.wire.part_types import ANTHROPIC, CHAT

CHAT_BLOCKS = CHAT | {"text", "refusal"}
"""Content blocks that the chat format takes as they are."""


class Call(Struct, frozen=True):
    """A tool call: its arguments are JSON text, as providers have them."""

    id: str
    tool: str
    arguments: str


class Turn(Struct, frozen=True):
    """What one role says: in words and blocks, in calls, or as the result of one."""

    role: str
    content: str | tuple[dict[str, Json], ...] = ""
    calls: tuple[Call, ...] = ()
    answers: str = ""
    """The id of the call that this is the result of."""
    failed: bool = False
    extra: dict[str, Json] = {}
    """Members that go with it unchanged, such as a name."""


def text_block(text: str) -> dict[str, Json]:
    """Words as a block."""
    return {"type": "text", "text": text}


def wire_for(turns: Iterable[Turn]) -> str:
    """The format that can hold all that is said: Anthropic's where a block is of its kind."""
    kinds = {kind for turn in turns for kind in _kinds(turn)}
    return anthropic.NAME if kinds & ANTHROPIC else openai_chat.NAME


def written(turns: Sequence[Turn], wire: str) -> list[dict[str, Json]]:
    """The turns of one object as messages of a wire.

    Raises:
        Unreadable: the wire has no place for something of it.
    """
    if wire == anthropic.NAME:
        return _merged([_as_anthropic(turn) for turn in turns])
    if wire == openai_responses.NAME:
        return [_as_item(turn) for turn in turns]
    return [_as_chat(turn) for turn in turns]


def _kinds(turn: Turn) -> set[str]:
    return {as_text(block.get("type")) for block in _blocks(turn)}


def _as_chat(turn: Turn) -> dict[str, Json]:
    if turn.role == "tool":
        return {"role": "tool", "tool_call_id": turn.answers, "content": _chat_content(turn)}
    content = _chat_content(turn) or (None if turn.calls else "")
    message: dict[str, Json] = {"role": turn.role, **turn.extra, "content": content}
    thoughts = [_reasoning(block) for block in _blocks(turn) if block.get("type") == "reasoning"]
    if thoughts:
        message["reasoning_content"] = "\n\n".join(thoughts)
    if turn.calls:
        message["tool_calls"] = [_chat_call(call) for call in turn.calls]
    return message


def _chat_content(turn: Turn) -> Json:
    if isinstance(turn.content, str):
        return turn.content
    made = {call.id for call in turn.calls}
    kept: list[Json] = []
    for block in turn.content:
        kind = as_text(block.get("type"))
        if kind in CHAT_BLOCKS:
            kept.append(block)
        elif kind != "reasoning" and not made & _ids(block):
            raise _no_place(kind, "OpenAI chat")
    return kept


def _ids(block: Mapping[str, Json]) -> set[str]:
    """The ids by which a block that is a call is known among the calls."""
    return {as_text(block.get("id")), as_text(block.get("call_id"))} - {""}


def _reasoning(block: Mapping[str, Json]) -> str:
    if not isinstance(block.get("reasoning"), str):
        raise _no_place("reasoning", "OpenAI chat")
    return as_text(block.get("reasoning"))


def _chat_call(call: Call) -> Json:
    asked: Json = {"name": call.tool, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": asked}


def _as_anthropic(turn: Turn) -> dict[str, Json]:
    role = {"tool": "user"}.get(turn.role, turn.role)
    if turn.role == "function" or "function_call" in turn.extra:
        raise _no_place("function_call", "Anthropic")
    content: Json = turn.content if isinstance(turn.content, str) else _anthropic_blocks(turn)
    if turn.answers:
        result: dict[str, Json] = {"type": "tool_result", "tool_use_id": turn.answers}
        failed: dict[str, Json] = {"is_error": True} if turn.failed else {}
        return {"role": role, "content": [{**result, "content": content, **failed}]}
    if not turn.calls:
        return {"role": role, "content": content}
    said = [text_block(content)] if isinstance(content, str) and content else content or []
    known = {as_text(block.get("id")) for block in _blocks(turn)}
    uses = [_use(call) for call in turn.calls if call.id not in known]
    return {"role": role, "content": [*cast(list[Json], said), *uses]}


def _anthropic_blocks(turn: Turn) -> list[Json]:
    return [_anthropic_block(block) for block in _blocks(turn)]


def _anthropic_block(block: dict[str, Json]) -> Json:
    kind = as_text(block.get("type"))
    if kind == "image_url":
        url = as_text(as_object(block["image_url"]).get("url"))
        head, found, data = url.partition(";base64,")
        if not found:
            return {"type": "image", "source": {"type": "url", "url": url}}
        media = head.removeprefix("data:")
        return {"type": "image", "source": {"type": "base64", "media_type": media, "data": data}}
    if kind in CHAT or kind == "reasoning":
        raise _no_place(kind, "Anthropic")
    return block


def _use(call: Call) -> Json:
    try:
        asked, _ = parse(call.arguments.encode() or b"{}")
    except NotJson:
        asked = None
    if not isinstance(asked, dict):
        raise Unreadable("message", f"the arguments of the call {call.id!r} are no JSON object")
    return {"type": "tool_use", "id": call.id, "name": call.tool, "input": asked}


def _merged(messages: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Results and words that came together in one message, as Anthropic wants them."""
    made: list[dict[str, Json]] = []
    for message in messages:
        if made and made[-1]["role"] == message["role"]:
            blocks = [*_as_blocks(made[-1]["content"]), *_as_blocks(message["content"])]
            made[-1] = {"role": message["role"], "content": blocks}
        else:
            made.append(message)
    return made


def _as_blocks(content: Json) -> list[Json]:
    return content if isinstance(content, list) else [text_block(as_text(content))]


def _as_item(turn: Turn) -> dict[str, Json]:
    """Words alone are the same in the Responses format; all else are items of their own there."""
    if not isinstance(turn.content, str) or turn.calls or turn.answers or turn.extra:
        raise Unreadable(
            "message", "a session of Responses items takes tool calls and blocks as such items only"
        )
    return {"role": turn.role, "content": turn.content}


def _blocks(turn: Turn) -> tuple[dict[str, Json], ...]:
    return turn.content if isinstance(turn.content, tuple) else ()


def _no_place(kind: str, wire: str) -> Unreadable:
    return Unreadable("message", f"{wire} messages have no place for a {kind!r} block")
