"""Test an installation: run each hook as the agent does, start the MCP server and list its tools.

All of it happens in a temporary project.
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
from holdfast.surfaces.install.plan import DoctorCheck
from holdfast.text.jsontext import Json, as_list, as_object, as_text, parse

TIMEOUT_SECONDS = 30
"""Most seconds for one hook or one server."""
SESSION = "holdfast-doctor"
NEEDLE = "the needle that the doctor hid"
LARGE_OUTPUT = "\n".join(
    f"row {number}: {NEEDLE if number == 1_500 else 'hay'}" for number in range(3_000)
)


def check_hooks(path: Path, agent: str) -> Iterator[DoctorCheck]:
    """Run each of our hooks in a settings file once, and check its answer."""
    hooks = as_object(as_object(_read_json(path)).get("hooks"))
    with _scratch_folder() as folder:
        for event, groups in hooks.items():
            for command in _our_commands(groups):
                yield _check_command(event, command, agent, folder)


@contextmanager
def _scratch_folder() -> Generator[str]:
    """Make a temporary folder; remove it even if a background process of a hook writes to it."""
    with TemporaryDirectory(prefix="holdfast-doctor-", ignore_cleanup_errors=True) as folder:
        yield folder
    end = perf_counter() + TIMEOUT_SECONDS
    while Path(folder).exists() and perf_counter() < end:
        rmtree(folder, ignore_errors=True)
        sleep(0.05)


def _our_commands(groups: Json) -> Iterator[str]:
    for group in as_list(groups):
        for hook in as_list(as_object(group).get("hooks")):
            command = as_text(as_object(hook).get("command"))
            if "holdfast" in command:
                yield command


def _check_command(event: str, command: str, agent: str, folder: str) -> DoctorCheck:
    return check_hook(event, ["sh", "-c", command], hook_input(event, folder), folder, agent)


def check_hook(
    event: str, words: list[str], document: Mapping[str, object], folder: str, agent: str
) -> DoctorCheck:
    """Run a hook with the input of an event, and check its answer."""
    began = perf_counter()
    try:
        done = run_hook(words, folder, document)
    except (OSError, subprocess.TimeoutExpired) as error:
        return DoctorCheck(f"hook {event}", False, f"{type(error).__name__}: {words[-1]}")
    duration = f"{(perf_counter() - began) * 1_000:.0f} ms"
    problem = _problem_of(event, done, agent)
    return DoctorCheck(f"hook {event}", not problem, problem or duration)


def run_hook(
    words: list[str], folder: str, document: Mapping[str, object]
) -> subprocess.CompletedProcess[str]:
    """Run a hook as an agent does: the event as JSON on stdin."""
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("HOLDFAST_HOOK", "CLAUDE"))
    }
    return subprocess.run(
        words,
        cwd=folder,
        env={**environment, "CLAUDE_PROJECT_DIR": folder, "HOLDFAST_ROOT": folder},
        input=json.dumps(document),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


def hook_input(event: str, folder: str) -> dict[str, object]:
    """Return the JSON object that an agent sends with an event."""
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
            "stdout": LARGE_OUTPUT,
            "stderr": "",
            "interrupted": False,
            "isImage": False,
            "noOutputExpected": False,
            "llmContent": LARGE_OUTPUT,
        },
        "error": "Exit code 1\nno such file",
        "prompt": "context status",
        "agent_type": "x",
        "agent_id": "a1",
        "trigger": "manual",
    }


REQUIRED_IN_ANSWER = {
    "PostToolUse": "## Offloaded: ",
    "AfterTool": "## Offloaded: ",
    "tool.execute.after": "## Offloaded: ",
    "UserPromptSubmit": "",
    "SubagentStart": "context packet",
}
"""Text that the answer to an event must contain."""


def _problem_of(event: str, done: "subprocess.CompletedProcess[str]", agent: str) -> str:
    """Describe in one line what is wrong with an answer; empty if nothing is."""
    if "not found" in done.stderr or "No such file" in done.stderr:
        return f"its command is not there: {done.stderr.strip()[:120]}"
    if done.returncode:
        return f"it ends with {done.returncode} where {agent} takes only 0"
    expected = REQUIRED_IN_ANSWER.get(event)
    if expected and expected not in done.stdout:
        return "it ran and did not answer; .holdfast/hooks.log may say why"
    return ""


def check_servers(path: Path) -> Iterator[DoctorCheck]:
    """Start each server of a settings file as an agent does, and check its tools."""
    servers = as_object(as_object(_read_json(path)).get("mcpServers"))
    for name, server in servers.items():
        spec = as_object(server)
        words = [as_text(spec.get("command")), *map(as_text, as_list(spec.get("args")))]
        yield check_server(name, words)


def check_server(name: str, words: list[str]) -> DoctorCheck:
    """Start a server, and check that it offers our tools."""
    began = perf_counter()
    requests = [
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
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    with TemporaryDirectory(prefix="holdfast-doctor-") as folder:
        try:
            done = subprocess.run(
                words,
                cwd=folder,
                env={**os.environ, "HOLDFAST_ROOT": folder},
                input=lines,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return DoctorCheck(f"server {name}", False, f"{type(error).__name__}: {words[0]}")
    tools = _tool_names(done.stdout)
    detail = f"{len(tools)} tools, {(perf_counter() - began) * 1_000:.0f} ms"
    missing = not any(tool.endswith("context_recover") for tool in tools)
    return DoctorCheck(
        f"server {name}", not missing, "it offers no context_recover" if missing else detail
    )


def _tool_names(out: str) -> list[str]:
    for line in out.splitlines():
        with suppress(ValueError):
            answer = as_object(parse(line.encode())[0])
            if answer.get("id") == 2:
                tools = as_list(as_object(answer.get("result")).get("tools"))
                return [as_text(as_object(tool).get("name")) for tool in tools]
    return []


def _read_json(path: Path) -> Json:
    try:
        return value_at((content_of(path) or b"").decode())
    except (Unreadable, ValueError):
        return {}
