"""What every transcript wire promises, whichever agent writes it."""

import json
from collections.abc import Mapping

import pytest

from holdfast.core.ledger.append import Draft
from holdfast.core.ledger.entry import Derived, Said, Source
from holdfast.text.jsontext import Json, as_object
from holdfast.wire import opaque_lines
from holdfast.wire.detect import MESSAGE_WIRES, TRANSCRIPT_WIRES, WIRES, wire_of_lines
from holdfast.wire.pieces import Piece
from holdfast.wire.wire import TranscriptWire
from tests.contracts.transcripts import (
    Line,
    assistant,
    call,
    codex_line,
    jsonl,
    message,
    meta,
    result,
    text,
    user,
)


def _gemini(name: str, kind: str, words: str) -> Line:
    return {"id": name, "timestamp": "2026-11-16T12:28:33Z", "type": kind, "content": words}


def _opencode(role: str, name: str, words: str) -> Line:
    told = {"role": role, "time": {"created": 1}, "id": name, "sessionID": "s1"}
    return {"info": told, "parts": [{"type": "text", "text": words}]}


ASKED, ANSWERED = "List the files.", "One file."
TURNS: dict[str, tuple[Line, ...]] = {
    "claude_code": (
        user("u1", None, ASKED),
        assistant("a1", "u1", "m1", {"type": "thinking", "thinking": "Hm.", "signature": "sig"}),
        assistant("a2", "a1", "m1", call("c1", path="a.txt")),
        result("r1", "a2", "c1", "alpha"),
        assistant("a3", "r1", "m2", text(ANSWERED)),
    ),
    "codex": (
        meta(),
        message("user", ASKED),
        codex_line("response_item", {"type": "reasoning", "id": "rs_1", "summary": []}),
        message("assistant", ANSWERED),
    ),
    "gemini": (
        {"sessionId": "gem-1", "projectHash": "bb86", "startTime": "2026-11-16T12:28:33Z"},
        _gemini("m1", "user", ASKED),
        _gemini("m2", "gemini", ANSWERED),
    ),
    "opencode": (_opencode("user", "msg_1", ASKED), _opencode("assistant", "msg_2", ANSWERED)),
}
"""For each wire a short turn as its agent writes it, the same words in each."""

every_wire = pytest.mark.parametrize("wire", TRANSCRIPT_WIRES.values(), ids=TRANSCRIPT_WIRES)


def values_of(wire: TranscriptWire) -> list[Mapping[str, Json]]:
    """The lines of a turn, as they are read from disk."""
    return [as_object(json.loads(raw)) for raw in jsonl(*TURNS[wire.NAME]).splitlines()]


def drafts_of(wire: TranscriptWire) -> list[tuple[Draft, ...]]:
    """What each line of a turn is read as."""
    reader = wire.Reader()
    return [reader.read(line, pos) for pos, line in enumerate(values_of(wire))]


def sources_of(drafts: tuple[Draft, ...]) -> list[Source]:
    """What a line says, without what is derived from it."""
    return [draft.body for draft in drafts if not isinstance(draft.body, Derived)]


def test_wires_are_listed_under_their_own_names_without_a_second_of_the_same() -> None:
    listed = {**MESSAGE_WIRES, **TRANSCRIPT_WIRES}
    assert [wire.NAME for wire in listed.values()] == list(listed)
    assert (*listed, opaque_lines.NAME) == WIRES
    assert set(TURNS) == set(TRANSCRIPT_WIRES)


@every_wire
def test_a_transcript_is_sent_in_a_message_wire(wire: TranscriptWire) -> None:
    assert wire.SENT_AS in MESSAGE_WIRES


@every_wire
def test_a_wire_fits_its_own_lines_and_no_other_wire_does(wire: TranscriptWire) -> None:
    for line in values_of(wire):
        fitting = [other.NAME for other in TRANSCRIPT_WIRES.values() if other.fits(line)]
        assert fitting == [wire.NAME]
    pieces = [Piece(json.dumps(line).encode(), value=dict(line)) for line in values_of(wire)]
    assert wire_of_lines(pieces) == wire.NAME


@every_wire
def test_a_transcript_names_its_session(wire: TranscriptWire) -> None:
    assert len({wire.session_of(line) for line in values_of(wire)} - {""}) == 1


@every_wire
def test_a_turn_is_read_as_what_was_asked_and_answered(wire: TranscriptWire) -> None:
    said = [
        (body.role, body.text)
        for drafts in drafts_of(wire)
        for body in sources_of(drafts)
        if isinstance(body, Said) and not body.by
    ]
    assert said == [("user", ASKED), ("assistant", ANSWERED)]


@every_wire
def test_two_readers_read_the_same_lines_alike(wire: TranscriptWire) -> None:
    assert drafts_of(wire) == drafts_of(wire)


@every_wire
def test_the_messages_cut_out_of_a_line_say_what_the_line_is_read_as(wire: TranscriptWire) -> None:
    speaks = MESSAGE_WIRES[wire.SENT_AS]
    for line, drafts in zip(TURNS[wire.NAME], drafts_of(wire), strict=True):
        cut = wire.messages_in(json.dumps(line).encode())
        if not wire.HOLDS_MESSAGES:
            assert cut == []
            continue
        read = [body for raw in cut for body in speaks.read(as_object(json.loads(raw)))]
        assert [_words(body) for body in read] == [_words(body) for body in sources_of(drafts)]


def _words(body: Source) -> Source:
    """A body without the note on who wrote it: only the transcript tells that."""
    return Said(body.role, body.text) if isinstance(body, Said) else body
