"""generateContent as a provider speaks it."""

import json
from typing import Any

from tests.agents.script import Request, Turn

JUDGED = {
    "reasoning": "",
    "next_speaker": "user",
    "model_choice": "flash",
    "complexity_reasoning": "",
    "complexity_score": 10,
}
"""What the client's own questions in JSON are answered with: nobody has to go on."""


def kind_of(request: Request) -> str:
    """What a request is for."""
    if "countTokens" in request.path:
        return "count"
    if "state_snapshot" in Request("", "", {}, _summing(request)).said:
        return "compact"
    return "turn" if request.body.get("tools") else "aside"


def _summing(request: Request) -> dict[str, Any]:
    """Where a request says that it wants a summary."""
    body = request.body
    contents: list[dict[str, Any]] = body.get("contents") or [{}]
    last = contents[-1]
    return (
        {"last": last}
        if body.get("tools")
        else {"system": body.get("systemInstruction"), "last": last}
    )


def answer(turn: Turn, request: Request) -> dict[str, Any]:
    """An answer, whole; a stream of it is this one piece."""
    calls = [{"functionCall": {"name": c.tool, "args": c.arguments}} for c in turn.calls]
    parts = [*([{"text": turn.text}] if turn.text else []), *calls]
    wanted: dict[str, Any] = request.body.get("generationConfig") or {}
    if wanted.get("responseMimeType") == "application/json":
        parts = [{"text": json.dumps(JUDGED)}]
    usage = {
        "promptTokenCount": turn.used,
        "candidatesTokenCount": turn.written,
        "totalTokenCount": turn.used + turn.written,
    }
    content = {"role": "model", "parts": parts}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
