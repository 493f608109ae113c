"""Cut documents of one JSON object a line into pieces, including damaged lines.

A line is usually one piece. A line that was torn by a crash often has the next record directly
after it, and a machine crash leaves runs of NUL bytes. Such noise becomes a piece of its own, and
the records around it are read. White space and line ends are stored between the pieces.
"""

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from holdfast.text.jsontext import Json
from holdfast.text.patterns import Pattern
from holdfast.wire.arrays import end_of_value
from holdfast.wire.pieces import BYTE_ORDER_MARK, MAX_LINE_BYTES, WHITESPACE, Piece, read_object

MAX_SCANNED_BYTES = 64 * 1024 * 1024
MAX_STARTS = 2_000
"""Limits of the search for a record inside one torn line: bytes scanned, positions tried."""
NOISE_BYTES = b"\0" + BYTE_ORDER_MARK + WHITESPACE
# Matches a run of NUL bytes, byte order marks and white space; must not match b"{".
_NOISE_RUN = Pattern(b"[%s]++" % re.escape(NOISE_BYTES))
RECORD_KEYS = ("role", "type", "payload", "messages")
"""Every record has one of these keys; a fragment of a record rarely does."""


def cut_lines(raws: Iterable[bytes], *, opaque: bool = False) -> Iterator[Piece]:
    """Yield the pieces of a document; the last one holds the bytes after the last line's piece.

    With `opaque`, the lines are cut but not parsed.
    """
    lead, number = b"", 0
    for raw in raws:
        number += 1
        if not opaque and raw[:1] == b"{" and raw[-2:] == b"}\n" and len(raw) <= MAX_LINE_BYTES:
            raw = raw[:-1]  # noqa: PLW2901 - no second copy of a long line
            piece = read_object(raw, lead, line=number)
            if piece.value is not None:
                # Keep no reference to the piece while suspended, so that a long line is freed.
                taken = [piece]
                del piece, raw
                yield taken.pop()
                lead = b"\n"
                continue
            raw += b"\n"  # noqa: PLW2901
        text = raw.strip(WHITESPACE)
        start = raw.index(text[:1]) if text else len(raw)
        lead, after = lead + raw[:start], raw[start + len(text) :]
        del raw  # no second copy of a long line
        for piece in _cut_text(text, opaque=opaque):
            yield replace(piece, lead=lead, line=number)
            lead = b""
        lead += after
    if lead:
        yield Piece(b"", lead, line=number)


def _cut_text(text: bytes, *, opaque: bool) -> list[Piece]:
    if not text:
        return []
    return [Piece(text)] if opaque and len(text) <= MAX_LINE_BYTES else cut_line(text)


def cut_line(text: bytes) -> list[Piece]:
    """Return the pieces of a line, parsed as far as possible."""
    if len(text) > MAX_LINE_BYTES:
        limit = MAX_LINE_BYTES // (1024 * 1024)
        return [Piece(text, flaw=f"{len(text):,} bytes in one line; over {limit} MiB is not read")]
    piece = read_object(text)
    if piece.value is not None:
        return [piece]
    return _salvage(text) or [piece]


def _salvage(text: bytes) -> list[Piece]:
    """Return the records in a line that holds several or a torn one; empty if there are none."""
    whole = _records(text, 0)
    if whole:
        return whole
    at, scanned, tries = 0, 0, 0
    # A record extends to the end of the line; otherwise it is a fragment of the torn record.
    closed = text.rstrip(NOISE_BYTES)[-1:] == b"}"
    while closed and scanned < MAX_SCANNED_BYTES and tries < MAX_STARTS:
        at, tries = text.find(b'{"', at + 1), tries + 1
        if at < 0:
            break
        end = end_of_value(text, at)
        scanned += (end if end > 0 else len(text)) - at
        if end > 0 and (records := _records(text, at)):
            reason = f"{at:,} bytes of a torn line precede the next record"
            return [Piece(text[:at], flaw=reason, noise=True), *records]
    return []


def _records(text: bytes, at: int) -> list[Piece]:
    """Return the records and the noise from `at` to the end; empty if anything else is there."""
    pieces: list[Piece] = []
    while at < len(text):
        between = _NOISE_RUN.match(text, at)
        if between is not None:
            noise = between[0]
            pieces.append(Piece(noise, flaw=_describe_noise(noise), noise=True))
            at = between.end()
            continue
        end = end_of_value(text, at)
        piece = read_object(text[at:end]) if end > 0 else None
        if piece is None or not _is_record(piece.value):
            return []
        is_second = any(known.value is not None for known in pieces)
        pieces.append(replace(piece, flaw="a second record on one line") if is_second else piece)
        at = end
    return pieces if any(piece.value is not None for piece in pieces) else []


def _is_record(value: dict[str, Json] | None) -> bool:
    return value is not None and any(key in value for key in RECORD_KEYS)


def _describe_noise(noise: bytes) -> str:
    return "NUL bytes" if b"\0" in noise else "a byte order mark"
