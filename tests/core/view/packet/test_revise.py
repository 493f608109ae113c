"""Revisions: what changed, what was written by hand, and layers by themselves."""

import pytest
from msgspec.structs import replace

from holdfast.core.ledger.packet import Choice, Packet
from holdfast.core.view.packet.document import InvalidPacket
from holdfast.core.view.packet.prompt import NOTHING
from holdfast.core.view.packet.revise import (
    EDITABLE,
    PacketDifference,
    apply_rewrite,
    describe_differences,
    edit_part,
    is_unchanged,
    keep_layers,
    next_revision,
    packet_differences,
)
from tests.core.view.packet.test_document import PACKET


@pytest.mark.seed("R356")
def test_a_new_revision_tells_what_changed_and_why() -> None:
    new = replace(PACKET, constraints=(*PACKET.constraints, "Use RS256"), state=("moved on",))
    made = next_revision(PACKET, new, why="the user asked", at="2024-01-16T00:00:00Z")
    assert made.revision == 3
    assert [one.revision for one in made.changelog] == [1, 2, 3]
    assert made.changelog[-1].what == (
        "the user asked: constraints + Use RS256; state brought up to date"
    )


def test_differences_name_each_part_with_what_went_and_what_came() -> None:
    new = replace(PACKET, goal="Other", decisions=())
    assert packet_differences(PACKET, new) == (
        PacketDifference("goal", (PACKET.goal,), ("Other",)),
        PacketDifference("decisions", ("JWT over session tokens — Stateless [user]",), ()),
    )
    assert packet_differences(PACKET, PACKET) == ()
    assert describe_differences(()) == NOTHING


def test_only_what_a_worker_acts_on_makes_a_revision() -> None:
    assert is_unchanged(PACKET, replace(PACKET, token_count=1, not_included=("less",)))
    assert not is_unchanged(PACKET, replace(PACKET, constraints=()))


@pytest.mark.seed("R340")
def test_a_part_that_a_person_wrote_is_marked() -> None:
    made = edit_part(PACKET, "goal", ["Only /login"])
    assert (made.goal, made.edited) == ("Only /login", ("goal",))
    made = edit_part(made, "decisions", ["RS256 — no shared secret", "24h"])
    assert made.decisions == (Choice("RS256", "no shared secret"), Choice("24h"))
    made = edit_part(made, "patterns", ["All routes are async"])
    assert made.codebase.patterns == ("All routes are async",)
    assert made.edited == ("goal", "decisions", "codebase")


@pytest.mark.parametrize("part", EDITABLE)
def test_every_part_that_may_be_edited_can_be(part: str) -> None:
    assert edit_part(Packet(), part, ["a: b — c"]) != Packet()


def test_a_part_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(InvalidPacket, match="success_criteria"):
        edit_part(PACKET, "checksum", ["x"])
    with pytest.raises(InvalidPacket, match="one text"):
        edit_part(PACKET, "goal", ["x", "y"])


def test_a_rewritten_file_counts_as_edited_where_it_differs() -> None:
    made = apply_rewrite(PACKET, replace(PACKET, goal="Other", creator="forged", revision=99))
    assert (made.goal, made.edited, made.creator, made.revision) == (
        "Other",
        ("goal",),
        PACKET.creator,
        PACKET.revision,
    )


@pytest.mark.seed("R354")
def test_layers_can_be_had_by_themselves() -> None:
    two = keep_layers(PACKET, (2,))
    assert (two.goal, two.constraints, two.failed_attempts) == ("", (), ())
    assert two.decisions == PACKET.decisions
    assert keep_layers(PACKET, (1,)).goal == PACKET.goal
