"""Define `Piece`: one message or line of a document, as bytes and as a JSON object."""

from msgspec import Struct

from holdfast.text.jsontext import Json, NotJson, as_object, parse, without_surrogates

WHITESPACE = b" \t\r\n"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""The UTF-8 byte order mark that some editors write at the start of a file."""


MAX_LINE_BYTES = 64 * 1024 * 1024
"""Longest line that is parsed, twice what any provider accepts; a longer line is only stored."""


class Piece(Struct, frozen=True):
    """One message or line of a document."""

    raw: bytes
    lead: bytes = b""
    value: dict[str, Json] | None = None
    """The parsed object; None if it is not a JSON object or only bytes between messages."""
    flaw: str = ""
    noise: bool = False
    """Whether it is noise beside a record that could be read."""
    line: int = 0
    """The line number in the document; 0 if lines are not counted."""


def read_object(raw: bytes, lead: bytes = b"", *, line: int = 0) -> Piece:
    """Parse bytes as one JSON object and return the piece; if that fails, its flaw says why."""
    try:
        value, flaw = parse(raw)
    except NotJson as error:
        return Piece(raw, lead, flaw=str(error), line=line)
    if not isinstance(value, dict):
        return Piece(raw, lead, flaw="not a JSON object", line=line)
    clean = as_object(without_surrogates(value)) if flaw else value
    return Piece(raw, lead, clean, flaw or "", line=line)
