"""What Codex, Gemini CLI and opencode tell, and how each is answered: run as they run it."""

import json
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from holdfast.surfaces.hooks.event import HookReply
from holdfast.surfaces.hooks.hosts import codex, gemini, opencode
from holdfast.surfaces.hooks.hosts.gemini_usage import (
    compression_threshold,
    last_usage,
    may_be_full,
)
from holdfast.surfaces.hooks.main import HOSTS
from holdfast.wire.gemini import call_id
from tests.surfaces.hooks.hooking import HOOK, LARGE, environment

CODEX = {
    "tool_name": "Bash",
    "tool_input": {"command": "cat app.log"},
    "tool_response": LARGE,
    "tool_use_id": "call_1",
}
GEMINI = {
    "tool_name": "run_shell_command",
    "tool_input": {"command": "cat app.log"},
    "tool_response": {"llmContent": LARGE, "returnDisplay": LARGE},
}
OPENCODE = {"call": "call_1", "tool": "bash", "args": {"command": "cat app.log"}, "output": LARGE}


def run(project: Path, agent: str, event: str, document: dict[str, Any]) -> dict[str, Any]:
    """What a hook answers; nothing when it says nothing."""
    told = {"session_id": "s1", "session": "s1", "cwd": str(project), "directory": str(project)}
    done = subprocess.run(
        [HOOK, agent, event],
        cwd=project,
        env=environment(HOME=str(project / "home")),
        input=json.dumps({**told, "hook_event_name": event, **document}).encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == b""
    return json.loads(done.stdout) if done.stdout else {}


def test_each_host_is_given_a_large_result_back_in_its_own_words(project: Path) -> None:
    told = run(project, "codex", "PostToolUse", CODEX)
    assert (told["decision"], "**Ref:**" in told["reason"]) == ("block", True)
    told = run(project, "gemini", "AfterTool", GEMINI)
    assert (told["decision"], "**Ref:**" in told["reason"]) == ("deny", True)
    told = run(project, "opencode", "tool.execute.after", OPENCODE)
    assert (list(told), "**Ref:**" in told["output"]) == (["output"], True)


def test_a_small_result_and_an_unknown_event_are_answered_with_nothing(project: Path) -> None:
    assert run(project, "codex", "PostToolUse", {**CODEX, "tool_response": "ok"}) == {}
    small = {**GEMINI, "tool_response": {"llmContent": "ok"}}
    assert run(project, "gemini", "AfterTool", small) == {}
    assert run(project, "opencode", "nobody.knows", OPENCODE) == {}


def test_codex_is_not_answered_where_an_answer_would_stop_it() -> None:
    reply = HookReply(context="words", instructions="keep this", output="short")
    assert codex.write("PreCompact", {}, reply) == b""
    assert codex.write("SessionEnd", {}, reply) == b""
    assert json.loads(codex.write("PostToolUse", {}, reply)) == {
        "decision": "block",
        "reason": "short",
    }


def test_a_worker_of_codex_is_told_what_its_session_is_about(tmp_path: Path) -> None:
    mine, its = tmp_path / "rollout-1-root.jsonl", tmp_path / "rollout-2-worker.jsonl"
    mine.touch()
    its.touch()
    told: dict[str, Any] = {
        "session_id": "root",
        "cwd": str(tmp_path),
        "transcript_path": str(its),
        "agent_id": "worker",
        "agent_type": "default",
    }
    happened = codex.read("SubagentStart", told, {"CLAUDE_PROJECT_DIR": "/elsewhere"})
    assert happened is not None
    assert (happened.kind, happened.transcript) == ("worker_packet", str(mine))
    assert happened.root == str(tmp_path)


def test_a_call_of_gemini_is_named_as_its_chat_names_it(tmp_path: Path) -> None:
    told: dict[str, Any] = {"session_id": "s1", "cwd": str(tmp_path), **GEMINI}
    happened = gemini.read("AfterTool", told, {})
    assert happened is not None
    assert happened.call == call_id("run_shell_command", {"command": "cat app.log"})
    assert (happened.kind, happened.output) == ("tool_result", LARGE)


@pytest.mark.parametrize(("tokens", "kind"), [(900_000, "window_full"), (90_000, "tool_result")])
def test_a_chat_that_will_be_compressed_is_known_by_what_was_reported(
    tmp_path: Path, tokens: int, kind: str
) -> None:
    chat = tmp_path / "chat.jsonl"
    line = {"tokens": {"input": tokens, "output": 20}, "model": "gemini-2.5-pro"}
    chat.write_text(json.dumps({"id": "m1", **line}, separators=(",", ":")) + "\n")
    told: dict[str, Any] = {"session_id": "s", "cwd": str(tmp_path), "transcript_path": str(chat)}
    whole: dict[str, Any] = {**told, **GEMINI}
    happened = gemini.read("AfterTool", whole, {"GEMINI_CLI_HOME": str(tmp_path)})
    assert happened is not None
    assert (happened.kind, happened.tokens) == (kind, tokens + 20)
    assert may_be_full(json.dumps(told, separators=(",", ":")).encode())
    assert last_usage(str(chat)) == (tokens + 20, "gemini-2.5-pro")
    assert last_usage(str(tmp_path / "none")) == (0, "")


def test_where_a_chat_is_compressed_is_read_off_the_settings(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine.json", tmp_path / "theirs.json"
    assert compression_threshold(str(mine), str(theirs)) == 0.5
    mine.write_text('{"model": {"compressionThreshold": 0.7}}')
    assert compression_threshold(str(mine), str(theirs)) == 0.7
    theirs.write_text('{"model": {"compressionThreshold" : 0.2 }}')
    assert compression_threshold(str(mine), str(theirs)) == 0.2


def test_gemini_is_told_once_what_must_not_be_lost(project: Path) -> None:
    chat = project / "chat.jsonl"
    lines: list[dict[str, Any]] = [
        {"sessionId": "s1", "projectHash": "x", "startTime": "2026-11-16T12:00:00Z"},
        {
            "id": "m1",
            "timestamp": "2026-11-16T12:00:00Z",
            "type": "user",
            "content": [{"text": "Find the leak. Never touch the schema."}],
        },
        {
            "id": "m2",
            "timestamp": "2026-11-16T12:00:01Z",
            "type": "gemini",
            "content": "Looking.",
            "tokens": {"input": 900_000, "output": 20},
            "model": "gemini-2.5-pro",
        },
    ]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    chat.write_text(text)
    small = {**GEMINI, "tool_response": {"llmContent": "ok"}, "transcript_path": str(chat)}
    told = run(project, "gemini", "AfterTool", small)
    context = told["hookSpecificOutput"]["additionalContext"]
    assert "Find the leak" in context
    assert "Never touch the schema" in context
    assert run(project, "gemini", "AfterTool", small) == {}


def test_opencode_is_answered_with_what_there_is_and_nothing_else() -> None:
    assert opencode.write("messages", {}, HookReply()) == b""
    made = HookReply(replacements={"c1": {"input": "{}"}}, instructions="keep this")
    assert json.loads(opencode.write("messages", {}, made)) == {
        "context": "keep this",
        "replaced": {"c1": {"input": "{}"}},
    }


@pytest.mark.parametrize("agent", HOSTS)
def test_an_answer_with_half_a_letter_in_it_is_written(agent: str) -> None:
    reply = HookReply(
        output="lone \udfff end", context="half \ud800", block="\udc00", user_message="\udfff"
    )
    speaks = import_module(f"holdfast.surfaces.hooks.hosts.{HOSTS[agent]}")
    results = {"gemini": "AfterTool", "opencode": "tool.execute.after"}
    document: dict[str, object] = {"tool_response": "old"}
    raw = speaks.write(results.get(agent, "PostToolUse"), document, reply)
    assert "lone \udfff end" in json.dumps(json.loads(raw), ensure_ascii=False)
