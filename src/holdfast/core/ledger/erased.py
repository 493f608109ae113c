"""Erase the text of purged bodies and messages, and keep their roles, ids and structure.

A request that contains them has to stay valid: calls keep their ids and names, results the ids of
their calls, messages their roles and their number of parts.
"""

from collections.abc import Mapping

from holdfast.core.ledger.entry import (
    Attached,
    Opaque,
    Said,
    Source,
    Thought,
    ToolCalled,
    ToolReturned,
)
from holdfast.text.jsontext import Json, NotJson, as_text, encode, parse
from holdfast.text.patterns import Pattern
from holdfast.text.utf8 import to_bytes

KEPT_MEMBERS = frozenset(
    {
        *("type", "role", "id", "call_id", "tool_use_id", "tool_call_id", "name", "status"),
        *("uuid", "parentUuid", "logicalParentUuid", "sessionId", "agentId", "requestId"),
        *("timestamp", "model", "stop_reason", "version", "userType", "isSidechain", "phase"),
    }
)
"""Members that identify a message and its place, and do not contain its text."""
SEAL_MEMBERS = frozenset({"signature", "encrypted_content"})
MEDIA_KINDS = frozenset(
    {"image", "image_url", "input_image", "document", "file", "input_file", "input_audio", "audio"}
)
NOTICE = Pattern(r"\[purged: [\d,]{1,20} bytes\]")
CALL_ID_MEMBERS = ("tool_use_id", "tool_call_id")


def erase_body(body: Source, notice: str) -> Source:
    """Return a body of the same kind whose only text is the notice."""
    match body:
        case Said():
            return Said(body.role, notice, body.by)
        case Attached():
            return Said(body.role, notice)
        case Thought():
            return Thought("")
        case ToolCalled():
            return ToolCalled(body.call, body.tool, _erased_arguments(notice))
        case ToolReturned():
            return ToolReturned(body.call, notice, body.failed)
        case Opaque():
            raw = to_bytes(body.json)
            return Opaque(body.role, body.kind, erase_raw(raw, notice).decode())


def purge_notice(size: int) -> str:
    """Return the text that replaces `size` erased bytes."""
    return f"[purged: {size:,} bytes]"


def is_erased_form(stored: bytes, raw: bytes) -> bool:
    """Whether the stored bytes are the erased form of exactly these raw bytes."""
    if b"[purged: " not in stored:
        return False
    notice = NOTICE.search(stored.decode("utf-8", "replace"))
    return notice is not None and erase_raw(raw, notice[0]) == stored


def erase_raw(raw: bytes, notice: str) -> bytes:
    """Return a raw message or line with all its texts replaced by the notice."""
    try:
        value, _ = parse(raw)
    except (NotJson, RecursionError):
        return encode(notice)
    return encode(_erase_value(value, notice)) if isinstance(value, dict | list) else encode(notice)


def _erase_value(value: Json, notice: str) -> Json:
    match value:
        case str():
            return notice
        case list():
            return [_erase_value(item, notice) for item in value]
        case dict():
            return _erase_object(value, notice)
        case _:
            return value


def _erase_object(value: Mapping[str, Json], notice: str) -> Json:
    kind = as_text(value.get("type"))
    if kind in MEDIA_KINDS:
        return {"type": "input_text" if kind.startswith("input_") else "text", "text": notice}
    is_result = any(key in value for key in CALL_ID_MEMBERS)
    return {
        key: _erase_member(key, item, notice, is_result=is_result) for key, item in value.items()
    }


def _erase_member(key: str, value: Json, notice: str, *, is_result: bool) -> Json:
    if key in KEPT_MEMBERS and not isinstance(value, list | dict):
        return value
    if key in SEAL_MEMBERS:
        return ""
    if key == "arguments":
        return _erased_arguments(notice)
    if key == "input" and isinstance(value, dict):
        return {"purged": notice}
    if (key == "content" and is_result) or key in ("toolUseResult", "output"):
        return notice
    return _erase_value(value, notice)


def _erased_arguments(notice: str) -> str:
    return encode({"purged": notice}).decode()
