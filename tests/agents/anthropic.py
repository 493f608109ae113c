"""The Messages API as a provider speaks it: events of one answer."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from tests.agents.script import Call, Request, Turn

ASKS_FOR_SUMMARY = (
    "CRITICAL: Respond with TEXT ONLY",
    "Your task is to create a detailed summary",
)


def kind_of(request: Request) -> str:
    """What a request is for."""
    body = request.body
    if "count_tokens" in request.path:
        return "count"
    last = Request("", "", {}, {"last": body.get("messages", [])[-2:]}).said
    if any(words in last for words in ASKS_FOR_SUMMARY):
        return "compact"
    if "x-claude-code-agent-id" in request.headers:
        return "worker"
    return "turn" if len(body.get("tools") or ()) > 2 else "aside"


def events(turn: Turn, request: Request) -> Iterator[tuple[str, dict[str, Any]]]:
    """The answer as it is streamed."""
    usage = {
        "input_tokens": turn.used,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": turn.written,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "service_tier": "standard",
    }
    message: dict[str, Any] = {
        "id": f"msg_{uuid4().hex[:20]}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
    }
    yield "message_start", {"message": message}
    blocks = [*([turn.text] if turn.text else []), *turn.calls]
    for index, block in enumerate(blocks):
        yield from _block(index, block)
    reason = "tool_use" if turn.calls else "end_turn"
    stop = {"stop_reason": reason, "stop_sequence": None}
    yield "message_delta", {"delta": stop, "usage": usage}
    yield "message_stop", {}


def _block(index: int, block: str | Call) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(block, str):
        opening: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block}
    else:
        name = {"id": f"toolu_{uuid4().hex[:20]}", "name": block.tool}
        opening = {"type": "tool_use", **name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block.arguments)}
    yield "content_block_start", {"index": index, "content_block": opening}
    yield "content_block_delta", {"index": index, "delta": delta}
    yield "content_block_stop", {"index": index}
