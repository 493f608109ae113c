"""Read and write messages in the OpenAI Chat Completions format.

The parts of a message are read in a fixed order: reasoning, content, refusal, calls. The index of a
part in this order identifies it when parts are replaced.
"""

from collections.abc import Mapping
from typing import NamedTuple

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
    parse,
)
from holdfast.wire.media import join_output, read_media
from holdfast.wire.part_types import ANTHROPIC_ONLY, CHAT_ONLY, RESPONSES_ONLY, part_types_of

NAME = "openai_chat"

CHAT_ONLY_KEYS = ("tool_calls", "function_call", "tool_call_id")
REASONING_KEYS = ("reasoning_content", "reasoning")


class Slot(NamedTuple):
    """A part of a message: its key, its position if the value is a list, and its body."""

    key: str
    position: int | None
    body: Source


def fits(message: Mapping[str, Json]) -> bool | None:
    """Return True if only this format has such a message, False if it has not, None if it may."""
    if "role" not in message or "type" in message:
        return False
    if any(key in message for key in CHAT_ONLY_KEYS) or message["role"] in ("tool", "function"):
        return True
    kinds = part_types_of(message)
    if kinds & (ANTHROPIC_ONLY | RESPONSES_ONLY):
        return False
    return True if kinds & CHAT_ONLY else None


def read(message: Mapping[str, Json]) -> list[Source]:
    """Return one body per part; one empty `Said` for a message without parts."""
    return [slot.body for slot in _slots(message)]


def _slots(message: Mapping[str, Json]) -> list[Slot]:
    role = as_text(message.get("role"))
    if role in ("tool", "function"):
        return [Slot("content", None, _read_result(message))]
    slots = [
        Slot(key, None, Thought(as_text(message[key])))
        for key in REASONING_KEYS
        if isinstance(message.get(key), str) and message[key]
    ]
    slots += _content_slots(role, message.get("content"))
    if isinstance(message.get("refusal"), str):
        slots.append(Slot("refusal", None, Said(role, as_text(message["refusal"]))))
    for index, call in enumerate(as_list(message.get("tool_calls"))):
        slots.append(Slot("tool_calls", index, _read_call(as_object(call))))
    if isinstance(message.get("function_call"), dict):
        call = _read_call({"function": message["function_call"]})
        slots.append(Slot("function_call", None, call))
    return slots or [Slot("content", None, Said(role, ""))]


def _content_slots(role: str, content: Json) -> list[Slot]:
    if isinstance(content, str):
        return [Slot("content", None, Said(role, as_text(content)))] if content else []
    parts = enumerate(as_list(content))
    return [Slot("content", index, _read_part(role, part)) for index, part in parts]


def _read_part(role: str, value: Json) -> Source:
    part = as_object(value)
    match as_text(part.get("type")):
        case "text" | "refusal" as key:
            return Said(role, as_text(part.get(key)))
        case "image_url":
            url = as_object(part.get("image_url")).get("url", part.get("image_url"))
            return Attached(role, read_media("image", url))
        case "input_audio":
            return Attached(role, read_media("audio", part.get("input_audio")))
        case "file":
            return Attached(role, read_media("document", part.get("file")))
        case kind:
            return Opaque(role, kind, encode(value).decode())


def _read_call(call: Mapping[str, Json]) -> ToolCalled:
    function = as_object(call.get("function") or call.get("custom"))
    arguments = function.get("arguments", function.get("input"))
    # Some clients send the arguments as an object; the format says text.
    text = as_text(arguments) if isinstance(arguments, str) else encode(arguments or {}).decode()
    return ToolCalled(as_text(call.get("id")), as_text(function.get("name")), text)


def _read_result(message: Mapping[str, Json]) -> ToolReturned:
    content = message.get("content")
    call = as_text(message.get("tool_call_id") or message.get("name"))
    if not isinstance(content, list):
        return ToolReturned(call, as_text(content))
    text, media = join_output([_read_part("tool", part) for part in content])
    return ToolReturned(call, text, media=media)


def rewrite(raw: bytes, changes: Mapping[int, Source | None]) -> bytes | None:
    """Return a message with some parts replaced or removed; None if no part is left."""
    parts = members(raw)
    message = {key: parse(value)[0] for key, value in parts.items()}
    slots = _slots(message)
    if all(changes.get(at, slot) is None for at, slot in enumerate(slots)):
        return None
    lists = {
        key: elements(parts[key])
        for key in {slot.key for slot in slots if slot.position is not None}
    }
    removed: set[tuple[str, int]] = set()
    for at, slot in enumerate(slots):
        if at in changes:
            _change_slot(parts, lists, removed, slot, changes[at])
    for key, items in lists.items():
        items_now = [item for index, item in enumerate(items) if (key, index) not in removed]
        _set_member(parts, key, join_array(items_now) if items_now else None)
    return join_object(parts)


def _change_slot(
    parts: dict[str, bytes],
    lists: dict[str, list[bytes]],
    removed: set[tuple[str, int]],
    slot: Slot,
    stand_in: Source | None,
) -> None:
    if slot.position is None:
        _set_member(
            parts, slot.key, None if stand_in is None else _rewrite_whole(parts, slot, stand_in)
        )
    elif stand_in is None:
        removed.add((slot.key, slot.position))
    else:
        lists[slot.key][slot.position] = _rewrite_part(lists[slot.key][slot.position], stand_in)


def _set_member(parts: dict[str, bytes], key: str, value: bytes | None) -> None:
    if value is not None:
        parts[key] = value
    elif key == "content":
        parts[key] = b"null"  # the format requires the key
    else:
        parts.pop(key, None)


def _rewrite_whole(parts: Mapping[str, bytes], slot: Slot, stand_in: Source) -> bytes:
    if slot.key == "function_call" and isinstance(stand_in, ToolCalled):
        call = members(parts["function_call"])
        return join_object({**call, "arguments": encode(stand_in.arguments)})
    return encode(text_of(stand_in))


def _rewrite_part(raw: bytes, stand_in: Source) -> bytes:
    call = members(raw)
    if isinstance(stand_in, Said) and "text" in call:
        return join_object({**call, "text": encode(stand_in.text)})
    if not isinstance(stand_in, ToolCalled):
        return encode({"type": "text", "text": text_of(stand_in)})
    kind, key = ("custom", "input") if "custom" in call else ("function", "arguments")
    inner = {**members(call.get(kind, b"{}")), key: encode(stand_in.arguments)}
    return join_object({**call, kind: join_object(inner)})


def new_message(body: Source) -> bytes:
    """Return a new message that holds `body`."""
    match body:
        case ToolReturned():
            return encode({"role": "tool", "tool_call_id": body.call, "content": body.output})
        case Said():
            return encode({"role": body.role, "content": body.text})
        case _:
            return encode({"role": "user", "content": text_of(body)})
