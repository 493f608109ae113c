"""Detect the format of a file or request body and cut it into pieces, which become sightings.

Cutting loses nothing: the `lead` and `raw` of all pieces, concatenated, are the document. A piece
that cannot be read has a `flaw` that says why.
"""

from collections.abc import Iterator
from itertools import chain, islice
from typing import BinaryIO

from msgspec import Struct

from holdfast.text.jsontext import NotJson, as_object, parse
from holdfast.wire import arrays, opaque_lines
from holdfast.wire.detect import wire_of_array, wire_of_lines
from holdfast.wire.jsonl import cut_lines
from holdfast.wire.pieces import BYTE_ORDER_MARK, MAX_LINE_BYTES, WHITESPACE, Piece

SNIFFED_LINES = 200
"""Lines that are read to detect the format."""
MAX_OPENING_BYTES = 200
"""Longest first line of a pretty-printed object."""


class OpenDocument(Struct, frozen=True):
    """A document of a detected wire, with an iterator that cuts its pieces."""

    wire: str
    pieces: Iterator[Piece]


def open_document(stream: BinaryIO, *, wire: str = "") -> OpenDocument:
    """Detect the wire of a stream and start cutting it into pieces.

    With `wire`, nothing is detected. A document that fits no wire is read as opaque lines.
    """
    head = list(islice(_read_lines(stream), SNIFFED_LINES))
    if wire != opaque_lines.NAME and _is_one_value(head):
        return _open_array(b"".join(chain(head, _read_lines(stream))), wire)
    name = wire or wire_of_lines(cut_lines(head))
    everything = chain(_pop_each(head), _read_lines(stream))
    return OpenDocument(name, cut_lines(everything, opaque=name == opaque_lines.NAME))


def _pop_each(raws: list[bytes]) -> Iterator[bytes]:
    """Yield the lines and remove them from the list, so that long lines are freed early."""
    raws.reverse()
    while raws:
        yield raws.pop()


def _read_lines(stream: BinaryIO) -> Iterator[bytes]:
    return iter(stream.readline, b"")


def _open_array(data: bytes, wire: str) -> OpenDocument:
    pieces = arrays.cut_array(data)
    name = (wire or wire_of_array(pieces)) if pieces else opaque_lines.NAME
    if name == opaque_lines.NAME:
        raws = data.splitlines(keepends=True)
        return OpenDocument(name, cut_lines(raws, opaque=True))
    return OpenDocument(name, iter(pieces))


def _is_one_value(head: list[bytes]) -> bool:
    """Return whether the lines are one JSON value and not one value each."""
    # Only the start of each line is copied, as lines may be very long.
    not_empty = [line for line in head if line[:MAX_OPENING_BYTES].strip(WHITESPACE)]
    opening = (
        not_empty[0][:MAX_OPENING_BYTES].strip(WHITESPACE + BYTE_ORDER_MARK)[:1]
        if not_empty
        else b""
    )
    if opening != b"{" or len(not_empty[0]) > MAX_LINE_BYTES:
        return opening == b"["
    first = not_empty[0].strip(WHITESPACE + BYTE_ORDER_MARK)
    try:
        value, _ = parse(first)
    except NotJson:
        is_opening = len(first) < MAX_OPENING_BYTES and not first.endswith(b"}")
        return (is_opening and len(not_empty) > 1) or _is_cut_off(not_empty)
    return len(not_empty) == 1 and any(
        isinstance(as_object(value).get(key), list) for key in arrays.MESSAGE_LIST_KEYS
    )


def _is_cut_off(not_empty: list[bytes]) -> bool:
    """Return whether the only line looks like a request body that breaks off."""
    return len(not_empty) == 1 and any(
        b'"%s"' % key.encode() in not_empty[0][:MAX_OPENING_BYTES]
        for key in arrays.MESSAGE_LIST_KEYS
    )
