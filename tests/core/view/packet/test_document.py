"""The nested form of a packet, and the seal on it."""

import pytest
from msgspec.structs import replace

from holdfast.core.ledger.packet import (
    Change,
    Choice,
    Codebase,
    FailedAttempt,
    Packet,
    Pivot,
    RelevantFile,
)
from holdfast.core.view.packet.document import (
    InvalidPacket,
    checksum_of,
    packet_document,
    packet_from_document,
    seal_packet,
    verify_seal,
)

PACKET = seal_packet(
    Packet(
        created="2024-01-15T10:30:00Z",
        creator="orchestrator-pane-0",
        target_task="Add JWT authentication",
        audience="pane-1",
        layers=(1, 2, 3, 4),
        revision=2,
        changelog=(Change(1, "Initial: session tokens"), Change(2, "Changed to JWT")),
        goal="Add JWT-based authentication to the login endpoint.\nA token on success.",
        success_criteria=("User should receive a token.",),
        constraints=("Do NOT modify the registration flow", "Token expiry: 24 hours"),
        decisions=(Choice("JWT over session tokens", "Stateless", "user", ("abc123def456",)),),
        codebase=Codebase(
            (RelevantFile("models/user.py", "User model"),),
            ("All routes use async/await",),
            ("routes/users.py",),
            ("callbacks",),
        ),
        failed_attempts=(FailedAttempt("Using PyJWT", "Not in requirements.txt"),),
        pivots=(Pivot("JWT instead of sessions", "mobile app"),),
        open_questions=("Refresh tokens?",),
        not_included=("Full conversation history",),
        token_count=450,
    )
)


@pytest.mark.seed("R232", "R233", "R234", "R235", "R236", "R237", "R238", "R239", "R240", "R241")
def test_a_packet_is_written_nested_under_context_and_comes_back() -> None:
    document = packet_document(PACKET)
    assert list(document)[:4] == ["version", "created", "creator", "target_task"]
    context = document["context"]
    assert isinstance(context, dict)
    assert context["decisions"] == [
        {
            "choice": "JWT over session tokens",
            "reason": "Stateless",
            "made_by": "user",
            "refs": ["abc123def456"],
        }
    ]
    assert context["codebase"]["relevant_files"] == [
        {"path": "models/user.py", "summary": "User model"}
    ]
    assert document["checksum"] == checksum_of(document)
    verify_seal(document)
    assert packet_from_document(document) == PACKET


def test_what_is_not_known_is_kept_where_it_stood() -> None:
    document = packet_document(PACKET)
    context = document["context"]
    assert isinstance(context, dict)
    document["priority"] = "high"
    context["budget"] = {"eur": 3}
    context["decisions"][0]["votes"] = 7
    context["codebase"]["owner"] = "team/a"
    packet = packet_from_document(document)
    assert packet.goal == PACKET.goal
    again = packet_document(packet)
    assert again == document


@pytest.mark.parametrize("version", [2, 0, "1", None, True, 1.5])
def test_another_version_is_refused_by_its_number(version: object) -> None:
    with pytest.raises(InvalidPacket, match=f"version {version!r}"):
        packet_from_document({**packet_document(PACKET), "version": version})


@pytest.mark.parametrize(
    ("member", "value", "named"),
    [
        ("goal", 3, "context.goal"),
        ("constraints", "one", "context.constraints"),
        ("constraints", [1.1], "context.constraints"),
        ("decisions", [{"reason": "no choice"}], "context.decisions"),
        ("codebase", [], "context.codebase"),
        ("failed_attempts", {"a": 1}, "context.failed_attempts"),
    ],
)
def test_a_member_of_the_wrong_kind_is_refused_by_its_name(
    member: str, value: object, named: str
) -> None:
    document = packet_document(PACKET)
    context = document["context"]
    assert isinstance(context, dict)
    context[member] = value
    with pytest.raises(InvalidPacket) as caught:
        packet_from_document(document)
    assert named in str(caught.value)


def test_a_packet_without_context_is_none() -> None:
    with pytest.raises(InvalidPacket, match="no `context`"):
        packet_from_document({"version": 1})


@pytest.mark.seed("R241")
def test_a_changed_word_breaks_the_checksum_and_another_order_does_not() -> None:
    document = packet_document(PACKET)
    verify_seal(dict(reversed(document.items())))
    with pytest.raises(InvalidPacket, match="its checksum is sha256:"):
        verify_seal({**document, "creator": "someone else"})
    with pytest.raises(InvalidPacket, match="no checksum"):
        verify_seal({name: value for name, value in document.items() if name != "checksum"})


def test_a_key_signs_and_another_key_or_none_is_refused() -> None:
    signed = packet_document(seal_packet(PACKET, "secret"))
    verify_seal(signed, "secret")
    verify_seal(signed)
    with pytest.raises(InvalidPacket, match="another key"):
        verify_seal(signed, "other")
    with pytest.raises(InvalidPacket, match="not signed"):
        verify_seal(packet_document(PACKET), "secret")


def test_sealing_again_changes_nothing() -> None:
    assert seal_packet(PACKET) == PACKET
    assert seal_packet(replace(PACKET, token_count=451)).checksum != PACKET.checksum
