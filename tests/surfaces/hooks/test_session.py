"""What a session is told when it begins, goes on, is compacted or ends, and what is put down."""

import json
import subprocess
from pathlib import Path

import pytest

import holdfast
from holdfast.core.ledger.entry import Noted
from holdfast.packets.questions import STATEMENTS_CACHE
from holdfast.session.open import open_store
from tests.contracts.transcripts import (
    assistant,
    boundary,
    call,
    jsonl,
    result,
    summary,
    text,
    user,
)
from tests.surfaces.hooks.hooking import HOOK, SESSION, environment, run, until

GOAL = "Write the export job. Never touch the billing schema. Use port 8443 only."
LINES = (
    user("u1", None, GOAL),
    assistant("a1", "u1", "m1", text("I will use a lock file because two exports may overlap.")),
    assistant(
        "a2", "a1", "m1", call("t1", "Write", file_path="/app/export.py", content="lock = 1\n" * 9)
    ),
    result("r1", "a2", "t1", "File created successfully"),
    assistant("a3", "r1", "m2", text("The job is written.")),
)
COMPACTED = (*LINES, boundary("b1"), summary("s1", "b1", "The model's own summary."))


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(jsonl(*LINES))
    return path


@pytest.mark.seed("R101", "R104")
def test_before_a_compaction_all_is_put_down_and_its_writer_told_what_to_keep(
    project: Path, transcript: Path
) -> None:
    told = run(project, "PreCompact", {"transcript_path": str(transcript), "trigger": "manual"}).out
    assert len(told) <= 10_000
    for words in (
        "Never touch the billing schema.",
        "Use port 8443 only.",
        "/app/export.py",
    ):
        assert words in told
    assert not told.startswith("{")  # plain text is what the client hands on
    with holdfast.open(SESSION, root=project) as session:
        (taken,) = session.ledger.newest_checkpoints()
        assert session.ledger.find(taken.id[:12]).id == taken.id
    (archive,) = (project / ".holdfast/cache/conversations").iterdir()
    assert "The job is written." in archive.read_text()


@pytest.mark.seed("R003", "R337")
def test_after_a_compaction_the_goal_comes_back_with_where_to_recover(
    project: Path, transcript: Path
) -> None:
    transcript.write_bytes(jsonl(*COMPACTED))
    told = run(
        project, "SessionStart", {"transcript_path": str(transcript), "source": "compact"}
    ).context
    assert len(told) <= 10_000
    for words in (
        GOAL,
        "Never touch the billing schema.",
        "lock file",
        "/app/export.py",
    ):
        assert words in told
    assert "context_recover" in told


@pytest.mark.seed("R140", "R141", "R142", "R143")
def test_after_a_compaction_an_unattended_run_goes_on_by_itself(
    project: Path, transcript: Path
) -> None:
    run(project, "Stop", {"transcript_path": str(transcript)})
    plan = {"plan_id": "p7", "state": "RUNNING", "sprints": {"current": 2, "total": 3}}
    (project / ".run").mkdir()
    (project / ".run/sprint-plan-state.json").write_text(json.dumps(plan))
    subprocess.run(
        [HOOK.removesuffix("-hook"), "unattended", "start", "--plan", "p7"],
        cwd=project,
        env=environment(HOME=str(project / "home")),
        check=True,
        capture_output=True,
    )
    transcript.write_bytes(jsonl(*COMPACTED))
    told = run(
        project, "SessionStart", {"transcript_path": str(transcript), "source": "compact"}
    ).context
    assert "continue sprint 2 of 3 of plan 'p7' without asking" in told


def test_our_own_summary_is_not_told_twice(project: Path, transcript: Path) -> None:
    anchor = run(
        project,
        "session.compact",
        {
            "transcript_path": str(transcript),
            "trigger": "auto",
            "custom_instructions": "keep the port",
            "messages": [{"role": "user", "text": GOAL, "toolUses": []}],
        },
    ).document["anchor"]
    assert anchor.startswith("## Session Summary [")
    for words in (GOAL, "lock file", "| /app/export.py |", "keep the port"):
        assert words in anchor
    told = run(
        project, "SessionStart", {"transcript_path": str(transcript), "source": "compact"}
    ).context
    assert GOAL not in told
    assert "context_recover" in told


def test_our_summary_in_a_transcript_is_no_request_of_the_users(
    project: Path, transcript: Path
) -> None:
    anchor = run(
        project, "session.compact", {"transcript_path": str(transcript), "trigger": "auto"}
    ).document["anchor"]
    transcript.write_bytes(jsonl(*LINES, boundary("b1"), user("s1", "b1", anchor)))
    run(project, "Stop", {"transcript_path": str(transcript)})
    with holdfast.open(SESSION, root=project) as session:
        intent = session.intent()
    assert intent.original.text == GOAL
    assert "Session Summary" not in str(intent)


def test_a_fresh_session_of_an_unknown_project_is_told_nothing(project: Path) -> None:
    assert run(project, "SessionStart", {"source": "startup"}).out == ""


@pytest.mark.seed("R105")
def test_a_session_that_was_cleared_leaves_word_for_the_next(
    project: Path, transcript: Path
) -> None:
    done = run(project, "UserPromptSubmit", {"prompt": GOAL})
    done = run(project, "SessionEnd", {"transcript_path": str(transcript), "reason": "clear"})
    assert (done.code, done.out) == (0, "")
    until(lambda: "session_end" in _notes(project))
    until(lambda: _checkpoints(project) > 0)
    told = run(project, "SessionStart", {"session_id": "fresh", "source": "clear"}).context
    assert "was cleared" in told
    assert "Never touch the billing schema." in told


def test_what_questions_to_the_project_need_is_read_when_a_session_ends(
    project: Path, transcript: Path
) -> None:
    run(project, "UserPromptSubmit", {"prompt": GOAL})
    run(project, "SessionEnd", {"transcript_path": str(transcript), "reason": "other"})
    until(lambda: _cached_statements(project) is not None)


@pytest.mark.seed("R212", "R213", "R107")
@pytest.mark.parametrize("words", ["context status", "compress", "compression log"])
def test_quick_commands_are_answered_without_the_model(
    project: Path, transcript: Path, words: str
) -> None:
    told = run(
        project, "UserPromptSubmit", {"prompt": words, "transcript_path": str(transcript)}
    ).document
    assert told["decision"] == "block"
    assert told["reason"].startswith(("## ", "compressed", "nothing", "it stays", SESSION))


@pytest.mark.seed("R215")
def test_the_intent_is_shown_word_for_word(project: Path, transcript: Path) -> None:
    told = run(
        project,
        "UserPromptSubmit",
        {"prompt": "Show session intent.", "transcript_path": str(transcript)},
    ).document
    assert GOAL in told["reason"]


@pytest.mark.seed("R214")
def test_what_is_recovered_is_told_to_the_model(project: Path, transcript: Path) -> None:
    told = run(
        project,
        "UserPromptSubmit",
        {"prompt": "recover lock file", "transcript_path": str(transcript)},
    ).context
    assert "two exports may overlap" in told
    assert "--- data " in told


def test_a_request_is_on_record_before_anything_is_done_about_it(project: Path) -> None:
    assert run(project, "UserPromptSubmit", {"prompt": "Compress these images."}).out == ""
    with holdfast.open(SESSION, root=project) as session:
        (note,) = [e.body for e in session.store.read(SESSION)]
    assert note == Noted("prompt", {"text": "Compress these images."})


USAGE = {"input_tokens": 10, "cache_read_input_tokens": 0, "output_tokens": 10}


@pytest.mark.parametrize(("tokens", "opened"), [(99_000, False), (140_000, True)])
def test_a_window_with_room_is_known_by_its_bytes_alone(
    project: Path, transcript: Path, tokens: int, opened: bool
) -> None:
    used = {"input_tokens": 3, "cache_creation_input_tokens": 5, "cache_read_input_tokens": tokens}
    line = assistant("a9", "a3", "m9", text("On."), usage=used, model="claude-haiku-4-5")
    raw = json.dumps(line, separators=(",", ":")).encode() + b"\n"
    transcript.write_bytes(jsonl(*LINES) + raw)
    told = run(project, "PostToolBatch", {"transcript_path": str(transcript)})
    assert bool(told.out) == opened
    assert (project / ".holdfast").exists() == opened


@pytest.mark.seed("R036", "R221")
@pytest.mark.parametrize(
    ("tokens", "level"), [(40_000, ""), (140_000, "RED"), (160_000, "CRITICAL")]
)
def test_a_window_that_fills_up_is_told_of_once(
    project: Path, transcript: Path, tokens: int, level: str
) -> None:
    used = {**USAGE, "cache_read_input_tokens": tokens}
    line = assistant("a9", "a3", "m9", text("On."), usage=used, model="claude-haiku-4-5")
    transcript.write_bytes(jsonl(*LINES, line))
    told = run(project, "PostToolBatch", {"transcript_path": str(transcript)})
    if not level:
        assert told.out == ""
        return
    assert f"({level})" in told.context
    assert _checkpoints(project) == (level == "CRITICAL")
    assert run(project, "PostToolBatch", {"transcript_path": str(transcript)}).out == ""


@pytest.mark.seed("R144", "R220")
def test_an_agent_that_drifts_after_a_compaction_is_told_once(
    project: Path, transcript: Path
) -> None:
    asks = "Could you clarify what you would like me to work on? I have no context."
    lines = jsonl(*COMPACTED, assistant("a9", "s1", "m9", text(asks)))
    transcript.write_bytes(lines)
    document = {"transcript_path": str(transcript), "last_assistant_message": asks}
    told = run(project, "Stop", document)
    assert "Goal Drift" in told.context
    assert GOAL in told.context
    assert run(project, "Stop", document).out == ""


@pytest.mark.seed("R290", "R291")
def test_a_worker_is_started_with_a_packet(project: Path, transcript: Path) -> None:
    task = {"description": "x", "prompt": "Test the export job.", "subagent_type": "Explore"}
    document = {"tool_name": "Agent", "tool_input": task, "transcript_path": str(transcript)}
    made = run(project, "PreToolUse", document).document["hookSpecificOutput"]["updatedInput"]
    assert made["subagent_type"] == "Explore"
    assert "Never touch the billing schema." in made["prompt"]
    assert made["prompt"].endswith("Test the export job.")
    again = run(project, "PreToolUse", {**document, "tool_input": made})
    assert again.out == ""
    other = {**document, "tool_name": "Bash", "tool_input": {"command": "ls"}}
    assert run(project, "PreToolUse", other).out == ""


@pytest.mark.seed("R261", "R292")
def test_what_a_worker_lacked_is_on_record(project: Path, transcript: Path) -> None:
    told = run(project, "SubagentStart", {"agent_id": "a1", "agent_type": "Explore"})
    assert "context_gaps" in told.context
    said = "Found it.\n\n```yaml\ncontext_gaps:\n- how exports are tested\noutcome: done\n```"
    stopped = {"agent_id": "a1", "agent_type": "Explore", "last_assistant_message": said}
    run(project, "SubagentStop", {**stopped, "transcript_path": str(transcript)})
    with holdfast.open(SESSION, root=project) as session:
        assert "how exports are tested" in str([e.body for e in session.store.read(SESSION)])


def test_the_clients_own_worker_for_summaries_is_left_alone(project: Path) -> None:
    done = run(project, "SubagentStop", {"agent_type": "", "last_assistant_message": "gaps: x"})
    assert done.out == ""
    assert not (project / ".holdfast").exists()


def test_the_status_line_says_how_full_it_is(project: Path) -> None:
    window = {
        "context_window_size": 200_000,
        "current_usage": {"input_tokens": 8, "cache_read_input_tokens": 130_000},
    }
    told = run(
        project, "statusline", {"model": {"id": "claude-haiku-4-5"}, "context_window": window}
    )
    assert told.out == "holdfast 77% RED\n"


def _notes(project: Path) -> str:
    with holdfast.open(SESSION, root=project) as session:
        return str([e.body for e in session.store.read(SESSION) if isinstance(e.body, Noted)])


def _cached_statements(project: Path) -> bytes | None:
    with open_store(project) as store:
        return store.read_cache(SESSION, STATEMENTS_CACHE)


def _checkpoints(project: Path) -> int:
    with holdfast.open(SESSION, root=project) as session:
        return len([*session.ledger.newest_checkpoints()])


@pytest.mark.parametrize("event", ["PreCompact", "SessionStart"])
def test_a_record_that_no_hook_can_go_through_is_told_from_the_ends_of_the_transcript(
    project: Path, transcript: Path, event: str
) -> None:
    few = "from holdfast.surfaces.hooks import session\nsession.MAX_ENTRIES = 3\n"
    (project / "sitecustomize.py").write_text(few)
    document = {"transcript_path": str(transcript), "source": "compact"}
    told = run(project, event, document, PYTHONPATH=str(project))
    assert f"First request: {GOAL}" in told.out
    assert "Constraint: Use port 8443 only." in told.out
    with holdfast.open(SESSION, root=project) as session:
        assert session.ledger.path()
