"""Documents of one JSON object a line, as agents write them and as crashes leave them.

A line is cut into pieces: mostly one. A line torn off half-way often has the next one right behind
it; a crash of the machine leaves runs of NUL bytes. Noise becomes a piece of its own, and what
stands around it is read. White space and line ends lie between the pieces.
"""

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from holdfast.text.jsontext import Json
from holdfast.wire.arrays import end_of_value
from holdfast.wire.pieces import LONGEST, MARK, SPACE, Piece, read_object

EFFORT = 64 * 1024 * 1024
TRIES = 2_000
"""Bytes looked at, and places tried, in search of a record inside one torn line."""
NOISE = b"\0" + MARK + SPACE
_NOISE = re.compile(b"[%s]++" % re.escape(NOISE))
RECORDS = ("role", "type", "payload", "messages")
"""Members of which every record we read has one; a part of a record seldom does."""


def cut_lines(raws: Iterable[bytes], *, opaque: bool = False) -> Iterator[Piece]:
    """The pieces of a document, line by line; the last is what stands behind the last one.

    Opaque lines are cut and not read.
    """
    lead, number = b"", 0
    for raw in raws:
        number += 1
        if not opaque and raw[:1] == b"{" and raw[-2:] == b"}\n" and len(raw) <= LONGEST:
            raw = raw[:-1]  # noqa: PLW2901 - the longest lines need not be there twice
            piece = read_object(raw, lead, line=number)
            if piece.value is not None:
                # Given away, not kept: whoever waits here would hold the longest lines twice.
                given = [piece]
                del piece, raw
                yield given.pop()
                lead = b"\n"
                continue
            raw += b"\n"  # noqa: PLW2901
        text = raw.strip(SPACE)
        start = raw.index(text[:1]) if text else len(raw)
        lead, after = lead + raw[:start], raw[start + len(text) :]
        del raw  # the longest lines need not be there twice
        for piece in _pieces(text, opaque=opaque):
            yield replace(piece, lead=lead, line=number)
            lead = b""
        lead += after
    if lead:
        yield Piece(b"", lead, line=number)


def _pieces(text: bytes, *, opaque: bool) -> list[Piece]:
    if not text:
        return []
    return [Piece(text)] if opaque and len(text) <= LONGEST else read_line(text)


def read_line(text: bytes) -> list[Piece]:
    """A line and what it says, as far as it can be read."""
    if len(text) > LONGEST:
        limit = LONGEST // (1024 * 1024)
        return [Piece(text, flaw=f"{len(text):,} bytes in one line; over {limit} MiB is not read")]
    piece = read_object(text)
    if piece.value is not None:
        return [piece]
    return _salvaged(text) or [piece]


def _salvaged(text: bytes) -> list[Piece]:
    """The records inside a line that is more than one, or less; nothing when there are none."""
    whole = _records(text, 0)
    if whole:
        return whole
    at, effort, tries = 0, 0, 0
    # Records reach to the end of the line; anything else is a part of what was torn.
    closed = text.rstrip(NOISE)[-1:] == b"}"
    while closed and effort < EFFORT and tries < TRIES:
        at, tries = text.find(b'{"', at + 1), tries + 1
        if at < 0:
            break
        end = end_of_value(text, at)
        effort += (end if end > 0 else len(text)) - at
        if end > 0 and (found := _records(text, at)):
            reason = f"{at:,} bytes of a torn line stand before the next"
            return [Piece(text[:at], flaw=reason, noise=True), *found]
    return []


def _records(text: bytes, at: int) -> list[Piece]:
    """Whole records one behind the other from here to the end, with the noise between them."""
    pieces: list[Piece] = []
    while at < len(text):
        between = _NOISE.match(text, at)
        if between is not None:
            noise = between[0]
            pieces.append(Piece(noise, flaw=_noise(noise), noise=True))
            at = between.end()
            continue
        end = end_of_value(text, at)
        piece = read_object(text[at:end]) if end > 0 else None
        if piece is None or not _is_record(piece.value):
            return []
        again = any(known.value is not None for known in pieces)
        pieces.append(replace(piece, flaw="a second record on one line") if again else piece)
        at = end
    return pieces if any(piece.value is not None for piece in pieces) else []


def _is_record(value: dict[str, Json] | None) -> bool:
    return value is not None and any(key in value for key in RECORDS)


def _noise(noise: bytes) -> str:
    return "NUL bytes" if b"\0" in noise else "a byte order mark"
