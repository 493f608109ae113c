"""Every hook event of every host, through our functions and now and then as a real process."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from holdfast.surfaces.hooks.main import HOSTS, answer_event
from tests.gauntlet import texts
from tests.gauntlet.findings import Run


def host(agent: str) -> Any:
    """The module of a host."""
    return import_module(f"holdfast.surfaces.hooks.hosts.{HOSTS[agent]}")


def events_of(agent: str) -> list[str]:
    """Every event that a host may tell of; Codex tells of those that Claude Code does."""
    own = getattr(host(agent), "EVENTS", None)
    return list(own if own is not None else host("claude-code").EVENTS)


def document_of(
    agent: str, event: str, *, root: Path, transcript: Path, session: str, random: Random
) -> dict[str, Any]:
    """What a host says when something happened."""
    output, prompt = texts.output(random), texts.anything(random)
    command = {"command": texts.shell(random), "prompt": prompt, "subagent_type": "worker"}
    if agent == "opencode":
        return {
            "session": session,
            "directory": str(root),
            "call": "call_1",
            "tool": random.choice(("bash", "read", "task")),
            "args": command,
            "output": output * random.choice((1, 20)),
            "prompt": prompt,
            "said": texts.prose(random),
            "model": "claude-sonnet-5",
            "tokens": random.choice((0, 150_000)),
            "window": random.choice((0, 200_000)),
        }
    told: dict[str, Any] = {
        "session_id": session,
        "transcript_path": str(transcript),
        "cwd": str(root),
        "hook_event_name": event,
        "source": random.choice(("startup", "resume", "clear", "compact")),
        "trigger": random.choice(("auto", "manual")),
        "prompt": prompt,
        "custom_instructions": prompt,
        "tool_name": random.choice(("Bash", "Read", "Task", "mcp__x__y", "Grep")),
        "tool_use_id": "toolu_1",
        "tool_input": command,
        "last_assistant_message": texts.prose(random),
        "prompt_response": texts.prose(random),
        "stop_hook_active": random.random() < 0.2,
        "agent_id": random.choice(("", "worker-1")),
        "agent_type": "worker",
        "context_tokens": random.choice((0, 190_000)),
        "messages": [
            {"role": "user", "text": prompt, "handle": "h1"},
            {"role": "assistant", "text": output, "handle": "h2", "toolUses": [{"name": "Bash"}]},
        ],
        "error": output,
    }
    large = output * random.choice((1, 30))
    told["tool_response"] = random.choice(
        (
            large,
            {"stdout": large, "stderr": "", "isImage": False, "interrupted": False},
            {"file": {"content": large, "filePath": "a.py"}},
            [{"type": "text", "text": large}],
            {"llmContent": large},
            {"llmContent": [{"text": large}]},
            {"content": large},
            None,
            7,
        )
    )
    return told


def exercise(
    run: Run, root: Path, transcript: Path, session: str, random: Random, agents: list[str]
) -> None:
    """Tell of every event of some hosts, now and then in a session that has just begun."""
    if random.randrange(4) == 0:
        session, transcript = f"new-{session}", root / "nothing.jsonl"
        if random.random() < 0.5:
            transcript.touch()
    for agent in agents:
        for event in events_of(agent):
            name = f"hook {agent} {event}"
            if not run.wants(name):
                continue
            document = document_of(
                agent, event, root=root, transcript=transcript, session=session, random=random
            )
            if random.randrange(80) == 0:
                _as_process(run, name, agent, event, document, root)
            else:
                answer = run.do(name, told, agent, event, document)
                _judge(run, name, answer or b"", plain=event in ("PreCompact", "statusline"))


def told(agent: str, event: str, document: dict[str, Any]) -> bytes:
    """What is answered to an event, without the guard that keeps failures from the agent."""
    speaks = host(agent)
    heard = json.loads(json.dumps(document))
    happened = speaks.read(event, heard, dict(os.environ))
    return speaks.write(event, heard, answer_event(happened)) if happened is not None else b""


def _as_process(
    run: Run, name: str, agent: str, event: str, document: dict[str, Any], root: Path
) -> None:
    """The same as the host does it; what fails goes to the error output there."""
    raw = json.dumps(document, separators=(",", ":")).encode()
    environment = {**os.environ, "HOLDFAST_HOOK_DEBUG": "1"}

    def call() -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "holdfast.surfaces.hooks.main", agent, event],
            cwd=root,
            env=environment,
            input=raw,
            capture_output=True,
            timeout=120,
            check=False,
        )

    done = run.do(name, call)
    if done is None:
        return
    if done.returncode != 0:
        run.wrong("exception", name, f"exit code {done.returncode}: {done.stderr[-300:]!r}")
    if b"holdfast-hook:" in done.stderr:
        run.wrong("exception", name, done.stderr[-500:].decode("utf-8", "replace"))
    _judge(run, name, done.stdout, plain=event in ("PreCompact", "statusline"))


def _judge(run: Run, name: str, answer: bytes, *, plain: bool) -> None:
    if plain or not answer:
        return
    try:
        json.loads(answer)
    except ValueError as error:
        run.wrong("other", name, f"the answer is no JSON: {error}: {answer[:200]!r}")
