"""Parse JSON-RPC frames, one line of JSON each, including broken and oversized lines.

Every frame with an id has to be answered. In a line that cannot be parsed or is too long to store,
the id is searched near the start and near the end.
"""

from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct

from holdfast.text.jsontext import Json, NotJson, as_object, parse, without_surrogates
from holdfast.text.patterns import Pattern

Id: TypeAlias = int | float | str

MAX_FRAME_BYTES = 16 * 1024 * 1024
"""Longest line that is parsed; far more than any of our calls needs."""
ID_SEARCH_BYTES = 64 * 1024
"""Bytes at each end of a line that are searched for an id."""
MAX_DEPTH = 200
"""Deepest nesting that is accepted: more than any call needs, less than breaks a JSON parser."""

PARSE_ERROR, INVALID_REQUEST = -32700, -32600

# Matches the signs that open or close a string, an object or a list; not `:` or `,`.
_JSON_SIGN = Pattern(rb'["{}\[\]]')
# Matches what ends a string or escapes the next character: `"` or `\`.
_QUOTE_OR_BACKSLASH = Pattern(rb'["\\]')
# Matches what follows `"id"`: `: 7,` or `: "a-1"}`; not `: [7]` and not `: 7.5`.
_ID_VALUE = Pattern(
    rb'[ \t]{0,8}:[ \t]{0,8}("(?:[^"\\\x00-\x1f]|\\.){0,128}"|-?\d{1,18})[ \t]{0,8}(?=[,}])'
)
# Matches the end of a frame after its id: `, "jsonrpc": "2.0"}`; not `, "params": {}}`.
_FRAME_END = Pattern(
    rb'(?:,[ \t]{0,8}"(?:jsonrpc|method)"[ \t]{0,8}:[ \t]{0,8}"[^"\\]{0,64}"[ \t]{0,8}){0,2}'
    rb"\}\s{0,8}$"
)


class RpcFrame(Struct, frozen=True):
    """One message of a client: a request, a notification or an answer."""

    method: str = ""
    """Empty for an answer; we never send requests, so answers are ignored."""
    params: dict[str, Json] = {}
    id: Id | None = None
    """The id for the answer; None for a notification."""
    flaw: str = ""
    """Why the frame is invalid; empty for a valid one. An invalid frame is answered with this."""
    code: int = 0


class LineBuffer:
    """Splits input into lines; of a line that is too long, only the ends are stored."""

    def __init__(self, max_bytes: int = MAX_FRAME_BYTES) -> None:
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        self._dropped = 0

    def feed(self, chunk: bytes) -> Iterator[tuple[bytes, int]]:
        """Yield each line that the chunk completes, and the number of bytes dropped from it."""
        first, *rest = chunk.split(b"\n")
        self._add(first)
        for part in rest:
            yield self._take()
            self._add(part)

    def flush(self) -> Iterator[tuple[bytes, int]]:
        """Yield the last line if the input ended without a line end."""
        if self._buffer:
            yield self._take()

    def _add(self, part: bytes) -> None:
        self._buffer += part
        if len(self._buffer) > self._max_bytes:
            excess = len(self._buffer) - 2 * ID_SEARCH_BYTES
            del self._buffer[ID_SEARCH_BYTES : ID_SEARCH_BYTES + excess]
            self._dropped += excess

    def _take(self) -> tuple[bytes, int]:
        line, dropped = bytes(self._buffer), self._dropped
        self._buffer, self._dropped = bytearray(), 0
        return line, dropped


def read_frames(line: bytes, dropped: int = 0) -> list[RpcFrame]:
    """Parse a line: one frame, or those of a batch; no frame for an empty line."""
    if not line.strip():
        return []
    if dropped:
        return [_unreadable_frame(line, f"a frame of {len(line) + dropped:,} bytes is too long")]
    try:
        value, flaw = parse(line)
        if _is_too_deep(value):
            raise NotJson("nested too deeply")
    except NotJson as error:
        return [_unreadable_frame(line, f"this is no frame: {error}")]
    value = without_surrogates(value) if flaw else value
    if isinstance(value, list) and value:
        return [_to_frame(item) for item in value]
    return [_to_frame(value)]


def _is_too_deep(value: Json) -> bool:
    """Whether a value is nested deeper than MAX_DEPTH, checked without recursion."""
    level: list[Json] = [value]
    for _ in range(MAX_DEPTH):
        below: list[Json] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        if not below:
            return False
        level = below
    return True


def _to_frame(value: Json) -> RpcFrame:
    if not isinstance(value, dict):
        return RpcFrame(flaw="a frame is a JSON object", code=INVALID_REQUEST)
    name = _valid_id(value.get("id"))
    method, params = value.get("method"), value.get("params", {})
    if "method" not in value and ("result" in value or "error" in value):
        return RpcFrame()  # an answer, although we send no requests
    if value.get("jsonrpc") != "2.0" or not isinstance(method, str):
        reason = 'a frame has `jsonrpc` "2.0" and a `method`'
        return RpcFrame(id=name, flaw=reason, code=INVALID_REQUEST)
    if "id" in value and name is None:
        reason = "an id is a text or a number"
        return RpcFrame(flaw=reason, code=INVALID_REQUEST)
    if params is not None and not isinstance(params, dict):
        return RpcFrame(method, id=name, flaw="`params` is an object", code=-32602)
    return RpcFrame(method, as_object(params), name)


def _valid_id(value: Json) -> Id | None:
    return value if isinstance(value, int | float | str) and not isinstance(value, bool) else None


def _unreadable_frame(line: bytes, reason: str) -> RpcFrame:
    return RpcFrame(id=find_id(line), flaw=reason, code=PARSE_ERROR)


def find_id(line: bytes) -> Id | None:
    """Find the id of a frame that cannot be parsed, as a member of the outermost object."""
    near_start = _id_near_start(line[:ID_SEARCH_BYTES])
    return near_start if near_start is not None else _id_near_end(line[-ID_SEARCH_BYTES:])


def _id_near_start(text: bytes) -> Id | None:
    """Return the value of the first `"id"` that is a member of the outermost object."""
    depth, mark = 0, _JSON_SIGN.search(text)
    while mark is not None:
        at, sign = mark.end(), mark.group()
        if sign == b'"':
            at = _string_end(text, at)
            if depth == 1 and text[mark.start() : at] == b'"id"':
                value = _ID_VALUE.match(text, at)
                if value is not None:
                    return _parse_id(value.group(1))
        else:
            depth += 1 if sign in b"{[" else -1
        mark = _JSON_SIGN.search(text, at)
    return None


def _string_end(text: bytes, at: int) -> int:
    """Return the offset after a string that began before `at`."""
    sign = _QUOTE_OR_BACKSLASH.search(text, at)
    while sign is not None and sign.group() == b"\\":
        sign = _QUOTE_OR_BACKSLASH.search(text, sign.end() + 1)
    return len(text) if sign is None else sign.end()


def _id_near_end(text: bytes) -> Id | None:
    """Return the value of the last `"id"`, if only `jsonrpc` and `method` follow it."""
    at = text.rfind(b'"id"')
    value = _ID_VALUE.match(text, at + 4) if at >= 0 else None
    if value is None or _FRAME_END.match(text, value.end()) is None:
        return None
    return _parse_id(value.group(1))


def _parse_id(raw: bytes) -> Id | None:
    try:
        return _valid_id(without_surrogates(parse(raw)[0]))
    except NotJson:
        return None
