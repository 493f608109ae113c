"""Telling wires apart by what stands in them."""

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

PLAIN = openai_chat.NAME
"""Plain words in roles fit every format: the one most widely read is as good as any."""


def wire_of_lines(pieces: Iterable[Piece]) -> str:
    """The wire of a document of one object a line."""
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
    """The wire of a document that is one array of messages."""
    values = [piece.value for piece in pieces if piece.value is not None]
    # A document that an agent exports holds nothing but its messages, the first one too.
    exported = [wire for wire in TRANSCRIPT_WIRES.values() if not wire.HOLDS_MESSAGES]
    whole = (wire.NAME for wire in exported if values and wire.fits(values[0]))
    return next(whole, "") or _wire_of_document(values)


def _wire_of_document(values: list[dict[str, Json]]) -> str:
    found = wire_of_messages(values)
    if found or not values:
        return found or opaque_lines.NAME
    return PLAIN if could_be(PLAIN, values) else opaque_lines.NAME


def wire_of_messages(values: list[dict[str, Json]]) -> str:
    """The one message wire that all values may be and some surely are; empty when none is sure."""
    for name, wire in MESSAGE_WIRES.items():
        answers = [wire.fits(value) for value in values]
        if True in answers and False not in answers:
            return name
    return ""


def could_be(name: str, values: Iterable[dict[str, Json]]) -> bool:
    """Whether none of the values speaks against a message wire."""
    return all(MESSAGE_WIRES[name].fits(value) is not False for value in values)


def anything_fits(name: str, values: Iterable[dict[str, Json]]) -> bool:
    """Whether a wire that was named can read any of the values."""
    if name in TRANSCRIPT_WIRES:
        return any(TRANSCRIPT_WIRES[name].fits(value) for value in values)
    return any(MESSAGE_WIRES[name].fits(value) is not False for value in values)
