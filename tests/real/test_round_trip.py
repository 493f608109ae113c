"""Recorded sessions come back as they were, whole or grown piece by piece."""

import json
from pathlib import Path

import pytest

from holdfast.core.plan.policy import PROFILES, Policy, with_settings
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.store import Store
from holdfast.transcripts.export import export_document
from holdfast.transcripts.ingest import ingest
from tests.real.data import names, native_file, needs_data, normal, normal_file, unpacked

pytestmark = needs_data

OFF = with_settings(Policy(), PROFILES["off"])
WIRES = {"claude": "claude_code", "codex": "codex", "opencode": "opencode"}
CUTS = (0.02, 0.2, 0.5, 0.75, 0.97)


def given_back(store: Store, name: str) -> bytes:
    """A session's own document, as it is exported."""
    return b"".join(export_document(Session(name, store, owns_store=False).ledger))


def test_every_recorded_session_is_looked_at() -> None:
    assert len(names()) == 70
    assert [
        len(names(*kind, native=True)) for kind in (("claude", "codex"), ("opencode", "pi"))
    ] == [
        28,
        9,
    ]


@pytest.mark.parametrize("name", names())
def test_a_session_in_the_normal_form_comes_back_equal(name: str) -> None:
    store = MemoryStore()
    done = ingest(normal_file(name), store)
    session = Session(done.session, store, policy=OFF)
    assert (done.wire, done.flaws, done.branched) == ("openai_chat", (), False)
    assert given_back(store, done.session) == unpacked(normal_file(name))
    assert json.dumps(session.messages()) == json.dumps(normal(name)["messages"])
    assert list(store.check()) == []


@pytest.mark.parametrize("name", names())
def test_a_session_told_message_by_message_is_sent_as_it_was_told(name: str) -> None:
    messages = normal(name)["messages"]
    session = Session("s", MemoryStore(), policy=OFF)
    for message in messages:
        session.append(message)
    assert json.dumps(session.messages()) == json.dumps(messages)


@pytest.mark.parametrize("name", names())
def test_a_client_that_resends_its_growing_history_adds_only_what_is_new(name: str) -> None:
    messages = normal(name)["messages"]
    store = MemoryStore()
    session = Session("s", store, policy=OFF)
    for upto in sorted({1, len(messages) // 3, len(messages) // 2, len(messages)} - {0}):
        known = len(session.messages())
        synced = session.sync(messages[:upto])
        assert (synced.added, synced.branched) == (upto - known, False)
    again = session.sync(messages)
    assert (again.added, again.branched) == (0, False)
    assert json.dumps(session.messages()) == json.dumps(messages)
    assert list(store.check()) == []


@pytest.mark.parametrize("name", names("claude", "codex", "opencode", native=True))
def test_a_transcript_is_read_as_its_wire_and_given_back_byte_for_byte(
    name: str, tmp_path: Path
) -> None:
    with SqliteStore(str(tmp_path / "own" / "ledger.db")) as store:
        done = ingest(native_file(name), store)
        assert (done.wire, done.flaws) == (WIRES[name.split("-", maxsplit=1)[0]], ())
        assert given_back(store, done.session) == unpacked(native_file(name))
        assert list(store.check()) == []


@pytest.mark.parametrize("name", names("pi", native=True))
def test_a_format_nobody_knows_is_kept_as_lines_and_given_back_byte_for_byte(name: str) -> None:
    store = MemoryStore()
    done = ingest(native_file(name), store)
    assert (done.wire, done.flaws) == ("lines", ())
    assert given_back(store, done.session) == unpacked(native_file(name))


@pytest.mark.parametrize("name", names(native=True))
def test_reading_a_session_again_adds_nothing(name: str) -> None:
    store = MemoryStore()
    done = ingest(native_file(name), store)
    before = (list(store.read(done.session)), store.head(done.session))
    again = ingest(native_file(name), store)
    assert (again.added, again.branched, again.session) == (0, False, done.session)
    assert (list(store.read(done.session)), store.head(done.session)) == before


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("name", names("claude", "codex", native=True))
def test_a_transcript_read_while_it_grew_equals_the_whole(
    name: str, cut: float, tmp_path: Path
) -> None:
    data = unpacked(native_file(name))
    path = tmp_path / "growing.jsonl"
    grown, whole = MemoryStore(), MemoryStore()
    # Cut in the middle of a line, as a reader meets a file that is being written.
    for upto in (int(len(data) * cut), len(data)):
        path.write_bytes(data[:upto])
        done = ingest(path, grown)
    alone = ingest(path, whole)
    assert (done.session, done.branched) == (alone.session, False)
    assert list(grown.read(done.session)) == list(whole.read(done.session))
    assert (
        list(grown.sightings(done.session))[-1].raw == list(whole.sightings(done.session))[-1].raw
    )
    assert given_back(grown, done.session) == data
    one, other = grown.head(done.session), whole.head(done.session)
    assert one is not None
    assert other is not None
    assert (one.lanes, one.seq, one.model, one.title) == (
        other.lanes,
        other.seq,
        other.model,
        other.title,
    )
    assert list(grown.check()) == []
