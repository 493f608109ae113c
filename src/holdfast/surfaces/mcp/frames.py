"""Frames: one line of JSON each, and whatever else a client may send.

Nothing that bears an id goes without an answer. A line that no reader can make sense of, or that is
too long to keep, is looked at from both ends for the id of its sender.
"""

import re
from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct

from holdfast.text.jsontext import Json, NotJson, as_object, cleaned, parse

Id: TypeAlias = int | float | str

LONGEST = 16 * 1024 * 1024
"""Bytes of a line that is still read; far more than any call of ours takes."""
REACH = 64 * 1024
"""Bytes at either end of a line that are looked at for an id."""
DEEPEST = 200
"""Levels of nesting that are still answered: more than any call has, less than breaks a reader."""

PARSE_ERROR, INVALID_REQUEST = -32700, -32600

_MARK = re.compile(rb'["{}\[\]]')
_ENDS = re.compile(rb'["\\]')
_VALUE = re.compile(
    rb'[ \t]{0,8}:[ \t]{0,8}("(?:[^"\\\x00-\x1f]|\\.){0,128}"|-?\d{1,18})[ \t]{0,8}(?=[,}])'
)
_CLOSED = re.compile(
    rb'(?:,[ \t]{0,8}"(?:jsonrpc|method)"[ \t]{0,8}:[ \t]{0,8}"[^"\\]{0,64}"[ \t]{0,8}){0,2}'
    rb"\}\s{0,8}$"
)


class Frame(Struct, frozen=True):
    """One thing that a client said."""

    method: str = ""
    """Empty for an answer to something that we asked, which we never do."""
    params: dict[str, Json] = {}
    id: Id | None = None
    """What its answer has to name; nothing for a notification."""
    flaw: str = ""
    """Why it cannot be acted on; then it only wants an answer that says so."""
    code: int = 0


class Lines:
    """Cuts what comes in into lines; of one that is too long, only its ends are kept."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._kept = bytearray()
        self._lost = 0

    def feed(self, chunk: bytes) -> Iterator[tuple[bytes, int]]:
        """Every line that this completes, and how many bytes of its middle were let go of."""
        first, *rest = chunk.split(b"\n")
        self._keep(first)
        for part in rest:
            yield self._take()
            self._keep(part)

    def end(self) -> Iterator[tuple[bytes, int]]:
        """What stood there when the client left in the middle of a line."""
        if self._kept:
            yield self._take()

    def _keep(self, part: bytes) -> None:
        self._kept += part
        if len(self._kept) > self._longest:
            gone = len(self._kept) - 2 * REACH
            del self._kept[REACH : REACH + gone]
            self._lost += gone

    def _take(self) -> tuple[bytes, int]:
        line, lost = bytes(self._kept), self._lost
        self._kept, self._lost = bytearray(), 0
        return line, lost


def read_frames(line: bytes, lost: int = 0) -> list[Frame]:
    """What a line says: one frame, or those of a batch; nothing for an empty line."""
    if not line.strip():
        return []
    if lost:
        return [_broken(line, f"a frame of {len(line) + lost:,} bytes is too long")]
    try:
        value, flaw = parse(line)
        if _too_deep(value):
            raise NotJson("nested too deeply")
    except NotJson as error:
        return [_broken(line, f"this is no frame: {error}")]
    value = cleaned(value) if flaw else value
    if isinstance(value, list) and value:
        return [_frame(one) for one in value]
    return [_frame(value)]


def _too_deep(value: Json) -> bool:
    """Whether a value is nested deeper than we follow, found level by level."""
    level: list[Json] = [value]
    for _ in range(DEEPEST):
        below: list[Json] = []
        for one in level:
            if isinstance(one, dict):
                below.extend(one.values())
            elif isinstance(one, list):
                below.extend(one)
        if not below:
            return False
        level = below
    return True


def _frame(value: Json) -> Frame:
    if not isinstance(value, dict):
        return Frame(flaw="a frame is a JSON object", code=INVALID_REQUEST)
    name = _id(value.get("id"))
    method, params = value.get("method"), value.get("params", {})
    if "method" not in value and ("result" in value or "error" in value):
        return Frame()  # an answer: nothing was asked
    if value.get("jsonrpc") != "2.0" or not isinstance(method, str):
        reason = 'a frame has `jsonrpc` "2.0" and a `method`'
        return Frame(id=name, flaw=reason, code=INVALID_REQUEST)
    if "id" in value and name is None:
        reason = "an id is a text or a number"
        return Frame(flaw=reason, code=INVALID_REQUEST)
    if params is not None and not isinstance(params, dict):
        return Frame(method, id=name, flaw="`params` is an object", code=-32602)
    return Frame(method, as_object(params), name)


def _id(value: Json) -> Id | None:
    return value if isinstance(value, int | float | str) and not isinstance(value, bool) else None


def _broken(line: bytes, reason: str) -> Frame:
    return Frame(id=id_of(line), flaw=reason, code=PARSE_ERROR)


def id_of(line: bytes) -> Id | None:
    """The id of a frame that cannot be read, where it stands at the top of the object."""
    found = _near_the_beginning(line[:REACH])
    return found if found is not None else _near_the_end(line[-REACH:])


def _near_the_beginning(text: bytes) -> Id | None:
    """The first `"id"` that is a member of the outermost object."""
    depth, mark = 0, _MARK.search(text)
    while mark is not None:
        at, sign = mark.end(), mark.group()
        if sign == b'"':
            at = _end_of_text(text, at)
            if depth == 1 and text[mark.start() : at] == b'"id"':
                found = _VALUE.match(text, at)
                if found is not None:
                    return _told(found.group(1))
        else:
            depth += 1 if sign in b"{[" else -1
        mark = _MARK.search(text, at)
    return None


def _end_of_text(text: bytes, at: int) -> int:
    """Where a string that began before `at` is over."""
    found = _ENDS.search(text, at)
    while found is not None and found.group() == b"\\":
        found = _ENDS.search(text, found.end() + 1)
    return len(text) if found is None else found.end()


def _near_the_end(text: bytes) -> Id | None:
    """The last `"id"`, if nothing but what a frame ends with stands behind it."""
    at = text.rfind(b'"id"')
    found = _VALUE.match(text, at + 4) if at >= 0 else None
    if found is None or _CLOSED.match(text, found.end()) is None:
        return None
    return _told(found.group(1))


def _told(raw: bytes) -> Id | None:
    try:
        return _id(cleaned(parse(raw)[0]))
    except NotJson:
        return None
