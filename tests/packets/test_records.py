"""What the ledger keeps of packets: redacted for everyone, purged with what they quote."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.core.ledger.entry import PacketRead, PacketReported, PacketSent, pack, unpack
from holdfast.core.ledger.packet import Feedback, Packet
from holdfast.engine.purge.purge import apply_purge, plan_message_purge, plan_session_purge
from holdfast.packets.read import read_for_worker
from holdfast.packets.records import (
    MIN_NEW_TO_SAVE,
    PACKET_ENTRIES,
    PACKETS_CACHE,
    find_packet,
    packet_entries,
    packet_records,
)
from holdfast.session.session import Session
from holdfast.stores.store import Store
from tests.contracts.test_store import STORES
from tests.packets.test_make_and_deliver import TALK, TASK, said
from tests.secrets import PLANTED


@pytest.mark.parametrize(
    "body",
    [
        PacketSent(
            Packet(goal="g", constraints=("c",), extra={"x": "1"}), "push", "context/pane-1.yaml"
        ),
        PacketReported(Feedback(("testing approach",), ("failed_attempts",), "done", "pane-1")),
    ],
)
def test_what_became_of_a_packet_is_stored_as_it_was(body: PacketSent | PacketReported) -> None:
    assert unpack(pack(body)) == body


def test_a_packet_is_found_by_its_reference_and_leaves_the_window_alone(tmp_path: Path) -> None:
    with holdfast.open("s", root=tmp_path) as session:
        session.extend(TALK)
        before = session.messages()
        session.packet(TASK, pane=1)
        read_for_worker(session.ledger, "pane-1")
        assert session.messages() == before
        (one,) = packet_records(session.ledger)
        assert TASK in session.read(one.ref)


def work_on(session: Session, words: str) -> None:
    """Hand out a packet, and say so much that the session's packets are read anew."""
    sent = session.ledger.derive(PacketSent(Packet(goal=words, audience="pane-1")))
    session.ledger.derive(PacketRead(sent.id, "pane-1"))
    session.extend([said("user", f"{words} {number}") for number in range(MIN_NEW_TO_SAVE)])
    session.ledger.derive(PacketReported(Feedback(packet=sent.id, outcome="done")))


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with STORES[request.param](tmp_path) as made:
        yield made


def test_later_calls_find_the_same_entries_and_read_only_new_ones(store: Store) -> None:
    session = Session("s", store, owns_store=False)
    assert packet_entries(store, "s") == []
    for words in ("Build it", "Test it"):
        work_on(session, words)
        every = [entry for entry in store.read("s") if isinstance(entry.body, PACKET_ENTRIES)]
        assert packet_entries(store, "s") == packet_entries(store, "s") == every
        kept = store.read_cache("s", PACKETS_CACHE)
        assert kept is not None
        session.append(said("user", "One more."))
        assert packet_entries(store, "s") == every
        assert store.read_cache("s", PACKETS_CACHE) == kept


def test_purging_a_message_takes_its_words_out_of_the_packets_that_were_read(
    tmp_path: Path,
) -> None:
    with holdfast.open("s", root=tmp_path) as session:
        work_on(session, "Build it")
        session.append(said("user", "You must never mention Zanzibarian."))
        session.packet(TASK, pane=1)
        work_on(session, "Test it")
        assert "Zanzibarian" in str(packet_entries(session.store, "s"))
        ref = next(e.id for e in session.ledger.path() if "Zanzibarian" in str(e.body))
        apply_purge(
            session.ledger, plan_message_purge(session.ledger, ref), at="2031-04-02T09:15:00Z"
        )
        assert "Zanzibarian" not in str(packet_entries(session.store, "s"))


def test_a_secret_that_was_found_later_is_redacted_in_what_is_read(tmp_path: Path) -> None:
    secret = PLANTED["github-token"]
    with holdfast.open("s", root=tmp_path) as session:
        session.extend(TALK)
        session.ledger.derive(PacketSent(Packet(goal=f"use {secret}", audience="pane-1")))
        session.append(said("user", f"The key is {secret}."))
        assert secret not in find_packet(session.ledger, "pane-1").packet.goal


def test_purging_a_message_takes_its_words_out_of_packets(tmp_path: Path) -> None:
    with holdfast.open("s", root=tmp_path) as session:
        session.extend(TALK)
        session.append(said("user", "You must never mention Zanzibarian."))
        session.packet(TASK, pane=1)
        assert "Zanzibarian" in str(find_packet(session.ledger, "pane-1").packet)
        ref = session.ledger.path()[-1].id
        apply_purge(
            session.ledger, plan_message_purge(session.ledger, ref), at="2031-04-02T09:15:00Z"
        )
    with holdfast.open("s", root=tmp_path) as session:
        assert "Zanzibarian" not in str(find_packet(session.ledger, "pane-1").packet)


def test_purging_a_session_takes_the_files_of_its_packets_away(tmp_path: Path) -> None:
    with holdfast.open("s", root=tmp_path) as session:
        session.extend(TALK)
        session.packet(TASK, pane=1)
        assert (tmp_path / ".holdfast/context/pane-1.yaml").exists()
        apply_purge(session.ledger, plan_session_purge(session.ledger), at="2031-04-02T09:15:00Z")
        assert not (tmp_path / ".holdfast/context/pane-1.yaml").exists()
