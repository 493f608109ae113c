"""Detect the wire of messages, lines and documents by their content."""

from collections.abc import Iterable

from holdfast.text.jsontext import Json
from holdfast.wire import (
    anthropic,
    claude_code,
    codex,
    gemini,
    opaque_lines,
    openai_chat,
    openai_responses,
    opencode,
)
from holdfast.wire.pieces import Piece
from holdfast.wire.wire import MessageWire, TranscriptWire

MESSAGE_WIRES: dict[str, MessageWire] = {
    anthropic.NAME: anthropic,
    openai_chat.NAME: openai_chat,
    openai_responses.NAME: openai_responses,
}
TRANSCRIPT_WIRES: dict[str, TranscriptWire] = {
    claude_code.NAME: claude_code,
    codex.NAME: codex,
    gemini.NAME: gemini,
    opencode.NAME: opencode,
}
WIRES = (*MESSAGE_WIRES, *TRANSCRIPT_WIRES, opaque_lines.NAME)

DEFAULT_MESSAGE_WIRE = openai_chat.NAME
"""Used for messages of plain text, which are the same in every format: the most common one."""


def wire_of_lines(pieces: Iterable[Piece]) -> str:
    """Return the wire of a document of one JSON object a line."""
    values: list[dict[str, Json]] = []
    for piece in pieces:
        if piece.value is None:
            continue
        for name, wire in TRANSCRIPT_WIRES.items():
            if wire.fits(piece.value):
                return name
        values.append(piece.value)
    return _wire_of_document(values)


def wire_of_array(pieces: Iterable[Piece]) -> str:
    """Return the wire of a document that is one array of messages."""
    values = [piece.value for piece in pieces if piece.value is not None]
    # A document that an agent exports holds only its messages, so the first one is enough.
    exporting = [wire for wire in TRANSCRIPT_WIRES.values() if not wire.HOLDS_MESSAGES]
    fitting = (wire.NAME for wire in exporting if values and wire.fits(values[0]))
    return next(fitting, "") or _wire_of_document(values)


def _wire_of_document(values: list[dict[str, Json]]) -> str:
    found = wire_of_messages(values)
    if found or not values:
        return found or opaque_lines.NAME
    return DEFAULT_MESSAGE_WIRE if could_be(DEFAULT_MESSAGE_WIRE, values) else opaque_lines.NAME


def wire_of_messages(values: list[dict[str, Json]]) -> str:
    """Return the message wire that fits all values and is certain for some; empty if none is."""
    for name, wire in MESSAGE_WIRES.items():
        answers = [wire.fits(value) for value in values]
        if True in answers and False not in answers:
            return name
    return ""


def could_be(name: str, values: Iterable[dict[str, Json]]) -> bool:
    """Return whether all values may have the format of a message wire."""
    return all(MESSAGE_WIRES[name].fits(value) is not False for value in values)


def fits_any(name: str, values: Iterable[dict[str, Json]]) -> bool:
    """Return whether the wire `name` can read any of the values."""
    if name in TRANSCRIPT_WIRES:
        return any(TRANSCRIPT_WIRES[name].fits(value) for value in values)
    return any(MESSAGE_WIRES[name].fits(value) is not False for value in values)
