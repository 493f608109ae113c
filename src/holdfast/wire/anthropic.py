"""Read and write messages in the Anthropic Messages format.

A block of an unknown type is read as an `Opaque` body, so new block types pass through unchanged.
"""

from collections.abc import Mapping

from holdfast.core.ledger.entry import (
    Attached,
    Media,
    Opaque,
    Said,
    Source,
    Thought,
    ToolCalled,
    ToolReturned,
    text_of,
)
from holdfast.text.jsontext import (
    Json,
    as_object,
    as_text,
    elements,
    encode,
    join_array,
    join_object,
    members,
    parse,
    stable_text,
)
from holdfast.wire.media import read_media
from holdfast.wire.part_types import ANTHROPIC_ONLY, CHAT_ONLY, RESPONSES_ONLY, part_types_of

NAME = "anthropic"


def fits(message: Mapping[str, Json]) -> bool | None:
    """Return True if only this format has such a message, False if it has not, None if it may."""
    if "role" not in message or message["role"] in ("tool", "function", "developer"):
        return False
    if "tool_calls" in message or "function_call" in message or message.get("type") == "message":
        return False
    kinds = part_types_of(message)
    if kinds & (CHAT_ONLY | RESPONSES_ONLY):
        return False
    return True if kinds & ANTHROPIC_ONLY else None


def read(message: Mapping[str, Json]) -> list[Source]:
    """Return one body per content block; one empty `Said` for a message without blocks."""
    role, content = as_text(message.get("role")), message.get("content")
    if not isinstance(content, list):
        return [Said(role, as_text(content))]
    return [read_block(role, block) for block in content] or [Said(role, "")]


def read_block(role: str, value: Json) -> Source:
    """Return the body of one content block."""
    block = as_object(value)
    match as_text(block.get("type")):
        case "text":
            return Said(role, as_text(block.get("text")))
        case "thinking":
            return Thought(as_text(block.get("thinking")), as_text(block.get("signature")))
        case "redacted_thinking":
            return Thought("", as_text(block.get("data")))
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            arguments = encode(block.get("input")).decode()
            return ToolCalled(as_text(block.get("id")), as_text(block.get("name")), arguments)
        case "image" | "document" as kind:
            return Attached(role, read_media(kind, block.get("source")))
        case kind if "tool_use_id" in block:
            return _read_result(block)
        case kind:
            return Opaque(role, kind, encode(value).decode())


def _read_result(block: Mapping[str, Json]) -> ToolReturned:
    output, media = read_output(block.get("content"))
    return ToolReturned(
        call=as_text(block.get("tool_use_id")),
        output=output,
        failed=block.get("is_error") is True,
        media=media,
    )


def read_output(content: Json) -> tuple[str, tuple[Media, ...]]:
    """Return the text and the media of a tool result."""
    if not isinstance(content, list):
        return (
            as_text(content)
            if isinstance(content, str) or content is None
            else encode(content).decode()
        ), ()
    words: list[str] = []
    media: list[Media] = []
    for value in content:
        block = as_object(value)
        match as_text(block.get("type")):
            case "text":
                words.append(as_text(block.get("text")))
            case "image" | "document" as kind:
                media.append(read_media(kind, block.get("source")))
            case _:
                words.append(as_text(value) or stable_text(value))
    return "\n".join(words), tuple(media)


def rewrite(raw: bytes, changes: Mapping[int, Source | None]) -> bytes | None:
    """Return a message with some blocks replaced or removed; None if no block is left.

    Blocks that are not in `changes` keep their bytes.
    """
    parts, blocks = members(raw), blocks_of(raw)
    first = changes.get(0)
    if isinstance(first, Said) and parts.get("content", b"")[:1] == b'"':
        return join_object({**parts, "content": encode(first.text)})
    blocks_now: list[bytes] = []
    for at, block in enumerate(blocks):
        stand_in = changes.get(at)
        if stand_in is not None:
            blocks_now.append(_rewrite_block(block, stand_in))
        elif at not in changes:
            blocks_now.append(block)
    if not blocks_now:
        return None
    return join_object({**parts, "content": join_array(blocks_now)})


def blocks_of(raw: bytes) -> list[bytes]:
    """Return the content blocks of a message, each as bytes."""
    return _blocks(members(raw).get("content", b'""'))


def _blocks(content: bytes) -> list[bytes]:
    if content[:1] != b"[":
        return [join_object({"type": b'"text"', "text": content})]
    # A message without blocks is read as one empty text, so it has one empty block here.
    return elements(content) or [b'{"type":"text","text":""}']


def _rewrite_block(block: bytes, stand_in: Source) -> bytes:
    parts = members(block)
    match stand_in:
        case ToolReturned():
            failed = {"is_error": b"true"} if stand_in.failed else {}
            return join_object({**parts, "content": encode(stand_in.output), **failed})
        case ToolCalled():
            return join_object({**parts, "input": stand_in.arguments.encode()})
        case Said() if "text" in parts:
            return join_object({**parts, "text": encode(stand_in.text)})
        case _:
            return encode({"type": "text", "text": text_of(stand_in)})


def new_message(body: Source) -> bytes:
    """Return a new message that holds `body`."""
    match body:
        case ToolReturned():
            block = {"type": "tool_result", "tool_use_id": body.call, "content": body.output}
            return encode({"role": "user", "content": [block]})
        case ToolCalled():
            use = {"type": "tool_use", "id": body.call, "name": body.tool}
            block = {**use, "input": parse(body.arguments.encode())[0]}
            return encode({"role": "assistant", "content": [block]})
        case Said():
            return encode({"role": body.role, "content": body.text})
        case _:
            return encode({"role": "user", "content": text_of(body)})
