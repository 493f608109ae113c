"""Read and write items in the OpenAI Responses format: messages, calls, results, reasoning."""

from collections.abc import Mapping

from holdfast.core.ledger.entry import (
    Attached,
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
    as_list,
    as_object,
    as_text,
    elements,
    encode,
    join_array,
    join_object,
    members,
)
from holdfast.wire.media import join_output, read_media
from holdfast.wire.part_types import ANTHROPIC_ONLY, CHAT_ONLY, RESPONSES_ONLY, part_types_of

NAME = "openai_responses"

CALL_ARGUMENTS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "mcp_call": "arguments",
}
"""Types of items that call a tool, and the member that holds the arguments."""

OTHER_ITEM_TYPES = frozenset(
    {"reasoning", "item_reference", "compaction", "compaction_trigger", "tool_search_output"}
)


def fits(message: Mapping[str, Json]) -> bool | None:
    """Return True if only this format has such a message, False if it has not, None if it may."""
    kind = message.get("type")
    if isinstance(kind, str):
        return _is_item(kind, message)
    if message.get("role") in (None, "tool", "function") or "tool_calls" in message:
        return False
    kinds = part_types_of(message)
    if kinds & (ANTHROPIC_ONLY | CHAT_ONLY):
        return False
    return True if kinds & RESPONSES_ONLY else None


def _is_item(kind: str, message: Mapping[str, Json]) -> bool | None:
    if kind == "message":
        return "role" in message
    if kind in OTHER_ITEM_TYPES or kind.endswith(("_call", "_call_output")):
        return True
    return None if "role" not in message else False


def read(item: Mapping[str, Json]) -> list[Source]:
    """Return one body per part of a message, or one body for another item."""
    kind = as_text(item.get("type"))
    if kind in ("", "message") and "role" in item:
        return _read_message(item)
    call = as_text(item.get("call_id") or item.get("id"))
    if kind in CALL_ARGUMENTS:
        tool = as_text(item.get("name")) or kind.removesuffix("_call")
        return [ToolCalled(call, tool, _json_text(item.get(CALL_ARGUMENTS[kind])))]
    if kind.endswith("_output") and "output" in item:
        return [_read_result(call, item)]
    if kind == "reasoning":
        return [_read_thought(item)]
    return [
        Opaque("assistant" if kind.endswith("_call") else "", kind, encode(dict(item)).decode())
    ]


def _json_text(value: Json) -> str:
    return as_text(value) if isinstance(value, str) else encode(value).decode()


def _read_message(item: Mapping[str, Json]) -> list[Source]:
    role, content = as_text(item.get("role")), item.get("content")
    if not isinstance(content, list):
        return [Said(role, as_text(content))]
    return [_read_part(role, part) for part in content] or [Said(role, "")]


def _read_part(role: str, value: Json) -> Source:
    part = as_object(value)
    match as_text(part.get("type")):
        case "input_text" | "output_text" | "text" | "summary_text" | "reasoning_text":
            return Said(role, as_text(part.get("text")))
        case "refusal":
            return Said(role, as_text(part.get("refusal")))
        case "input_image":
            return Attached(role, read_media("image", part.get("image_url")))
        case "input_file":
            return Attached(role, read_media("document", value))
        case kind:
            return Opaque(role, kind, encode(value).decode())


def _read_result(call: str, item: Mapping[str, Json]) -> ToolReturned:
    output = item.get("output")
    failed = item.get("status") == "failed"
    if not isinstance(output, list):
        return ToolReturned(call, _json_text(output) if output is not None else "", failed)
    text, media = join_output([_read_part("tool", part) for part in output])
    return ToolReturned(call, text, failed, media)


def _read_thought(item: Mapping[str, Json]) -> Thought:
    parts = [*as_list(item.get("summary")), *as_list(item.get("content"))]
    words = [as_text(as_object(part).get("text")) for part in parts]
    return Thought("\n".join(words), as_text(item.get("encrypted_content")))


def rewrite(raw: bytes, changes: Mapping[int, Source | None]) -> bytes | None:
    """Return an item with some parts replaced or removed; None if no part is left."""
    item = members(raw)
    content = item.get("content", b"")
    if content[:1] == b"[" and "role" in item:
        return _rewrite_parts(item, elements(content), changes)
    stand_in = changes.get(0)
    return None if stand_in is None else _rewrite_item(item, stand_in)


def _rewrite_parts(
    item: dict[str, bytes], parts: list[bytes], changes: Mapping[int, Source | None]
) -> bytes | None:
    parts_now: list[bytes] = []
    for at, part in enumerate(parts):
        stand_in = changes.get(at)
        if stand_in is not None:
            parts_now.append(_with_text(part, text_of(stand_in)))
        elif at not in changes:
            parts_now.append(part)
    return join_object({**item, "content": join_array(parts_now)}) if parts_now else None


def _with_text(part: bytes, text: str) -> bytes:
    """Return a part with `text`: of the same type if it held text, else a plain text part."""
    old = members(part)
    for key in ("text", "refusal"):
        if key in old:
            return join_object({**old, key: encode(text)})
    return encode({"type": "input_text", "text": text})


def _rewrite_item(item: dict[str, bytes], stand_in: Source) -> bytes:
    kind = _item_type(item)
    if isinstance(stand_in, ToolReturned) and "output" in item:
        return join_object({**item, "output": encode(stand_in.output)})
    if isinstance(stand_in, ToolCalled) and kind in CALL_ARGUMENTS:
        return join_object({**item, CALL_ARGUMENTS[kind]: encode(stand_in.arguments)})
    if "role" in item:
        return join_object({**item, "content": encode(text_of(stand_in))})
    return new_message(stand_in)


def _item_type(item: dict[str, bytes]) -> str:
    return item.get("type", b'""').strip(b'"').decode()


def new_message(body: Source) -> bytes:
    """Return a new item that holds `body`."""
    match body:
        case ToolReturned():
            item = {"type": "function_call_output", "call_id": body.call, "output": body.output}
            return encode(item)
        case Said():
            return encode({"type": "message", "role": body.role, "content": body.text})
        case _:
            return encode({"type": "message", "role": "user", "content": text_of(body)})
