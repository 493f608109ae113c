"""Packet as callers have it: two written forms, and a reader that trusts nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import holdfast
from holdfast.core.ledger.packet import Choice, Codebase, RelevantFile
from holdfast.errors import BadPacket
from holdfast.packets.packet import Packet, as_packet, read_packet, seal
from tests.core.view.packet.test_document import PACKET

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
packets = st.builds(
    Packet,
    created=texts,
    target_task=texts,
    goal=texts,
    constraints=st.lists(texts, max_size=4).map(tuple),
    decisions=st.lists(st.builds(Choice, texts, texts, texts), max_size=3).map(tuple),
    codebase=st.builds(
        Codebase, st.lists(st.builds(RelevantFile, texts, texts), max_size=3).map(tuple)
    ),
    not_included=st.lists(texts, max_size=2).map(tuple),
    layers=st.lists(st.integers(1, 4), max_size=4).map(tuple),
    over_budget=st.booleans(),
    token_count=st.integers(0, 10_000),
)


@pytest.mark.seed("R243")
@given(packets)
def test_any_packet_survives_its_file(packet: Packet) -> None:
    sealed = seal(packet)
    assert Packet.from_yaml(sealed.to_yaml()) == sealed


def test_the_public_name_has_the_forms_of_the_contract() -> None:
    packet = as_packet(PACKET)
    assert isinstance(packet, holdfast.Packet)
    assert packet.to_prompt().startswith("# Goal\n")
    assert holdfast.Packet.from_yaml(packet.to_yaml()) == packet


LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "just words",
        "- a\n- list\n",
        "version: 1\n",
        "version: [1\n",
        "a: 1\na: 2\n",
        "? [a]\n: b\n",
        "1: a\n",
        "version: 1\ncontext: !!python/object:os.system x\nchecksum: x\n",
        "version: 1\ncontext: {goal: .nan}\nchecksum: x\n",
        LAUGHS,
        "[" * 100_000,
        "a: " * 50_000,
        "version: 1\ncontext: {x: " + "[" * 60 + "]" * 60 + "}\n",
        "x" * 300_000,
        "version: 1\n---\nversion: 1\n",
        "\x00",
        "version: 1\ncontext:\n  goal: 1.10\nchecksum: sha256:0\n",
    ],
)
def test_what_is_no_packet_is_refused_at_once_in_a_sentence(text: str) -> None:
    with pytest.raises(BadPacket) as caught:
        read_packet(text)
    told = str(caught.value)
    assert told.startswith("the packet is refused: ")
    assert "\n" not in told
    assert len(told) < 400


@given(st.text(max_size=400))
def test_no_text_whatever_breaks_the_reader(text: str) -> None:
    with pytest.raises(BadPacket):
        read_packet(text)


def test_a_number_where_a_text_belongs_is_refused_with_the_way_out() -> None:
    text = as_packet(PACKET).to_yaml().replace('"Token expiry: 24 hours"', "1.10")
    with pytest.raises(BadPacket) as caught:
        read_packet(text, checked=False)
    assert caught.value.reason == (
        "`context.constraints[1]` is not what it has to be: expected `str`, got `float`;"
        " a text that looks like a number takes quotes"
    )


def test_a_wrong_checksum_and_a_wrong_version_are_refused_by_name() -> None:
    text = as_packet(PACKET).to_yaml()
    with pytest.raises(BadPacket, match="its checksum is sha256:"):
        read_packet(text.replace("24 hours", "48 hours"), where="pane-1.yaml")
    with pytest.raises(BadPacket, match="it has version 2, and this program reads version 1"):
        read_packet(text.replace("version: 1", "version: 2"))


def test_what_a_newer_program_added_survives_reading_and_writing() -> None:
    added = replace(PACKET, extra={"mood": '"fine"', "context/decisions/0/votes": "3"})
    sealed = seal(added)
    again = Packet.from_yaml(sealed.to_yaml())
    assert again.extra == added.extra
    assert again.to_yaml() == sealed.to_yaml()


def test_a_signed_packet_is_read_with_its_key_alone() -> None:
    text = seal(PACKET, "key").to_yaml()
    assert Packet.from_yaml(text, key="key").goal == PACKET.goal
    with pytest.raises(BadPacket, match="signed with another key"):
        Packet.from_yaml(text, key="other")
    with pytest.raises(BadPacket, match="not signed"):
        Packet.from_yaml(as_packet(PACKET).to_yaml(), key="key")
