"""Documents of one JSON object a line, as agents write them and as crashes leave them.

A line torn off half-way often has the next one right behind it; a crash of the machine leaves
runs of NUL bytes. What stands behind such noise is read; the noise stays in the bytes.
"""

from holdfast.wire.pieces import MARK, SPACE, Piece, read_object

LONGEST = 256 * 1024 * 1024
"""Bytes of a line that is still read; a longer one is kept and not read."""
TRIES = 64
"""Places tried as the beginning of an object inside a torn line."""
NOISE = b"\0" + MARK + SPACE


def read_line(raw: bytes) -> Piece:
    """A line and what it says, as far as it can be read."""
    if len(raw) > LONGEST:
        limit = LONGEST // (1024 * 1024)
        return Piece(raw, flaw=f"{len(raw):,} bytes in one line; over {limit} MiB is not read")
    piece = read_object(raw)
    if piece.value is not None:
        return piece
    text = raw.strip(SPACE)
    if not text:
        return Piece(raw)
    start = _beginning(text)
    if start is None:
        return Piece(raw, flaw=piece.flaw)
    value = read_object(text[start:].rstrip(b"\0")).value
    return Piece(raw, value=value, flaw=_noise(text[:start]))


def json_of(raw: bytes) -> bytes:
    """The JSON object inside a line's bytes, noise before it left out."""
    text = raw.strip(SPACE)
    if read_object(text).value is not None:
        return text
    return text[_beginning(text) or 0 :].rstrip(b"\0")


def _beginning(text: bytes) -> int | None:
    """Where an object begins that ends the line, behind something else."""
    clean = len(text) - len(text.lstrip(NOISE))
    places = [clean] if clean else []
    at = clean
    while len(places) < TRIES and (at := text.find(b'{"', at + 1)) >= 0:
        places.append(at)
    readable = (at for at in places if read_object(text[at:].rstrip(b"\0")).value is not None)
    return next(readable, None)


def _noise(noise: bytes) -> str:
    if noise.strip(NOISE):
        return f"{len(noise):,} bytes of a torn line stand before it"
    return "NUL bytes stand before it" if b"\0" in noise else "begins with a byte order mark"
