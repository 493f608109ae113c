"""Define `Turn`, the neutral form of a framework message, and write turns as provider messages."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from msgspec import Struct

from holdfast.errors import Unreadable
from holdfast.text.jsontext import Json, NotJson, as_object, as_text, parse
from holdfast.wire import anthropic, openai_chat, openai_responses
from holdfast.wire.part_types import ANTHROPIC_ONLY, CHAT_ONLY

CHAT_BLOCK_TYPES = CHAT_ONLY | {"text", "refusal"}
"""Types of content blocks that the chat format accepts unchanged."""


class Call(Struct, frozen=True):
    """A tool call; its arguments are JSON text."""

    id: str
    tool: str
    arguments: str


class Turn(Struct, frozen=True):
    """The content of one role: text or blocks, tool calls, or a tool result."""

    role: str
    content: str | tuple[dict[str, Json], ...] = ""
    calls: tuple[Call, ...] = ()
    answers: str = ""
    """The id of the call whose result this is."""
    failed: bool = False
    extra: dict[str, Json] = {}
    """Other members of the message, copied unchanged, such as a name."""


def text_block(text: str) -> dict[str, Json]:
    """Return a text block."""
    return {"type": "text", "text": text}


def wire_for(turns: Iterable[Turn]) -> str:
    """Return the wire for turns: Anthropic if a block is of an Anthropic type, else OpenAI chat."""
    kinds = {kind for turn in turns for kind in _block_types(turn)}
    return anthropic.NAME if kinds & ANTHROPIC_ONLY else openai_chat.NAME


def write_turns(turns: Sequence[Turn], wire: str) -> list[dict[str, Json]]:
    """Write the turns of one object as messages of a wire.

    Raises:
        Unreadable: the wire cannot represent some part of a turn.
    """
    if wire == anthropic.NAME:
        return _merge_same_role([_as_anthropic(turn) for turn in turns])
    if wire == openai_responses.NAME:
        return [_as_responses_item(turn) for turn in turns]
    return [_as_chat(turn) for turn in turns]


def _block_types(turn: Turn) -> set[str]:
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
    call_ids = {call.id for call in turn.calls}
    blocks: list[Json] = []
    for block in turn.content:
        kind = as_text(block.get("type"))
        if kind in CHAT_BLOCK_TYPES:
            blocks.append(block)
        elif kind != "reasoning" and not call_ids & _call_ids(block):
            raise _unsupported_block(kind, "OpenAI chat")
    return blocks


def _call_ids(block: Mapping[str, Json]) -> set[str]:
    """Return the ids of a block that is a tool call."""
    return {as_text(block.get("id")), as_text(block.get("call_id"))} - {""}


def _reasoning(block: Mapping[str, Json]) -> str:
    if not isinstance(block.get("reasoning"), str):
        raise _unsupported_block("reasoning", "OpenAI chat")
    return as_text(block.get("reasoning"))


def _chat_call(call: Call) -> Json:
    function: Json = {"name": call.tool, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _as_anthropic(turn: Turn) -> dict[str, Json]:
    role = {"tool": "user"}.get(turn.role, turn.role)
    if turn.role == "function" or "function_call" in turn.extra:
        raise _unsupported_block("function_call", "Anthropic")
    content: Json = turn.content if isinstance(turn.content, str) else _anthropic_blocks(turn)
    if turn.answers:
        result: dict[str, Json] = {"type": "tool_result", "tool_use_id": turn.answers}
        failed: dict[str, Json] = {"is_error": True} if turn.failed else {}
        return {"role": role, "content": [{**result, "content": content, **failed}]}
    if not turn.calls:
        return {"role": role, "content": content}
    blocks = [text_block(content)] if isinstance(content, str) and content else content or []
    known_ids = {as_text(block.get("id")) for block in _blocks(turn)}
    uses = [_tool_use(call) for call in turn.calls if call.id not in known_ids]
    return {"role": role, "content": [*cast(list[Json], blocks), *uses]}


def _anthropic_blocks(turn: Turn) -> list[Json]:
    return [_anthropic_block(block) for block in _blocks(turn)]


def _anthropic_block(block: dict[str, Json]) -> Json:
    kind = as_text(block.get("type"))
    if kind == "image_url":
        url = as_text(as_object(block["image_url"]).get("url"))
        head, is_base64, data = url.partition(";base64,")
        if not is_base64:
            return {"type": "image", "source": {"type": "url", "url": url}}
        media = head.removeprefix("data:")
        return {"type": "image", "source": {"type": "base64", "media_type": media, "data": data}}
    if kind in CHAT_ONLY or kind == "reasoning":
        raise _unsupported_block(kind, "Anthropic")
    return block


def _tool_use(call: Call) -> Json:
    try:
        arguments, _ = parse(call.arguments.encode() or b"{}")
    except NotJson:
        arguments = None
    if not isinstance(arguments, dict):
        raise Unreadable("message", f"the arguments of the call {call.id!r} are not a JSON object")
    return {"type": "tool_use", "id": call.id, "name": call.tool, "input": arguments}


def _merge_same_role(messages: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Merge consecutive messages of the same role, as the Anthropic format requires."""
    merged: list[dict[str, Json]] = []
    for message in messages:
        if merged and merged[-1]["role"] == message["role"]:
            blocks = [*_as_blocks(merged[-1]["content"]), *_as_blocks(message["content"])]
            merged[-1] = {"role": message["role"], "content": blocks}
        else:
            merged.append(message)
    return merged


def _as_blocks(content: Json) -> list[Json]:
    return content if isinstance(content, list) else [text_block(as_text(content))]


def _as_responses_item(turn: Turn) -> dict[str, Json]:
    """Write a turn of plain text; the Responses format has other items for everything else."""
    if not isinstance(turn.content, str) or turn.calls or turn.answers or turn.extra:
        raise Unreadable(
            "message", "a session in the Responses format takes tool calls and blocks only as items"
        )
    return {"role": turn.role, "content": turn.content}


def _blocks(turn: Turn) -> tuple[dict[str, Json], ...]:
    return turn.content if isinstance(turn.content, tuple) else ()


def _unsupported_block(kind: str, wire: str) -> Unreadable:
    return Unreadable("message", f"{wire} messages cannot contain a {kind!r} block")
