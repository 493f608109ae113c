"""Encode MCP answers and notifications, negotiate versions, read the metadata of requests.

Up to version 2025-11-25, a connection begins with a handshake (`initialize`). Since 2026-07-28
there is none: every request carries its version and client in `params._meta`, here called its
envelope. The request alone decides which of the two applies, so a client may try both.
"""

from typing import TypeAlias

import msgspec
from msgspec import Struct

from holdfast import __version__
from holdfast.surfaces.mcp.frames import Id, RpcFrame
from holdfast.text.jsontext import Json, as_object, as_text

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ENVELOPE_VERSIONS = ("2026-07-28",)
META_PREFIX = "io.modelcontextprotocol/"
VERSION_KEY, CLIENT_KEY, SERVER_KEY = (
    f"{META_PREFIX}protocolVersion",
    f"{META_PREFIX}clientInfo",
    f"{META_PREFIX}serverInfo",
)
CAPABILITIES_KEY, LOG_LEVEL_KEY = f"{META_PREFIX}clientCapabilities", f"{META_PREFIX}logLevel"

METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32601, -32602, -32603
NO_SUCH_RESOURCE, BUSY = -32002, -32000
UNSUPPORTED_VERSION = -32022

NAME = "holdfast"
TITLE = "Holdfast: context that is small and nothing lost"
CAPABILITIES: dict[str, Json] = {
    "tools": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "prompts": {"listChanged": False},
    "completions": {},
    "logging": {},
}
CACHE_MILLISECONDS = {
    "server/discover": 300_000,
    "tools/list": 300_000,
    "prompts/list": 300_000,
    "resources/templates/list": 300_000,
    "resources/list": 0,
    "resources/read": 0,
}
"""For each method, how many milliseconds a client may cache the answer."""

Result: TypeAlias = dict[str, Json]


class Refusal(Struct, frozen=True):
    """An error answer to a request."""

    code: int
    message: str
    data: Json = None


def server_info() -> Result:
    """Return the name and version of this server."""
    return {"name": NAME, "title": TITLE, "version": __version__}


def meta_of(frame: RpcFrame) -> dict[str, Json]:
    """Return the `_meta` object of a request."""
    return as_object(frame.params.get("_meta"))


def is_enveloped(frame: RpcFrame) -> bool:
    """Whether a request is of a version without a handshake, and carries its own version."""
    return frame.method != "initialize" and VERSION_KEY in meta_of(frame)


def version_refusal(frame: RpcFrame) -> Refusal | None:
    """Return the refusal of a request with a wrong envelope; None if we support its version."""
    if not is_enveloped(frame):
        return None
    version = meta_of(frame).get(VERSION_KEY)
    if not isinstance(version, str):
        return Refusal(INVALID_PARAMS, f"{VERSION_KEY} is a text")
    if CAPABILITIES_KEY not in meta_of(frame):
        return Refusal(INVALID_PARAMS, f"params._meta lacks {CAPABILITIES_KEY}")
    if version in ENVELOPE_VERSIONS:
        return None
    data: Json = {"supported": list(ENVELOPE_VERSIONS), "requested": version}
    return Refusal(UNSUPPORTED_VERSION, f"version {version} is not spoken here", data)


def negotiate_version(requested: str) -> str:
    """Return the version of a connection: the client's if we support it, else our newest."""
    return requested if requested in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]


def client_name(frame: RpcFrame) -> str:
    """Return the name of the client from a handshake or an envelope."""
    client = frame.params.get("clientInfo") or meta_of(frame).get(CLIENT_KEY)
    return as_text(as_object(client).get("name"))


def progress_token(frame: RpcFrame) -> Id | None:
    """Return the token under which the client wants progress reports; None if it wants none."""
    token = meta_of(frame).get("progressToken")
    return token if isinstance(token, str | int) and not isinstance(token, bool) else None


def log_level(frame: RpcFrame) -> str:
    """Return the log level that a request asks for; empty if it wants no log messages."""
    return as_text(meta_of(frame).get(LOG_LEVEL_KEY))


def encode_answer(frame: RpcFrame, result: Result | Refusal) -> bytes:
    """Encode the answer to a request."""
    if isinstance(result, Refusal):
        error: dict[str, Json] = {"code": result.code, "message": result.message}
        if result.data is not None:
            error["data"] = result.data
        return _encode({"jsonrpc": "2.0", "id": frame.id, "error": error})
    whole = _with_envelope(frame, result) if is_enveloped(frame) else result
    return _encode({"jsonrpc": "2.0", "id": frame.id, "result": whole})


def _with_envelope(frame: RpcFrame, result: Result) -> Result:
    """Add the members that versions without a handshake require in a result."""
    whole: Result = {"resultType": "complete", **result, "_meta": {SERVER_KEY: server_info()}}
    if frame.method in CACHE_MILLISECONDS:
        whole["ttlMs"], whole["cacheScope"] = CACHE_MILLISECONDS[frame.method], "private"
    return whole


def encode_notification(method: str, params: dict[str, Json]) -> bytes:
    """Encode a notification."""
    return _encode({"jsonrpc": "2.0", "method": method, "params": params})


def _encode(value: dict[str, Json]) -> bytes:
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, ValueError):
        from holdfast.text.jsontext import without_surrogates

        return msgspec.json.encode(without_surrogates(value))


def text_result(text: str, *, failed: bool = False) -> Result:
    """Return the result of a tool call, as text only.

    Clients show a structured result instead of the text if there are both.
    """
    result: Result = {"content": [{"type": "text", "text": text}]}
    return {**result, "isError": True} if failed else result
