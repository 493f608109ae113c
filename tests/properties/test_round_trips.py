"""Whatever goes in comes out: messages, bytes, documents, rewritten parts."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.entry import Said, ToolCalled, ToolReturned
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.text.jsontext import encode
from holdfast.transcripts.export import export_document
from holdfast.transcripts.ingest import ingest
from holdfast.wire.detect import MESSAGE_WIRES
from holdfast.wire.documents import open_document
from tests.properties.sessions import Message, any_history, scalars, spelled, values


def ingested(data: bytes, name: str, store: MemoryStore | None = None) -> Session:
    """The session that a file becomes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        kept = store or MemoryStore()
        return Session(ingest(path, kept).session, kept)


@given(any_history)
def test_dictionaries_come_back_equal_and_in_the_same_key_order(
    drawn: tuple[str, list[Message]],
) -> None:
    wire, messages = drawn
    session = Session("s", MemoryStore())
    session.extend(messages)
    assert json.dumps(session.messages()) == json.dumps(messages)
    assert session.ledger.head().wire == wire


@given(any_history, st.data())
def test_bytes_come_back_as_they_were_spelled(
    drawn: tuple[str, list[Message]], data: st.DataObject
) -> None:
    raws = data.draw(spelled(drawn[1]))
    session = Session("s", MemoryStore())
    session.extend(raws)
    sent = b"[" + b",".join(raws) + b"]"
    assert (session.wire(), b"".join(export_document(session.ledger))) == (sent, sent)


@given(any_history, st.data())
def test_told_one_by_one_or_all_at_once_is_the_same(
    drawn: tuple[str, list[Message]], data: st.DataObject
) -> None:
    messages = drawn[1]
    one, other = Session("s", MemoryStore()), Session("s", MemoryStore())
    one.extend(messages)
    at = 0
    while at < len(messages):
        size = data.draw(st.integers(1, len(messages)))
        other.extend(messages[at : at + size])
        if data.draw(st.booleans()):
            other.messages()
        at += size
    assert other.wire() == one.wire()
    assert other.ledger.head() == one.ledger.head()
    assert list(other.store.read("s")) == list(one.store.read("s"))


@given(any_history, st.sampled_from(("[", "messages", "lines")), st.data())
def test_documents_come_back_byte_for_byte(
    drawn: tuple[str, list[Message]], form: str, data: st.DataObject
) -> None:
    wire, messages = drawn
    raws = data.draw(spelled(messages))
    gap = data.draw(st.sampled_from((b"", b" ", b"\n  ", b"\r\n")))
    if form == "lines":
        document = (b"\n" + gap.replace(b"\r", b"")).join(raws) + data.draw(
            st.sampled_from((b"", b"\n"))
        )
    else:
        document = gap + b"[" + gap + (gap + b"," + gap).join(raws) + gap + b"]" + gap
        if form == "messages":
            member = b"input" if wire == "openai_responses" else b"messages"
            document = b'{"model":"m",' + gap + b'"%s":' % member + document + b',"top_p":1.0}'
    session = ingested(document, "drawn.jsonl" if form == "lines" else "drawn.json")
    assert b"".join(export_document(session.ledger)) == document
    assert session.ledger.head().wire == wire
    assert json.dumps(session.messages()) == json.dumps(messages)
    assert list(session.store.check()) == []


@given(st.lists(st.binary(max_size=30) | values.map(encode), max_size=8), st.booleans())
def test_cutting_any_file_loses_no_byte(lines: list[bytes], ends: bool) -> None:
    from io import BytesIO

    data = b"\n".join(lines) + (b"\n" if ends else b"")
    pieces = list(open_document(BytesIO(data)).pieces)
    assert b"".join(piece.lead + piece.raw for piece in pieces) == data


@given(any_history, st.data())
def test_replacing_one_part_changes_only_that_part(
    drawn: tuple[str, list[Message]], data: st.DataObject
) -> None:
    wire = MESSAGE_WIRES[drawn[0]]
    message = data.draw(st.sampled_from(drawn[1]))
    raw = data.draw(spelled([message]))[0]
    read = wire.read(json.loads(raw))
    at = data.draw(st.integers(0, len(read) - 1))
    old = read[at]
    match old:
        case ToolReturned():
            stand_in: object = ToolReturned(old.call, "[gone]", old.failed)
        case ToolCalled():
            stand_in = ToolCalled(old.call, old.tool, "{}")
        case _:
            stand_in = Said("user", "[gone]")
    kept = wire.rewrite(raw, {at: stand_in})  # pyright: ignore[reportArgumentType]
    assert kept is not None
    after = wire.read(json.loads(kept))
    assert after[:at] + after[at + 1 :] == read[:at] + read[at + 1 :]
    if isinstance(old, ToolReturned | ToolCalled):
        assert after[at] == stand_in


@given(scalars | values)
def test_a_value_written_reads_back_equal(value: object) -> None:
    assert json.dumps(json.loads(encode(value))) == json.dumps(value)
