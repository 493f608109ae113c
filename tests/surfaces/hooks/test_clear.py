"""A window is cleared, or made smaller by hand: who is told what stood in it, and when."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.transcripts import assistant, jsonl, text, user
from tests.surfaces.hooks.hooking import SESSION, run, until
from tests.surfaces.hooks.test_hosts import run as run_in

GOAL = "Find the leak. Never touch the schema."
RECORD = "Holdfast keeps the record"
BEFORE = "was cleared"


def chat(project: Path, name: str, *said: str) -> dict[str, Any]:
    """A chat of Gemini CLI, as its hooks are told of it."""
    lines: list[dict[str, Any]] = [
        {"sessionId": name, "projectHash": "x", "startTime": "2026-11-16T12:00:00Z"}
    ]
    for number, words in enumerate(said):
        lines.append(
            {
                "id": f"m{number}",
                "timestamp": "2026-11-16T12:00:00Z",
                "type": "user",
                "content": [{"text": words}],
            }
        )
    path = project / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return {"session_id": name, "transcript_path": str(path)}


def said(project: Path, told: dict[str, Any], prompt: str) -> str:
    """What goes along with words to Gemini CLI."""
    reply = run_in(project, "gemini", "BeforeAgent", {**told, "prompt": prompt})
    return reply.get("hookSpecificOutput", {}).get("additionalContext", reply.get("reason", ""))


@pytest.fixture
def used(project: Path) -> dict[str, Any]:
    """A chat of Gemini CLI in which something was asked."""
    told = chat(project, "before", GOAL)
    assert said(project, told, GOAL) == ""
    assert run_in(project, "gemini", "AfterAgent", told) == {}
    return told


@pytest.fixture
def session(project: Path, tmp_path: Path) -> dict[str, Any]:
    """A session of Claude Code in which something was asked and answered."""
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(jsonl(user("u1", None, GOAL), assistant("a1", "u1", "m1", text("Looking."))))
    told = {"transcript_path": str(path)}
    run(project, "UserPromptSubmit", {"prompt": GOAL})
    run(project, "Stop", told)
    return told


@pytest.mark.usefixtures("session")
def test_what_was_used_last_was_cleared_where_nobody_tells_of_an_end(project: Path) -> None:
    told = run(project, "SessionStart", {"session_id": "fresh", "source": "clear"}).context
    for words in (RECORD, BEFORE, GOAL):
        assert words in told


def test_what_ended_otherwise_was_not_cleared(project: Path, session: dict[str, Any]) -> None:
    run(project, "SessionEnd", {**session, "reason": "prompt_input_exit"})
    cleared = {"session_id": "fresh", "source": "clear"}
    until(lambda: BEFORE not in run(project, "SessionStart", cleared).context)
    assert RECORD in run(project, "SessionStart", cleared).context


@pytest.mark.usefixtures("used")
def test_what_stood_in_the_window_of_another_program_was_not_cleared(project: Path) -> None:
    told = run(project, "SessionStart", {"session_id": "fresh", "source": "clear"}).context
    assert (RECORD in told, BEFORE in told) == (True, False)


def test_gemini_is_told_with_the_first_words_after_a_clear_and_once(
    project: Path, used: dict[str, Any]
) -> None:
    fresh = chat(project, "after")
    assert run_in(project, "gemini", "SessionEnd", {**used, "reason": "clear"}) == {}
    assert run_in(project, "gemini", "SessionStart", {**fresh, "source": "clear"}) == {}
    assert "Context Status Report" in said(project, fresh, "context status")
    told = said(project, fresh, "Go on.")
    for words in (RECORD, BEFORE, GOAL):
        assert words in told
    assert said(project, fresh, "And now?") == ""


@pytest.mark.usefixtures("used")
def test_gemini_is_told_nothing_with_the_first_words_where_nothing_was_cleared(
    project: Path,
) -> None:
    assert said(project, chat(project, "other"), "Something else.") == ""


def test_gemini_is_told_with_the_next_words_what_it_compressed_by_hand_and_once(
    project: Path, used: dict[str, Any]
) -> None:
    assert run_in(project, "gemini", "PreCompress", {**used, "trigger": "manual"}) == {}
    assert list((project / ".holdfast/cache/conversations").iterdir())
    assert "Context Status Report" in said(project, used, "context status")
    told = said(project, used, "Go on.")
    for words in (RECORD, "after compaction", GOAL):
        assert words in told
    assert said(project, used, "And now?") == ""
