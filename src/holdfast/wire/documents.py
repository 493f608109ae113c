"""Documents: what a file or a request body holds, cut into the pieces that become sightings.

Cutting loses nothing: the pieces' `lead` and `raw`, one after the other, are the document. A
piece that cannot be read is still a piece; its flaw says why.
"""

from collections.abc import Iterator
from itertools import chain, islice
from typing import BinaryIO

from msgspec import Struct

from holdfast.text.jsontext import NotJson, as_object, parse
from holdfast.wire import arrays, opaque_lines
from holdfast.wire.detect import wire_of_array, wire_of_lines
from holdfast.wire.jsonl import cut_lines
from holdfast.wire.pieces import LONGEST, MARK, SPACE, Piece

SNIFFED = 200
"""Lines looked at to tell what a file is."""
LONGEST_OPENING = 200
"""Bytes that the first line of a pretty-printed object has at the most."""


class Opened(Struct, frozen=True):
    """A document that was told apart: its wire, and its pieces still to be cut."""

    wire: str
    pieces: Iterator[Piece]


def open_document(stream: BinaryIO, *, wire: str = "") -> Opened:
    """Tell what a stream holds and start cutting it.

    Without a name the wire is found by looking; what fits none is read as opaque lines.
    """
    head = list(islice(_split(stream), SNIFFED))
    if wire != opaque_lines.NAME and _is_one_value(head):
        return _open_array(b"".join(chain(head, _split(stream))), wire)
    found = wire or wire_of_lines(cut_lines(head))
    everything = chain(_drained(head), _split(stream))
    return Opened(found, cut_lines(everything, opaque=found == opaque_lines.NAME))


def _drained(raws: list[bytes]) -> Iterator[bytes]:
    """Lines given away one by one: the longest ones need not be kept."""
    raws.reverse()
    while raws:
        yield raws.pop()


def _split(stream: BinaryIO) -> Iterator[bytes]:
    return iter(stream.readline, b"")


def _open_array(data: bytes, wire: str) -> Opened:
    pieces = arrays.cut(data)
    found = (wire or wire_of_array(pieces)) if pieces else opaque_lines.NAME
    if found == opaque_lines.NAME:
        raws = data.splitlines(keepends=True)
        return Opened(found, cut_lines(raws, opaque=True))
    return Opened(found, iter(pieces))


def _is_one_value(head: list[bytes]) -> bool:
    """Whether the lines are one JSON value and not one value each."""
    # The beginnings are enough to look at: the longest lines need not be copied.
    filled = [line for line in head if line[:LONGEST_OPENING].strip(SPACE)]
    opening = filled[0][:LONGEST_OPENING].strip(SPACE + MARK)[:1] if filled else b""
    if opening != b"{" or len(filled[0]) > LONGEST:
        return opening == b"["
    first = filled[0].strip(SPACE + MARK)
    try:
        value, _ = parse(first)
    except NotJson:
        begins = len(first) < LONGEST_OPENING and not first.endswith(b"}")
        return (begins and len(filled) > 1) or _is_cut_off(filled)
    return len(filled) == 1 and any(
        isinstance(as_object(value).get(key), list) for key in arrays.LISTS
    )


def _is_cut_off(filled: list[bytes]) -> bool:
    """Whether the one line there is looks like a request body that breaks off."""
    return len(filled) == 1 and any(
        b'"%s"' % key.encode() in filled[0][:LONGEST_OPENING] for key in arrays.LISTS
    )
