"""What the ledger keeps of packets: redacted for everyone, purged with what they quote."""

from pathlib import Path

import pytest

import holdfast
from holdfast.core.ledger.entry import PacketReported, PacketSent, pack, unpack
from holdfast.core.ledger.packet import Feedback, Packet
from holdfast.engine.purge.purge import apply_purge, plan_message_purge, plan_session_purge
from holdfast.packets.read import read_for_worker
from holdfast.packets.records import find_packet, packet_records
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
