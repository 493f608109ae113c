"""What is said of a session that there is no time to read: the user's words at its two ends."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.surfaces.hooks.event import HookEvent, HookReply
from holdfast.surfaces.hooks.events.compaction import SUMMARY_INSTRUCTIONS
from holdfast.surfaces.hooks.events.session import RECORD_NOTICE
from holdfast.surfaces.hooks.events.shortly import PARTIAL_NOTICE, answer
from holdfast.surfaces.hooks.transcript_ends import READ_SIZES
from tests.contracts.transcripts import assistant, call, jsonl, result, text, user

GOAL = "Write the export job. Never touch the billing schema."
LATEST = "Now write its tests, please."
FIRST = (
    user("u1", None, GOAL),
    assistant("a1", "u1", "m1", text("I will begin.")),
    user("u2", "a1", "How long does it take?"),
)
LAST = (
    user("u9", "a8", LATEST),
    assistant("a9", "u9", "m9", call("t9", "Bash", command="cat big.log")),
)
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def middle(size: int) -> bytes:
    """Lines of so many bytes in which the user says nothing that is near one of the ends."""
    line = jsonl(result("r5", "a4", "t4", "word " * 2_000))
    half = line * (size // len(line) // 2 + 1)
    return half + jsonl(user("u5", "r5", "Nobody sees this.")) + half


def told(path: Path, kind: str = "before_compaction", source: str = "auto") -> HookReply:
    happened = HookEvent(
        agent="claude-code",
        kind=kind,
        session="s",
        root=str(path.parent),
        transcript=str(path),
        source=source,
    )
    return answer(happened)


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(*FIRST) + middle(3 * READ_SIZES[0]) + jsonl(*LAST))
    return path


SAID = f"""\
{PARTIAL_NOTICE}First request: {GOAL}
Latest request: {LATEST}
Constraint: Never touch the billing schema.
Also said: How long does it take?"""


def test_whoever_writes_the_summary_is_told_what_was_asked_at_both_ends(large: Path) -> None:
    assert told(large) == HookReply(instructions=f"{SUMMARY_INSTRUCTIONS}\n{SAID}")


@pytest.mark.parametrize("source", ["compact", "resume", "fork"])
def test_a_session_that_goes_on_is_told_the_same(large: Path, source: str) -> None:
    assert told(large, "session_start", source=source) == HookReply(
        context=f"{RECORD_NOTICE}\n\n{SAID}"
    )


@pytest.mark.parametrize("kind", ["session_start", "compaction", "turn_end", "tool_result"])
def test_nothing_is_said_where_nobody_goes_on_without_the_rest(large: Path, kind: str) -> None:
    assert told(large, kind, source="startup") == HookReply()


def test_a_request_that_is_far_from_the_end_is_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    far = jsonl(result("r9", "a9", "t9", "word " * 2_000)) * (2 * READ_SIZES[0] // 10_000)
    path.write_bytes(jsonl(*FIRST) + middle(3 * READ_SIZES[1]) + jsonl(*LAST) + far)
    assert told(path).instructions == f"{SUMMARY_INSTRUCTIONS}\n{SAID}"


def test_a_first_line_that_is_longer_than_what_is_read_does_not_hide_the_end(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(result("r0", "a0", "t0", "w" * READ_SIZES[1])) + jsonl(*LAST))
    assert (
        told(path).instructions
        == f"{SUMMARY_INSTRUCTIONS}\n{PARTIAL_NOTICE}First request: {LATEST}"
    )


def test_a_short_session_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(*FIRST[:1]))
    said = f"First request: {GOAL}\nConstraint: Never touch the billing schema."
    assert told(path).instructions == f"{SUMMARY_INSTRUCTIONS}\n{PARTIAL_NOTICE}{said}"


def test_a_line_that_is_being_written_is_left_out(large: Path) -> None:
    with large.open("ab") as file:
        file.write(jsonl(user("u10", "a9", "Half of a line"))[:-10])
    assert told(large) == HookReply(instructions=f"{SUMMARY_INSTRUCTIONS}\n{SAID}")


def test_a_secret_is_not_told(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(user("u1", None, f"Log in with {SECRET} and go on.")))
    assert "Log in with " in told(path).instructions
    assert SECRET not in told(path).instructions


def test_what_must_not_be_stored_is_not_told(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text("[never_store]\npatterns = ['billing']\n")
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(*FIRST))
    assert "billing" not in told(path).instructions


def test_the_words_are_as_many_as_every_program_takes(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    long = "Please add this to the list as well. " * 400
    path.write_bytes(jsonl(*(user(f"u{n}", None, f"{n}: {long}") for n in range(9))))
    assert len(told(path).instructions) <= 10_000


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def no_transcript(path: Path) -> None:
    path.write_bytes(b"\x00\xff\n" * 9_000)


def nothing_at_all(path: Path) -> None:
    del path


@pytest.mark.parametrize("plant", [a_pipe, no_transcript, nothing_at_all])
def test_a_file_that_tells_nothing_leaves_only_where_the_record_is(
    tmp_path: Path, plant: Callable[[Path], None]
) -> None:
    plant(tmp_path / "s.jsonl")
    assert told(tmp_path / "s.jsonl") == HookReply()
    begun = told(tmp_path / "s.jsonl", "session_start", source="resume")
    assert begun == HookReply(context=RECORD_NOTICE)
