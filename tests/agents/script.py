"""What a provider is told to say, and what it was asked: values."""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec import Struct


class Call(Struct, frozen=True):
    """A tool that the model asks for."""

    tool: str
    arguments: dict[str, Any]
    namespace: str = ""
    """Codex keeps the tools of an MCP server in a namespace."""


class Refusal(Struct, frozen=True):
    """An answer that is an error."""

    status: int
    body: dict[str, Any]


class Turn(Struct, frozen=True):
    """One answer of the model."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    used: int = 1_000
    """Tokens of the prompt that the provider reports."""
    written: int = 20
    refusal: Refusal | None = None


class Request(Struct, frozen=True):
    """What a client sent."""

    method: str
    path: str
    headers: dict[str, str]
    """By their names in lower case."""
    body: dict[str, Any]
    kind: str = ""
    """turn, worker, compact, aside, count or other."""

    @property
    def said(self) -> str:
        """All of its body as one text, with nothing escaped that a reader would look for."""
        return "\n".join(strings(self.body))


def strings(value: object) -> list[str]:
    """Every text inside a JSON value, in order; a text that is JSON itself is looked into too."""
    match value:
        case str():
            return [value, *_inside(value)]
        case dict():
            return [text for part in value.values() for text in strings(part)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case list():
            return [text for part in value for text in strings(part)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case _:
            return []


def _inside(text: str) -> list[str]:
    if text[:1] not in ("{", "["):
        return []
    try:
        return strings(json.loads(text))
    except ValueError:
        return []


Reply: TypeAlias = Turn | Callable[[Request], Turn]
"""What to say, or how to find out from what was asked."""


def too_long(path: str, tokens: int = 1_213_000, most: int = 1_000_000) -> Refusal:
    """What the provider of a path answers when a request is larger than its window."""
    if path.endswith("/messages"):
        message = f"prompt is too long: {tokens} tokens > {most} maximum"
        error = {"type": "invalid_request_error", "message": message}
        return Refusal(400, {"type": "error", "error": error})
    if "models/" in path:
        message = f"The input token count ({tokens}) exceeds the maximum number of tokens ({most})."
        error = {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}
        return Refusal(400, {"error": error})
    message = f"Your input exceeds the context window of this model: {tokens} > {most}."
    error = {"message": message, "type": "invalid_request_error", "param": "input"}
    return Refusal(400, {"error": {**error, "code": "context_length_exceeded"}})
