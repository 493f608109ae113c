"""Piece: one message or line of a document, as bytes and as far as it can be read."""

from msgspec import Struct

from holdfast.text.jsontext import Json, NotJson, as_object, cleaned, parse

SPACE = b" \t\r\n"
MARK = b"\xef\xbb\xbf"
"""The byte order mark that some editors put at the beginning of a file."""


LONGEST = 64 * 1024 * 1024
"""Bytes of a line that is still read, twice what any provider takes; a longer one is only kept."""


class Piece(Struct, frozen=True):
    """One message or line of a document."""

    raw: bytes
    lead: bytes = b""
    value: dict[str, Json] | None = None
    """What it says; nothing when it is no JSON object or only a part of the frame."""
    flaw: str = ""
    noise: bool = False
    """Whether it is what stood around something that could be read."""
    line: int = 0
    """Which line of the document it stands in; 0 when that was not counted."""


def read_object(raw: bytes, lead: bytes = b"", *, line: int = 0) -> Piece:
    """A piece that should be one JSON object."""
    try:
        value, flaw = parse(raw)
    except NotJson as error:
        return Piece(raw, lead, flaw=str(error), line=line)
    if not isinstance(value, dict):
        return Piece(raw, lead, flaw="not a JSON object", line=line)
    said = as_object(cleaned(value)) if flaw else value
    return Piece(raw, lead, said, flaw or "", line=line)
