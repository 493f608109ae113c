"""Cut a document that is one JSON array of messages, bare or in a request body, into pieces."""

import re

import msgspec

from holdfast.text.patterns import Pattern
from holdfast.wire.pieces import BYTE_ORDER_MARK, WHITESPACE, Piece, read_object

MESSAGE_LIST_KEYS = ("messages", "input")
"""Keys of a request body that hold its messages."""
# Matches '{', ']', '"a \"quoted\" }"' and the unclosed '"abc'; must not match the '}' in a string.
TOKEN = Pattern(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{}\[\]]', re.DOTALL)
"""A string, or a bracket outside a string. An unclosed string matches up to the end of the data, so
that every byte is scanned only once."""


MAX_NESTING = 1_000
"""Deepest nesting that is read."""


def cut_array(data: bytes) -> list[Piece]:
    """Return the messages of a document, each with the bytes before it; empty if there are none.

    Of an array that breaks off, the complete messages are returned. The last piece holds the bytes
    after the last message.
    """
    start, end = _find_array(data)
    if start < 0:
        return []
    spots = _element_spans(data, start, end)
    pieces: list[Piece] = []
    before = 0
    for begin, stop in spots:
        pieces.append(read_object(data[begin:stop], data[before:begin]))
        before = stop
    return [*pieces, *_frame_end(data[before:])] if pieces else []


def _frame_end(data: bytes) -> list[Piece]:
    if not data:
        return []
    whole = data.strip(WHITESPACE)[:1] == b"]"
    return [Piece(data, flaw="" if whole else "the JSON ends in the middle")]


def _find_array(data: bytes) -> tuple[int, int]:
    """Return the start of the array of messages, and its end if that is known (else -1)."""
    start = _skip(data, len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0)
    if data[start : start + 1] == b"[":
        return start, -1
    try:
        frame = msgspec.json.decode(memoryview(data)[start:], type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _find_damaged_array(data), -1
    for key in MESSAGE_LIST_KEYS:
        raw = bytes(frame[key]) if key in frame else b""
        if raw[:1] == b"[":
            at = data.rfind(raw)
            return at, at + len(raw)
    return -1, -1


def _find_damaged_array(data: bytes) -> int:
    """Return the start of the array of messages in a damaged request body, or -1."""
    for key in MESSAGE_LIST_KEYS:
        at = data.find(b'"%s"' % key.encode())
        at = _skip(data, data.find(b":", at) + 1) if at >= 0 else -1
        if at >= 0 and data[at : at + 1] == b"[":
            return at
    return -1


def _element_spans(data: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """Return the start and end of each element of the array that starts at `start`."""
    try:
        whole = memoryview(data)[start:] if end < 0 else memoryview(data)[start:end]
        sizes = [len(memoryview(raw)) for raw in msgspec.json.decode(whole, type=list[msgspec.Raw])]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _scan_element_spans(data, start + 1)
    spots: list[tuple[int, int]] = []
    at = start + 1
    for size in sizes:
        begin = _skip(data, at, b",")
        at = begin + size
        spots.append((begin, at))
    return spots


def _scan_element_spans(data: bytes, at: int) -> list[tuple[int, int]]:
    """Return the same for an array that breaks off or that a strict JSON parser refuses."""
    spots: list[tuple[int, int]] = []
    while (end := end_of_value(data, begin := _skip(data, at, b","))) > 0:
        spots.append((begin, end))
        at = end
    return spots


def end_of_value(data: bytes, start: int) -> int:
    """Return the end of the object or array at `start`; -1 if it is not closed or too deep."""
    if data[start : start + 1] not in (b"{", b"["):
        return -1
    level = 0
    for token in TOKEN.finditer(data, start):
        if token[0] in (b"{", b"["):
            level += 1
            if level > MAX_NESTING:
                return -1
        elif token[0] in (b"}", b"]"):
            level -= 1
            if level == 0:
                return token.end()
    return -1


def _skip(data: bytes, at: int, also: bytes = b"") -> int:
    skipped = WHITESPACE + also
    while at < len(data) and data[at] in skipped:
        at += 1
    return at
