"""What is left of entries and messages that are erased: who spoke and what belongs together.

A request that holds them has to stay legal: calls keep their ids and names, results the ids of
their calls, messages their roles and as many parts as they had.
"""

import re
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

STAYS = frozenset(
    {
        *("type", "role", "id", "call_id", "tool_use_id", "tool_call_id", "name", "status"),
        *("uuid", "parentUuid", "logicalParentUuid", "sessionId", "agentId", "requestId"),
        *("timestamp", "model", "stop_reason", "version", "userType", "isSidechain", "phase"),
    }
)
"""Members that say what a message is and where it belongs, not what it holds."""
SEALS = frozenset({"signature", "encrypted_content"})
MEDIA = frozenset(
    {"image", "image_url", "input_image", "document", "file", "input_file", "input_audio", "audio"}
)
NOTICE = re.compile(r"\[purged: [\d,]{1,20} bytes\]")
RESULTS = ("tool_use_id", "tool_call_id")


def emptied_body(body: Source, notice: str) -> Source:
    """A body of the same kind that says only the notice."""
    match body:
        case Said():
            return Said(body.role, notice, body.by)
        case Attached():
            return Said(body.role, notice)
        case Thought():
            return Thought("")
        case ToolCalled():
            return ToolCalled(body.call, body.tool, _arguments(notice))
        case ToolReturned():
            return ToolReturned(body.call, notice, body.failed)
        case Opaque():
            raw = body.json.encode("utf-8", "surrogatepass")
            return Opaque(body.role, body.kind, emptied_raw(raw, notice).decode())


def notice_of(size: int) -> str:
    """What is left of words that were erased."""
    return f"[purged: {size:,} bytes]"


def is_emptied(kept: bytes, raw: bytes) -> bool:
    """Whether what is kept is what was left of these very bytes."""
    if b"[purged: " not in kept:
        return False
    found = NOTICE.search(kept.decode("utf-8", "replace"))
    return found is not None and emptied_raw(raw, found[0]) == kept


def emptied_raw(raw: bytes, notice: str) -> bytes:
    """A message or line as it came, less everything that it says."""
    try:
        value, _ = parse(raw)
    except (NotJson, RecursionError):
        return encode(notice)
    return encode(_emptied(value, notice)) if isinstance(value, dict | list) else encode(notice)


def _emptied(value: Json, notice: str) -> Json:
    match value:
        case str():
            return notice
        case list():
            return [_emptied(one, notice) for one in value]
        case dict():
            return _emptied_object(value, notice)
        case _:
            return value


def _emptied_object(value: Mapping[str, Json], notice: str) -> Json:
    kind = as_text(value.get("type"))
    if kind in MEDIA:
        return {"type": "input_text" if kind.startswith("input_") else "text", "text": notice}
    answers = any(key in value for key in RESULTS)
    return {key: _member(key, one, notice, answers=answers) for key, one in value.items()}


def _member(key: str, value: Json, notice: str, *, answers: bool) -> Json:
    if key in STAYS and not isinstance(value, list | dict):
        return value
    if key in SEALS:
        return ""
    if key == "arguments":
        return _arguments(notice)
    if key == "input" and isinstance(value, dict):
        return {"purged": notice}
    if (key == "content" and answers) or key in ("toolUseResult", "output"):
        return notice
    return _emptied(value, notice)


def _arguments(notice: str) -> str:
    return encode({"purged": notice}).decode()
