"""The Responses and chat APIs as a provider speaks them."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from tests.agents.script import Call, Request, Turn

ASKS_FOR_SUMMARY = (
    "CONTEXT CHECKPOINT COMPACTION",
    "context summarization agent",
    "Create a new anchored summary",
    "Update the anchored summary",
)
NAMES_A_THREAD = '"thread_source":"thread_title"'
"""How Codex marks requests of its own window, that want a title."""


def kind_of(request: Request) -> str:
    """What a request is for."""
    body = request.body
    given: list[Any] = body.get("input") or body.get("messages") or []
    if NAMES_A_THREAD in request.headers.get("x-codex-turn-metadata", ""):
        return "aside"
    if given and given[-1].get("type") == "compaction_trigger":
        return "compact"
    if not body.get("tools"):
        # A client that asks for a summary offers no tools, and may have been given other words.
        ends = Request("", "", {}, {"ends": [*given[:1], *given[-1:]]}).said
        return "compact" if any(words in ends for words in ASKS_FOR_SUMMARY) else "aside"
    parent = (
        "x-parent-session-id" in request.headers or "x-codex-parent-thread-id" in request.headers
    )
    return "worker" if parent else "turn"


def response_events(turn: Turn, request: Request) -> Iterator[tuple[str, dict[str, Any]]]:
    """An answer of the Responses API as it is streamed."""
    items = _items(turn, request)
    usage = {
        "input_tokens": turn.used,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": turn.written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": turn.used + turn.written,
    }
    response = {
        "id": f"resp_{uuid4().hex}",
        "object": "response",
        "created_at": 1,
        "model": request.body.get("model"),
        "error": None,
    }
    begun: dict[str, Any] = {**response, "status": "in_progress", "output": [], "usage": None}
    yield "response.created", {"response": begun}
    for index, item in enumerate(items):
        yield from _item(index, item)
    done = {**response, "status": "completed", "output": items, "usage": usage}
    yield "response.completed", {"response": done}


def _items(turn: Turn, request: Request) -> list[dict[str, Any]]:
    given: list[dict[str, Any]] = request.body.get("input") or [{}]
    if given[-1].get("type") == "compaction_trigger":
        return [{"type": "compaction", "id": f"cmp_{uuid4().hex}", "encrypted_content": turn.text}]
    said = [_message(turn.text)] if turn.text else []
    return [*said, *map(_call, turn.calls)]


def _message(text: str) -> dict[str, Any]:
    content: list[Any] = [{"type": "output_text", "text": text, "annotations": []}]
    name = {"type": "message", "id": f"msg_{uuid4().hex[:16]}", "role": "assistant"}
    return {**name, "status": "completed", "content": content}


def _call(call: Call) -> dict[str, Any]:
    space = {"namespace": call.namespace} if call.namespace else {}
    name = {"id": f"fc_{uuid4().hex[:16]}", "call_id": f"call_{uuid4().hex[:16]}"}
    said = {"name": call.tool, "arguments": json.dumps(call.arguments), "status": "completed"}
    return {"type": "function_call", **space, **name, **said}


def _item(index: int, item: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    place = {"output_index": index}
    begun: dict[str, Any] = {"content": []} if item["type"] == "message" else {}
    added = {**item, "status": "in_progress", **begun}
    yield "response.output_item.added", {**place, "item": added}
    if item["type"] == "message":
        text = {"item_id": item["id"], **place, "content_index": 0}
        yield "response.output_text.delta", {**text, "delta": item["content"][0]["text"]}
    yield "response.output_item.done", {**place, "item": item}


def chat_chunks(turn: Turn, request: Request) -> Iterator[dict[str, Any]]:
    """An answer of the chat API as it is streamed."""
    yield _chunk(request, {"role": "assistant", "content": turn.text})
    for index, call in enumerate(turn.calls):
        function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
        name = {"index": index, "id": f"call_{uuid4().hex[:16]}", "type": "function"}
        yield _chunk(request, {"tool_calls": [{**name, "function": function}]})
    yield _chunk(request, {}, "tool_calls" if turn.calls else "stop")
    usage = {"prompt_tokens": turn.used, "completion_tokens": turn.written}
    last: dict[str, Any] = {**_chunk(request, {}), "choices": []}
    yield {**last, "usage": {**usage, "total_tokens": turn.used + turn.written}}


def _chunk(request: Request, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    name = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1}
    return {**name, "model": request.body.get("model"), "choices": [choice]}
