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
    NoPacket,
    checksum_of,
    nested,
    sealed,
    unnested,
    verify,
)

PACKET = sealed(
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
    document = nested(PACKET)
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
    verify(document)
    assert unnested(document) == PACKET


def test_what_is_not_known_is_kept_where_it_stood() -> None:
    document = nested(PACKET)
    context = document["context"]
    assert isinstance(context, dict)
    document["priority"] = "high"
    context["budget"] = {"eur": 3}
    context["decisions"][0]["votes"] = 7
    context["codebase"]["owner"] = "team/a"
    packet = unnested(document)
    assert packet.goal == PACKET.goal
    again = nested(packet)
    assert again == document


@pytest.mark.parametrize("version", [2, 0, "1", None, True, 1.5])
def test_another_version_is_refused_by_its_number(version: object) -> None:
    with pytest.raises(NoPacket, match=f"version {version!r}"):
        unnested({**nested(PACKET), "version": version})


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
    document = nested(PACKET)
    context = document["context"]
    assert isinstance(context, dict)
    context[member] = value
    with pytest.raises(NoPacket) as caught:
        unnested(document)
    assert named in str(caught.value)


def test_a_packet_without_context_is_none() -> None:
    with pytest.raises(NoPacket, match="no `context`"):
        unnested({"version": 1})


@pytest.mark.seed("R241")
def test_a_changed_word_breaks_the_checksum_and_another_order_does_not() -> None:
    document = nested(PACKET)
    verify(dict(reversed(document.items())))
    with pytest.raises(NoPacket, match="its checksum is sha256:"):
        verify({**document, "creator": "someone else"})
    with pytest.raises(NoPacket, match="no checksum"):
        verify({name: value for name, value in document.items() if name != "checksum"})


def test_a_key_signs_and_another_key_or_none_is_refused() -> None:
    signed = nested(sealed(PACKET, "secret"))
    verify(signed, "secret")
    verify(signed)
    with pytest.raises(NoPacket, match="another key"):
        verify(signed, "other")
    with pytest.raises(NoPacket, match="not signed"):
        verify(nested(PACKET), "secret")


def test_sealing_again_changes_nothing() -> None:
    assert sealed(PACKET) == PACKET
    assert sealed(replace(PACKET, token_count=451)).checksum != PACKET.checksum
