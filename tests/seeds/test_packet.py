"""The packet of the protocol, in its own names and shapes."""

from dataclasses import fields, is_dataclass
from datetime import UTC, datetime

import pytest

from holdfast.core.ledger.packet import Choice, FailedAttempt, RelevantFile
from holdfast.errors import BadSetting
from holdfast.models.tokenizers import counter
from holdfast.seeds import (
    CodebaseContext,
    ContextPacket,
    describe_exclusions,
    extract_constraints,
    extract_failures,
    extract_goal,
    find_relevant_files,
    generate_context_packet,
    summarize_codebase_context,
)
from tests.packets.test_make_and_deliver import RULE, TALK, TASK

CODEBASE = {
    "models/user.py": "class User:\n    email: str\n    password_hash: str\n",
    "routes/auth.py": "async def register(request):\n    ...\n",
    "docs/history.md": "# Where it all began\n",
}


@pytest.mark.seed("R242")
def test_the_object_has_the_fields_and_defaults_of_the_protocol() -> None:
    assert is_dataclass(ContextPacket)
    assert [field.name for field in fields(ContextPacket)] == [
        *("version", "created", "creator", "target_task", "goal", "decisions", "constraints"),
        *("codebase", "failed_attempts", "not_included"),
    ]
    packet = ContextPacket()
    assert (packet.version, packet.decisions, packet.codebase) == (1, [], None)
    assert isinstance(packet.created, datetime)


@pytest.mark.seed("R243", "R244", "R245")
def test_it_is_written_read_and_counted() -> None:
    packet = ContextPacket(
        created=datetime(2024, 1, 15, 10, 30, tzinfo=UTC),
        creator="orchestrator-pane-0",
        target_task="Add JWT authentication",
        goal="Add JWT-based authentication.",
        decisions=[Choice("JWT", "Stateless", "user")],
        constraints=["no", "1.10", "12:30"],
        codebase=CodebaseContext([RelevantFile("models/user.py", "User model")], ["async"]),
        failed_attempts=[FailedAttempt("PyJWT", "not in requirements.txt")],
        not_included=["Full conversation history"],
    )
    assert ContextPacket.from_yaml(packet.to_yaml()) == packet
    assert "## Constraints (follow exactly)\n- no\n- 1.10\n- 12:30\n" in packet.to_prompt()
    assert packet.token_count == counter("o200k_base")(packet.to_prompt())


@pytest.mark.seed("R250", "R251", "R252", "R253", "R254")
def test_the_depth_decides_which_layers_are_extracted() -> None:
    minimal = generate_context_packet(TASK, TALK, CODEBASE, "minimal")
    assert minimal.goal.startswith(TASK)
    assert RULE in minimal.constraints
    assert (minimal.decisions, minimal.codebase, minimal.failed_attempts) == ([], None, [])
    standard = generate_context_packet(TASK, TALK, CODEBASE)
    assert "I'll go with RS256 signing" in [one.choice for one in standard.decisions]
    assert standard.codebase is not None
    assert standard.failed_attempts == []
    deep = generate_context_packet(TASK, TALK, CODEBASE, "deep")
    assert [one.approach for one in deep.failed_attempts] == ["I tried PyJWT"]
    assert all(packet.not_included for packet in (minimal, standard, deep))
    with pytest.raises(BadSetting):
        generate_context_packet("", TALK, CODEBASE)


@pytest.mark.seed("R251", "R252", "R253", "R254")
def test_each_step_of_the_generator_can_be_had_by_itself() -> None:
    assert extract_goal(TASK, TALK).startswith(TASK)
    assert RULE in extract_constraints(TALK)
    near = find_relevant_files("Fix the register handler in auth.py", CODEBASE)
    assert next(iter(near)) == "routes/auth.py"
    summed = summarize_codebase_context({"models/user.py": CODEBASE["models/user.py"]})
    told = "class User: email: str, password_hash: str"
    assert summed.relevant_files == [RelevantFile("models/user.py", told)]
    assert [one.approach for one in extract_failures(TALK)] == ["I tried PyJWT"]
    left = describe_exclusions(TALK, ContextPacket(target_task=TASK))
    assert left == [
        "full conversation history",
        "2 files that were touched",
        "2 more decisions",
    ]


@pytest.mark.seed("R350", "R352", "R016", "R021")
def test_the_example_of_the_protocol_fits_in_its_budget_with_all_that_it_lists() -> None:
    reads = "\n".join(f"def helper_{at}(request): return request.query[{at}]" for at in range(60))
    plan = " ".join(f"Step {at}: look at part {at} of the login endpoint." for at in range(25))
    talk = [
        *TALK[:1],
        {"role": "assistant", "content": f"Here is what I read:\n{reads}"},
        *TALK[1:],
        {"role": "assistant", "content": plan},
    ]
    count = counter("o200k_base")
    whole = sum(count(str(message.get("content") or "")) for message in talk)
    packet = generate_context_packet("Add JWT auth", talk, CODEBASE)
    assert packet.token_count <= 400
    assert packet.token_count < whole / 3
    prompt = packet.to_prompt()
    for said in ("JWT", "RS256", "24 hours", "registration", "models/user.py", "routes/auth.py"):
        assert said in prompt
