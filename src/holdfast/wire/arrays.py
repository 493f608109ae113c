"""Documents that are one JSON value: an array of messages, bare or inside a request body."""

import re

import msgspec

from holdfast.wire.pieces import MARK, SPACE, Piece, read_object

LISTS = ("messages", "input")
"""Members of a request body that hold its messages."""
TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{}\[\]]', re.DOTALL)
"""A string, or a bracket outside one. A string that is not closed reaches to the end, so that
nothing is tried again behind its first quote: every byte is looked at once."""


DEEPEST = 1_000
"""Levels of nesting that any reader follows."""


def cut(data: bytes) -> list[Piece]:
    """The messages of a document, each with the bytes before it; nothing when there are none.

    An array that breaks off gives the messages that are whole. The last piece is the frame's end.
    """
    start, end = _span(data)
    if start < 0:
        return []
    spots = _spots(data, start, end)
    pieces: list[Piece] = []
    before = 0
    for begin, stop in spots:
        pieces.append(read_object(data[begin:stop], data[before:begin]))
        before = stop
    return [*pieces, *_rest(data[before:])] if pieces else []


def _rest(data: bytes) -> list[Piece]:
    if not data:
        return []
    whole = data.strip(SPACE)[:1] == b"]"
    return [Piece(data, flaw="" if whole else "the JSON ends in the middle")]


def _span(data: bytes) -> tuple[int, int]:
    """Where the array of messages begins, and where it ends if that is known (else -1)."""
    start = _skip(data, len(MARK) if data.startswith(MARK) else 0)
    if data[start : start + 1] == b"[":
        return start, -1
    try:
        frame = msgspec.json.decode(memoryview(data)[start:], type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _find_list(data), -1
    for key in LISTS:
        raw = bytes(frame[key]) if key in frame else b""
        if raw[:1] == b"[":
            at = data.rfind(raw)
            return at, at + len(raw)
    return -1, -1


def _find_list(data: bytes) -> int:
    """Where the messages of a damaged request body begin."""
    for key in LISTS:
        at = data.find(b'"%s"' % key.encode())
        at = _skip(data, data.find(b":", at) + 1) if at >= 0 else -1
        if at >= 0 and data[at : at + 1] == b"[":
            return at
    return -1


def _spots(data: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """Begin and end of each element of the array that begins at `start`."""
    try:
        whole = memoryview(data)[start:] if end < 0 else memoryview(data)[start:end]
        sizes = [len(memoryview(raw)) for raw in msgspec.json.decode(whole, type=list[msgspec.Raw])]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _whole_spots(data, start + 1)
    spots: list[tuple[int, int]] = []
    at = start + 1
    for size in sizes:
        begin = _skip(data, at, b",")
        at = begin + size
        spots.append((begin, at))
    return spots


def _whole_spots(data: bytes, at: int) -> list[tuple[int, int]]:
    """The same for an array that breaks off or holds something strict readers refuse."""
    spots: list[tuple[int, int]] = []
    while (end := end_of_value(data, begin := _skip(data, at, b","))) > 0:
        spots.append((begin, end))
        at = end
    return spots


def end_of_value(data: bytes, start: int) -> int:
    """Where the object or array that begins at `start` ends; -1 when it does not, or not soon."""
    if data[start : start + 1] not in (b"{", b"["):
        return -1
    level = 0
    for token in TOKEN.finditer(data, start):
        if token[0] in (b"{", b"["):
            level += 1
            if level > DEEPEST:
                return -1
        elif token[0] in (b"}", b"]"):
            level -= 1
            if level == 0:
                return token.end()
    return -1


def _skip(data: bytes, at: int, also: bytes = b"") -> int:
    skipped = SPACE + also
    while at < len(data) and data[at] in skipped:
        at += 1
    return at
