"""How the protocol spells things: versions, answers, and what a client says of itself.

Up to 2025-11-25 a connection begins with a handshake. From 2026-07-28 on there is none: every
request says by itself which version it is of and who sent it. Which of the two a request means is
told by the request alone, so that a client may begin either way, and try one after the other.
"""

from typing import TypeAlias

import msgspec
from msgspec import Struct

from holdfast import __version__
from holdfast.surfaces.mcp.frames import Frame, Id
from holdfast.text.jsontext import Json, as_object, as_text

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ENVELOPES = ("2026-07-28",)
PREFIX = "io.modelcontextprotocol/"
VERSION, CLIENT, SERVER = f"{PREFIX}protocolVersion", f"{PREFIX}clientInfo", f"{PREFIX}serverInfo"
CAPABLE, LOGGED = f"{PREFIX}clientCapabilities", f"{PREFIX}logLevel"

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
CACHEABLE = {
    "server/discover": 300_000,
    "tools/list": 300_000,
    "prompts/list": 300_000,
    "resources/templates/list": 300_000,
    "resources/list": 0,
    "resources/read": 0,
}
"""How many milliseconds an answer may be kept."""

Result: TypeAlias = dict[str, Json]


class Refusal(Struct, frozen=True):
    """Why a request is not answered with a result."""

    code: int
    message: str
    data: Json = None


def info() -> Result:
    """Who we are."""
    return {"name": NAME, "title": TITLE, "version": __version__}


def meta_of(frame: Frame) -> dict[str, Json]:
    """What a request says of itself."""
    return as_object(frame.params.get("_meta"))


def is_enveloped(frame: Frame) -> bool:
    """Whether a request is of a version that has no handshake."""
    return frame.method != "initialize" and VERSION in meta_of(frame)


def unsupported(frame: Frame) -> Refusal | None:
    """What is wrong with the version that a request says it is of."""
    if not is_enveloped(frame):
        return None
    said = meta_of(frame).get(VERSION)
    if not isinstance(said, str):
        return Refusal(INVALID_PARAMS, f"{VERSION} is a text")
    if CAPABLE not in meta_of(frame):
        return Refusal(INVALID_PARAMS, f"params._meta lacks {CAPABLE}")
    if said in ENVELOPES:
        return None
    data: Json = {"supported": list(ENVELOPES), "requested": said}
    return Refusal(UNSUPPORTED_VERSION, f"version {said} is not spoken here", data)


def agreed(wanted: str) -> str:
    """The version that a handshake settles on: the client's, if we speak it."""
    return wanted if wanted in HANDSHAKES else HANDSHAKES[-1]


def client_of(frame: Frame) -> str:
    """The name that a client gives itself in a handshake or an envelope."""
    told = frame.params.get("clientInfo") or meta_of(frame).get(CLIENT)
    return as_text(as_object(told).get("name"))


def progress_token(frame: Frame) -> Id | None:
    """What a client wants the progress of a request to be told under."""
    token = meta_of(frame).get("progressToken")
    return token if isinstance(token, str | int) and not isinstance(token, bool) else None


def log_level(frame: Frame) -> str:
    """From which level on a request wants to be told what is logged."""
    return as_text(meta_of(frame).get(LOGGED))


def answer(frame: Frame, came: Result | Refusal) -> bytes:
    """The answer to a request as it is sent."""
    if isinstance(came, Refusal):
        error: dict[str, Json] = {"code": came.code, "message": came.message}
        if came.data is not None:
            error["data"] = came.data
        return _encoded({"jsonrpc": "2.0", "id": frame.id, "error": error})
    whole = _enveloped(frame, came) if is_enveloped(frame) else came
    return _encoded({"jsonrpc": "2.0", "id": frame.id, "result": whole})


def _enveloped(frame: Frame, came: Result) -> Result:
    """A result as the versions without a handshake have it."""
    whole: Result = {"resultType": "complete", **came, "_meta": {SERVER: info()}}
    if frame.method in CACHEABLE:
        whole["ttlMs"], whole["cacheScope"] = CACHEABLE[frame.method], "private"
    return whole


def notification(method: str, params: dict[str, Json]) -> bytes:
    """Something that is told without being asked."""
    return _encoded({"jsonrpc": "2.0", "method": method, "params": params})


def _encoded(value: dict[str, Json]) -> bytes:
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, ValueError):
        from holdfast.text.jsontext import cleaned

        return msgspec.json.encode(cleaned(value))


def text_result(text: str, *, failed: bool = False) -> Result:
    """What a tool says: text as text, since clients show a structured result instead of it."""
    came: Result = {"content": [{"type": "text", "text": text}]}
    return {**came, "isError": True} if failed else came
