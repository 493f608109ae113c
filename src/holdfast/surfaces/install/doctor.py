"""Trying what was put into an agent: hooks run as the agent would, the server started and asked.

All of it happens in a project made for that, which is gone afterwards.
"""

import json
import os
import subprocess
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

from holdfast.errors import Unreadable
from holdfast.surfaces.install.apply import content_of
from holdfast.surfaces.install.jsonc import value_at
from holdfast.surfaces.install.plan import Check
from holdfast.text.jsontext import Json, as_list, as_object, as_text, parse

PATIENCE = 30
"""Seconds that anything may take."""
SESSION = "holdfast-doctor"
NEEDLE = "the needle that the doctor hid"
LARGE = "\n".join(
    f"row {number}: {NEEDLE if number == 1_500 else 'hay'}" for number in range(3_000)
)


def try_hooks(path: Path, agent: str) -> Iterator[Check]:
    """Run every hook of a file once, and look at what it answers."""
    hooks = as_object(as_object(_read(path)).get("hooks"))
    with _scratch() as folder:
        for event, groups in hooks.items():
            for command in _commands(groups):
                yield _tried(event, command, agent, folder)


@contextmanager
def _scratch() -> Generator[str]:
    """A folder that is gone afterwards, although a hook may still be at work there on its own."""
    with TemporaryDirectory(prefix="holdfast-doctor-", ignore_cleanup_errors=True) as folder:
        yield folder
    end = perf_counter() + PATIENCE
    while Path(folder).exists() and perf_counter() < end:
        rmtree(folder, ignore_errors=True)
        sleep(0.05)


def _commands(groups: Json) -> Iterator[str]:
    for group in as_list(groups):
        for one in as_list(as_object(group).get("hooks")):
            command = as_text(as_object(one).get("command"))
            if "holdfast" in command:
                yield command


def _tried(event: str, command: str, agent: str, folder: str) -> Check:
    return tried_hook(event, ["sh", "-c", command], document_of(event, folder), folder, agent)


def tried_hook(
    event: str, words: list[str], document: Mapping[str, object], folder: str, agent: str
) -> Check:
    """Whether a hook answers as it should when its agent tells it something."""
    began = perf_counter()
    try:
        done = run(words, folder, document)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check(f"hook {event}", False, f"{type(error).__name__}: {words[-1]}")
    took = f"{(perf_counter() - began) * 1_000:.0f} ms"
    wrong = _wrong(event, done, agent)
    return Check(f"hook {event}", not wrong, wrong or took)


def run(
    words: list[str], folder: str, document: Mapping[str, object]
) -> subprocess.CompletedProcess[str]:
    """Run a hook as an agent does."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HOLDFAST_HOOK", "CLAUDE"))}
    return subprocess.run(
        words,
        cwd=folder,
        env={**kept, "CLAUDE_PROJECT_DIR": folder, "HOLDFAST_ROOT": folder},
        input=json.dumps(document),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def document_of(event: str, folder: str) -> dict[str, object]:
    """What an agent tells with an event."""
    return {
        "session_id": SESSION,
        "transcript_path": os.path.join(folder, "transcript.jsonl"),
        "cwd": folder,
        "hook_event_name": event,
        "source": "startup",
        "tool_name": "Agent" if event == "PreToolUse" else "Bash",
        "tool_use_id": "call-1",
        "tool_input": {"command": "cat hay", "prompt": "Find the needle.", "subagent_type": "x"},
        "tool_response": {
            "stdout": LARGE,
            "stderr": "",
            "interrupted": False,
            "isImage": False,
            "noOutputExpected": False,
            "llmContent": LARGE,
        },
        "error": "Exit code 1\nno such file",
        "prompt": "context status",
        "agent_type": "x",
        "agent_id": "a1",
        "trigger": "manual",
    }


ANSWERS = {
    "PostToolUse": "## Offloaded: ",
    "AfterTool": "## Offloaded: ",
    "tool.execute.after": "## Offloaded: ",
    "UserPromptSubmit": "",
    "SubagentStart": "context packet",
}
"""What has to stand in the answer to an event, where there has to be one."""


def _wrong(event: str, done: "subprocess.CompletedProcess[str]", agent: str) -> str:
    """What is wrong with an answer, in a line."""
    if "not found" in done.stderr or "No such file" in done.stderr:
        return f"its command is not there: {done.stderr.strip()[:120]}"
    if done.returncode:
        return f"it ends with {done.returncode} where {agent} takes only 0"
    expected = ANSWERS.get(event)
    if expected and expected not in done.stdout:
        return "it ran and did not answer; .holdfast/hooks.log may say why"
    return ""


def try_server(path: Path) -> Iterator[Check]:
    """Start the server of a file as an agent does, and ask it for its tools."""
    servers = as_object(as_object(_read(path)).get("mcpServers"))
    for name, told in servers.items():
        spec = as_object(told)
        words = [as_text(spec.get("command")), *map(as_text, as_list(spec.get("args")))]
        yield tried_server(name, words)


def tried_server(name: str, words: list[str]) -> Check:
    """Whether a server answers, and has the tools that it is there for."""
    began = perf_counter()
    asked = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "holdfast-doctor", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    told = "".join(json.dumps(one) + "\n" for one in asked)
    with TemporaryDirectory(prefix="holdfast-doctor-") as folder:
        try:
            done = subprocess.run(
                words,
                cwd=folder,
                env={**os.environ, "HOLDFAST_ROOT": folder},
                input=told,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Check(f"server {name}", False, f"{type(error).__name__}: {words[0]}")
    tools = _tools(done.stdout)
    took = f"{len(tools)} tools, {(perf_counter() - began) * 1_000:.0f} ms"
    missing = not any(tool.endswith("context_recover") for tool in tools)
    return Check(f"server {name}", not missing, "it offers no context_recover" if missing else took)


def _tools(out: str) -> list[str]:
    for line in out.splitlines():
        with suppress(ValueError):
            answer = as_object(parse(line.encode())[0])
            if answer.get("id") == 2:
                tools = as_list(as_object(answer.get("result")).get("tools"))
                return [as_text(as_object(tool).get("name")) for tool in tools]
    return []


def _read(path: Path) -> Json:
    try:
        return value_at((content_of(path) or b"").decode())
    except (Unreadable, ValueError):
        return {}
