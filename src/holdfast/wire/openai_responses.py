"""The OpenAI Responses format: a list of items, each a message, a call, a result or a thought."""

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
    joined_array,
    joined_object,
    members,
    parse,
    steady,
)
from holdfast.wire.media import read_media
from holdfast.wire.part_types import ANTHROPIC, CHAT, RESPONSES, kinds_of

NAME = "openai_responses"

CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "mcp_call": "arguments",
}
"""Items that ask for a tool, and the member that holds what they ask."""

OTHER_ITEMS = frozenset(
    {"reasoning", "item_reference", "compaction", "compaction_trigger", "tool_search_output"}
)


def fits(message: Mapping[str, Json]) -> bool | None:
    """Whether this is surely ours (True), surely not (False), or could be anyone's (None)."""
    kind = message.get("type")
    if isinstance(kind, str):
        return _is_item(kind, message)
    if message.get("role") in (None, "tool", "function") or "tool_calls" in message:
        return False
    kinds = kinds_of(message)
    if kinds & (ANTHROPIC | CHAT):
        return False
    return True if kinds & RESPONSES else None


def _is_item(kind: str, message: Mapping[str, Json]) -> bool | None:
    if kind == "message":
        return "role" in message
    if kind in OTHER_ITEMS or kind.endswith(("_call", "_call_output")):
        return True
    return None if "role" not in message else False


def read(item: Mapping[str, Json]) -> list[Source]:
    """One body per part of a message, one for any other item."""
    kind = as_text(item.get("type"))
    if kind in ("", "message") and "role" in item:
        return _read_message(item)
    call = as_text(item.get("call_id") or item.get("id"))
    if kind in CALLS:
        tool = as_text(item.get("name")) or kind.removesuffix("_call")
        return [ToolCalled(call, tool, _written(item.get(CALLS[kind])))]
    if kind.endswith("_output") and "output" in item:
        return [_read_result(call, item)]
    if kind == "reasoning":
        return [_read_thought(item)]
    return [
        Opaque("assistant" if kind.endswith("_call") else "", kind, encode(dict(item)).decode())
    ]


def _written(value: Json) -> str:
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
        return ToolReturned(call, _written(output) if output is not None else "", failed)
    bodies = [_read_part("tool", part) for part in output]
    media = tuple(body.media for body in bodies if isinstance(body, Attached))
    words = [_words_of(body) for body in bodies if not isinstance(body, Attached)]
    return ToolReturned(call, "\n".join(words), failed, media)


def _read_thought(item: Mapping[str, Json]) -> Thought:
    parts = [*as_list(item.get("summary")), *as_list(item.get("content"))]
    words = [as_text(as_object(part).get("text")) for part in parts]
    return Thought("\n".join(words), as_text(item.get("encrypted_content")))


def _words_of(body: Source) -> str:
    return steady(parse(body.json.encode())[0]) if isinstance(body, Opaque) else text_of(body)


def rewrite(raw: bytes, shown: Mapping[int, Source | None]) -> bytes | None:
    """An item with some of its parts replaced or gone; nothing when none are left."""
    item = members(raw)
    content = item.get("content", b"")
    if content[:1] == b"[" and "role" in item:
        return _rewrite_parts(item, elements(content), shown)
    stand_in = shown.get(0)
    return None if stand_in is None else _rewrite_item(item, stand_in)


def _rewrite_parts(
    item: dict[str, bytes], parts: list[bytes], shown: Mapping[int, Source | None]
) -> bytes | None:
    kept: list[bytes] = []
    for at, part in enumerate(parts):
        stand_in = shown.get(at)
        if stand_in is not None:
            kept.append(_words(part, text_of(stand_in)))
        elif at not in shown:
            kept.append(part)
    return joined_object({**item, "content": joined_array(kept)}) if kept else None


def _words(part: bytes, text: str) -> bytes:
    """A part that says `text`: the same kind where it held words, plain words where it did not."""
    old = members(part)
    for key in ("text", "refusal"):
        if key in old:
            return joined_object({**old, key: encode(text)})
    return encode({"type": "input_text", "text": text})


def _rewrite_item(item: dict[str, bytes], stand_in: Source) -> bytes:
    kind = _kind(item)
    if isinstance(stand_in, ToolReturned) and "output" in item:
        return joined_object({**item, "output": encode(stand_in.output)})
    if isinstance(stand_in, ToolCalled) and kind in CALLS:
        return joined_object({**item, CALLS[kind]: encode(stand_in.arguments)})
    if "role" in item:
        return joined_object({**item, "content": encode(text_of(stand_in))})
    return speak(stand_in)


def _kind(item: dict[str, bytes]) -> str:
    return item.get("type", b'""').strip(b'"').decode()


def speak(body: Source) -> bytes:
    """An item of our own that says `body`."""
    match body:
        case ToolReturned():
            item = {"type": "function_call_output", "call_id": body.call, "output": body.output}
            return encode(item)
        case Said():
            return encode({"type": "message", "role": body.role, "content": body.text})
        case _:
            return encode({"type": "message", "role": "user", "content": text_of(body)})
