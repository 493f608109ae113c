"""The functions that the protocols name give what the protocols say."""

import json
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import NotRecorded, NotWritten
from holdfast.seeds import (
    any_drift_indicators,
    assess_progress,
    check_context_status,
    compare_to_intent,
    determine_next_steps,
    drift_warning,
    estimate_context_usage,
    extract_decisions,
    extract_intent,
    extract_relevant,
    extract_relevant_sections,
    generate_session_summary,
    is_asking_clarification_immediately,
    is_declaring_complete_without_deliverable,
    is_progressing_toward_goal,
    list_artifacts,
    list_files,
    matches_query,
    offload_tool_result,
    recover_from_archive,
    recover_offloaded,
    truncate_tool_inputs,
    verify_intent_alignment,
)
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore

LONG = "".join(f"line {number} of the report\n" for number in range(2_000))


@pytest.mark.seed("R029", "R030")
@pytest.mark.parametrize(
    ("usage", "level", "action"),
    [
        (0.0, "GREEN", "Continue normally"),
        (0.2499, "GREEN", "Continue normally"),
        (0.25, "YELLOW", "Monitor, prepare compression"),
        (0.50, "ORANGE", "Apply Tier 1 & 2"),
        (0.75, "RED", "Apply Tier 3 summarisation"),
        (0.85, "CRITICAL", "Checkpoint + fresh session"),
        (1.4, "CRITICAL", "Checkpoint + fresh session"),
    ],
)
def test_a_status_names_its_level_and_action(usage: float, level: str, action: str) -> None:
    assert check_context_status(usage) == {"level": level, "action": action}


@pytest.mark.seed("R031")
def test_usage_is_estimated_as_a_part_of_the_window() -> None:
    session = Session("s", MemoryStore(), policy=holdfast.Policy(window=1_000, reserve=100))
    session.append({"role": "user", "content": "word " * 300})
    assert estimate_context_usage(session) == session.status().tokens / 900
    assert check_context_status(session)["level"] == "YELLOW"


@pytest.mark.seed("R041", "R042", "R046", "R047", "R048")
def test_a_large_result_is_written_whole_and_leaves_a_reference(tmp_path: Path) -> None:
    made = offload_tool_result(LONG, "Web Search", root=str(tmp_path), at="2026-01-29T14:25:30Z")
    assert made["path"].startswith(".holdfast/cache/offloaded/20260129_142530_web_search-")
    assert (tmp_path / made["path"]).read_text() == LONG
    assert made["preview"] == LONG[:500]
    assert made["message"] == f"Full content saved to {made['path']}"
    assert 0 < made["tokens_saved"] < holdfast.compress([said(LONG)], 10**9).before.tokens


def said(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def test_a_result_that_cannot_be_written_is_not_offloaded(tmp_path: Path) -> None:
    (tmp_path / ".holdfast").write_text("in the way")
    with pytest.raises(NotWritten):
        offload_tool_result(LONG, "bash", root=str(tmp_path))


def history(path: str) -> list[dict[str, object]]:
    arguments = json.dumps({"file_path": path, "content": LONG})
    call = {"id": "c", "type": "function", "function": {"name": "Write", "arguments": arguments}}
    return [
        {"role": "user", "content": "write the report"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "written"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "thanks"},
    ]


@pytest.mark.seed("R053", "R054", "R055", "R058", "R059", "R060", "R061")
def test_an_input_whose_content_is_on_disk_becomes_a_reference(tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text(LONG)
    given = history("report.md")
    made = truncate_tool_inputs(given, root=str(tmp_path))
    (call,) = made[1]["tool_calls"]  # type: ignore[misc]
    arguments = json.loads(call["function"]["arguments"])  # type: ignore[index,call-overload]
    assert arguments["file_path"] == "report.md"
    stub = arguments["content"].split("\n")
    assert stub[0] == "## Tool Call: Write"
    assert stub[2].startswith("**Original Size:** ")
    assert stub[3] == "**Path:** report.md"
    assert stub[4].startswith("**Summary:** ")
    assert stub[5] == "**Status:** Content persisted to disk ✓"
    assert [made[at] for at in (0, 2, 3, 4)] == [given[at] for at in (0, 2, 3, 4)]


@pytest.mark.seed("R059", "R323")
@pytest.mark.parametrize("content", [None, "something else"])
def test_an_input_that_is_not_on_disk_stays(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "report.md").write_text(content)
    given = history("report.md")
    assert truncate_tool_inputs(given, root=str(tmp_path)) == given


def worked() -> list[dict[str, object]]:
    """A conversation with everything that a summary tells of."""

    def called(name: str, tool: str, **arguments: object) -> dict[str, object]:
        function = {"name": tool, "arguments": json.dumps(arguments)}
        call = {"id": name, "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    todos = [
        {"content": "Write the parser", "status": "completed", "activeForm": "Writing"},
        {"content": "Test the parser", "status": "pending", "activeForm": "Testing"},
    ]
    return [
        {"role": "user", "content": "Write a parser. Do not touch the schema."},
        {"role": "assistant", "content": "I'll use a regex because the grammar is regular."},
        called("a", "Write", file_path="src/parse.py", content="def parse(text):\n    ...\n"),
        {"role": "tool", "tool_call_id": "a", "content": "written"},
        called("b", "TodoWrite", todos=todos),
        {"role": "tool", "tool_call_id": "b", "content": "ok"},
        {"role": "user", "content": "Actually, use a hand-written lexer instead of a regex."},
    ]


@pytest.mark.seed("R075", "R076")
def test_a_session_is_archived_and_then_summed_up_under_the_keys_of_the_skill(
    tmp_path: Path,
) -> None:
    made = generate_session_summary(worked(), "T 17", root=str(tmp_path), at="2026-01-29T14:25:30Z")
    assert list(made) == [
        "session_id",
        "generated",
        "intent",
        "artifacts",
        "decisions",
        "progress",
        "next_steps",
        "recovery_refs",
    ]
    assert (made["session_id"], made["generated"]) == ("T 17", "2026-01-29T14:25:30Z")
    refs = made["recovery_refs"]
    assert refs == {
        "full_conversation": ".holdfast/cache/conversations/t_17-f732b16b_full.md",
        "offloaded": ".holdfast/cache/offloaded/",
        "checkpoints": ".holdfast/cache/checkpoints/",
    }
    page = (tmp_path / ".holdfast/cache/conversations/t_17-f732b16b_full.md").read_text()
    assert "Write a parser. Do not touch the schema." in page
    assert "def parse(text)" in page
    assert "hand-written lexer" in page


@pytest.mark.seed("R075", "R226")
def test_what_cannot_be_archived_is_not_summed_up(tmp_path: Path) -> None:
    (tmp_path / ".holdfast").write_text("in the way")
    with pytest.raises(NotWritten):
        generate_session_summary(worked(), "s", root=str(tmp_path))


@pytest.mark.seed("R077")
def test_each_part_of_a_summary_can_be_had_alone(tmp_path: Path) -> None:
    whole = generate_session_summary(worked(), "s", root=str(tmp_path))
    alone = {
        "intent": extract_intent(worked()),
        "artifacts": list_artifacts(worked()),
        "decisions": extract_decisions(worked()),
        "progress": assess_progress(worked()),
        "next_steps": determine_next_steps(worked()),
    }
    assert {part: whole[part] for part in alone} == alone


@pytest.mark.seed("R068", "R077", "R198", "R199", "R200")
def test_the_parts_say_what_the_record_shows() -> None:
    assert extract_intent(worked()) == {
        "original": "Write a parser. Do not touch the schema.",
        "current": "Actually, use a hand-written lexer instead of a regex.",
        "scope_changes": ["Actually, use a hand-written lexer instead of a regex."],
        "constraints": [
            "Do not touch the schema.",
            "Actually, use a hand-written lexer instead of a regex.",
        ],
    }
    assert list_artifacts(worked()) == [
        {
            "path": "src/parse.py",
            "action": "created",
            "status": "Complete",
            "what_changed": "parse(); +2",
        }
    ]
    progress = assess_progress(worked())
    assert isinstance(progress, dict)
    assert (progress["completed"], progress["remaining"]) == (
        ["Write the parser"],
        ["Test the parser"],
    )
    assert determine_next_steps(worked()) == [
        {"step": "Test the parser", "owner": "agent", "status": "pending"}
    ]
    decisions = extract_decisions(worked())
    assert isinstance(decisions, list)
    assert any("regex" in str(one) for one in decisions)


ASKED = "Fix the nightly export in src/export.py. Never touch src/billing.py."
WELL = "Now I add the retry loop to src/export.py."


@pytest.fixture
def told(tmp_path: Path) -> dict[str, object]:
    """The protocol's own summary of a session that has only begun."""
    made = generate_session_summary([{"role": "user", "content": ASKED}], "s", root=str(tmp_path))
    return dict(made)


@pytest.mark.seed("R163")
def test_an_action_that_goes_on_is_aligned(told: dict[str, object]) -> None:
    assert verify_intent_alignment(told, WELL) == {"status": "ALIGNED", "continue": True}


@pytest.mark.seed("R160", "R162")
@pytest.mark.parametrize(
    ("action", "check", "value"),
    [
        ("Setting up the carousel with swipe gestures.", "intent_match", False),
        ("I'll change src/billing.py for the export.", "trajectory_valid", False),
        ("What would you like me to do?", "clarification_flag", True),
        ("All done! The export is complete.", "completion_flag", True),
    ],
)
def test_each_check_tells_of_drift_by_itself(
    told: dict[str, object], action: str, check: str, value: bool
) -> None:
    aligned = {
        "intent_match": True,
        "trajectory_valid": True,
        "clarification_flag": False,
        "completion_flag": False,
    }
    assert verify_intent_alignment(told, action) == {
        "status": "DRIFT_DETECTED",
        "action": "RECOVER_CONTEXT",
        "details": aligned | {check: value},
    }


@pytest.mark.seed("R161")
def test_the_predicates_can_be_asked_one_by_one(told: dict[str, object]) -> None:
    assert compare_to_intent(WELL, ASKED)
    assert not compare_to_intent("Setting up the carousel with swipe gestures.", ASKED)
    assert is_progressing_toward_goal(WELL, told)
    assert is_asking_clarification_immediately("Could you remind me of the task?", told)
    assert not is_asking_clarification_immediately(WELL, told)
    assert is_declaring_complete_without_deliverable("Everything is done.", told)
    assert any_drift_indicators({"intent_match": True, "completion_flag": True})
    assert not any_drift_indicators({"intent_match": True, "trajectory_valid": True})


def test_a_summary_in_rows_a_session_and_a_message_do_as_well() -> None:
    session = Session("s", MemoryStore())
    session.append({"role": "user", "content": ASKED})
    arguments = json.dumps({"file_path": "src/billing.py"})
    call = {"id": "c", "type": "function", "function": {"name": "Edit", "arguments": arguments}}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    for summary in (session, session.summary(), session.summary().rows):
        assert verify_intent_alignment(summary, message)["status"] == "DRIFT_DETECTED"
        assert verify_intent_alignment(summary, WELL)["status"] == "ALIGNED"


def test_a_warning_is_given_only_when_there_is_something_to_warn_of() -> None:
    session = Session("s", MemoryStore())
    session.append({"role": "user", "content": ASKED})
    assert drift_warning(session, WELL) == ""
    warning = drift_warning(session, "I'll change src/billing.py as well.")
    assert warning.startswith("⚠️ **Goal Drift Warning**\n\n**Detection:** ")
    assert f"**Original Intent:** {ASKED}" in warning


@pytest.mark.seed("R166", "R171")
def test_offloaded_files_are_searched_and_give_back_the_part_that_is_meant(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert recover_offloaded("anything", root=root) == []
    kept = offload_tool_result(LONG + "the vault opens with 77c0ffee\n", "read", root=root)
    offload_tool_result(LONG.replace("report", "ledger"), "grep", root=root)
    (found,) = recover_offloaded("vault opens", root=root)
    assert found["file"] == kept["path"]
    assert "77c0ffee" in found["excerpt"]
    assert len(found["excerpt"]) < 1_000
    assert recover_offloaded("zeppelin", root=root) == []


@pytest.mark.seed("R169", "R173")
def test_an_archive_gives_back_the_sections_that_are_about_something(tmp_path: Path) -> None:
    talk = [said(f"Remark {at} about the road") for at in range(30)]
    talk[7] = said("The crimson umbrella hangs behind the door")
    generate_session_summary(talk, "trip 1", root=str(tmp_path))
    first, *_ = recover_from_archive("trip 1", "where is the crimson umbrella", root=str(tmp_path))
    assert "crimson umbrella" in first
    with pytest.raises(NotRecorded):
        recover_from_archive("trip 2", "umbrella", root=str(tmp_path))


@pytest.mark.seed("R172")
def test_the_parts_of_a_search_stand_on_their_own(tmp_path: Path) -> None:
    assert list_files("cache/offloaded", root=str(tmp_path)) == []
    (tmp_path / "cache" / "offloaded").mkdir(parents=True)
    (tmp_path / "cache" / "offloaded" / "a.md").write_text("x")
    assert list_files("cache/offloaded", root=str(tmp_path)) == ["cache/offloaded/a.md"]
    assert matches_query("a red bicycle", "bicycles")
    assert not matches_query("a red bicycle", "zeppelin")
    assert "needle" in extract_relevant(f"{LONG}the needle\n{LONG}", "needle")
    assert len(extract_relevant(f"{LONG}the needle\n{LONG}", "needle")) < 1_000
    assert extract_relevant(LONG, "zeppelin") == ""
    page = "# Conversation\n\n## [1] user\n\nabout boats\n\n## [2] user\n\nabout trains"
    assert extract_relevant_sections(page, "trains") == ["[2] user\n\nabout trains"]
