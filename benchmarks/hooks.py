"""Hooks of Claude Code: how long each keeps the agent waiting, and that this does not grow.

Every event in turn with a Python that does nothing and a Node hook that does nothing, so that noise
hits all of them alike. `HOLDFAST_CALLS` says how many calls of each are made.
"""

import compileall
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter

import holdfast
from benchmarks.table import print_table
from holdfast.session.open import open_store
from holdfast.transcripts.follow import follow

CALLS = int(os.environ.get("HOLDFAST_CALLS", "200"))
GROWN = (100, 1_000, 10_000, 100_000)
ROUNDS = max(CALLS // 10, 5)
HOOK = str(Path(sys.executable).with_name("holdfast-hook"))
NODE = "process.stdin.on('data', () => {}).on('end', () => process.exit(0))"
SESSION = "benchmark"
SPELLED = (",", ":")
"""As the client spells JSON."""
RARE = ("SessionStart, startup", "SessionEnd", "SessionStart, compact", "PreCompact")
"""Events that a session has few of: a tenth of the calls will do."""
SMALL = "one line of output\n" * 20
LARGE = "".join(f"request {n} served in {n % 7} ms by worker {n % 13}\n" for n in range(700))


def run() -> None:
    """Print the tables."""
    compileall.compile_dir(Path(holdfast.__file__).parent, quiet=2)
    with TemporaryDirectory() as folder:
        _events(Path(folder))
    with TemporaryDirectory() as folder:
        _growth(Path(folder))


class Agent:
    """A session of an agent, with the transcript that it writes."""

    def __init__(self, folder: Path, messages: int) -> None:
        self.root = folder / f"project-{messages}"
        (self.root / ".git").mkdir(parents=True)
        self.transcript = folder / f"{messages}.jsonl"
        self._lines = self._written()
        self.calls = 0
        self.grow(messages)
        with open_store(self.root) as store:
            follow(store, SESSION, self.transcript)

    def grow(self, messages: int) -> None:
        """Write so many more messages down."""
        with self.transcript.open("a") as file:
            for _ in range(messages):
                file.write(json.dumps(next(self._lines), separators=SPELLED) + "\n")

    def _written(self) -> Iterator[dict[str, object]]:
        number, parent = 0, None
        while True:
            for role, content in (
                ("user", f"Look at part {number} of the export."),
                ("assistant", [{"type": "text", "text": f"Part {number} is fine so far."}]),
            ):
                number += 1
                cached = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 1_000}
                usage = {"input_tokens": 1_000 + number % 9_000, **cached, "output_tokens": 20}
                message = {"role": role, "content": content, "id": f"m{number}", "usage": usage}
                yield {
                    "type": role,
                    "uuid": f"l{number}",
                    "parentUuid": parent,
                    "isSidechain": False,
                    "sessionId": SESSION,
                    "timestamp": "2026-11-01T10:00:00.000Z",
                    "message": {**message, "model": "claude-opus-5-5"},
                }
                parent = f"l{number}"

    def hook(self, event: str, *, wait: float = 60, **more: object) -> tuple[float, float]:
        """Milliseconds that a hook takes."""
        self.calls += 1
        told = {
            "session_id": SESSION,
            "cwd": str(self.root),
            "transcript_path": str(self.transcript),
            "hook_event_name": event,
            **more,
        }
        return timed(
            [HOOK, "claude-code", event], json.dumps(told, separators=SPELLED), self.root, wait=wait
        )

    def result(self, stdout: str) -> tuple[float, float]:
        """The same for a tool that answers."""
        response = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False}
        return self.hook(
            "PostToolUse",
            tool_name="Bash",
            tool_input={"command": "cat app.log"},
            tool_use_id=f"toolu_{self.calls}",
            tool_response=response,
        )

    def turn(self) -> tuple[float, float]:
        """The same for the end of a turn of six messages."""
        self.grow(6)
        return self.hook("Stop")


def timed(words: list[str], told: str, folder: Path, *, wait: float = 60) -> tuple[float, float]:
    """Milliseconds from the start of a process to its end, and those that it computed."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HOLDFAST", "CLAUDE"))}
    began, before = perf_counter(), getrusage(RUSAGE_CHILDREN)
    subprocess.run(
        words,
        input=told.encode(),
        cwd=folder,
        env={**kept, "HOME": str(folder)},
        stdout=subprocess.DEVNULL,
        timeout=wait,
        check=True,
    )
    took, after = perf_counter() - began, getrusage(RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took * 1_000, used * 1_000


def _events(folder: Path) -> None:
    agent = Agent(folder, 200)
    node = shutil.which("node")
    ways: dict[str, Callable[[], tuple[float, float]]] = {
        "python -c pass": lambda: timed([sys.executable, "-c", "pass"], "{}", agent.root),
        **(
            {"node, no-op hook": lambda: timed([node, "-e", NODE], "{}", agent.root)}
            if node
            else {}
        ),
        "PostToolUse, small": lambda: agent.result(SMALL),
        "PostToolUse, offloaded": lambda: agent.result(LARGE),
        "PostToolUseFailure": lambda: agent.hook(
            "PostToolUseFailure", tool_name="Bash", tool_use_id="t", error="Exit code 1\nno"
        ),
        "PostToolBatch": lambda: agent.hook("PostToolBatch"),
        "UserPromptSubmit": lambda: agent.hook("UserPromptSubmit", prompt="And the next part?"),
        "SubagentStart": lambda: agent.hook("SubagentStart", agent_id="a", agent_type="x"),
        "Stop, a turn of six messages": agent.turn,
        "SessionStart, startup": lambda: agent.hook("SessionStart", source="startup"),
        "SessionEnd": lambda: agent.hook("SessionEnd", reason="other"),
        "status line": lambda: agent.hook("statusline"),
        "SessionStart, compact": lambda: agent.hook("SessionStart", source="compact"),
        "PreCompact": lambda: agent.hook("PreCompact", trigger="auto"),
    }
    took: dict[str, list[float]] = {name: [] for name in ways}
    used: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(CALLS):
        for name, way in ways.items():
            if name in RARE and number % 10:
                continue
            wall, computed = way()
            took[name].append(wall)
            used[name].append(computed)
    bare, idle = _part(took["python -c pass"], 50), _part(used["python -c pass"], 50)
    rows = [
        [
            name,
            f"{_part(times, 50):.0f} ms",
            f"{_part(times, 99):.0f} ms",
            f"{_part(times, 50) - bare:+.0f} ms",
            f"{min(times) - min(took['python -c pass']):+.0f} ms",
            f"{_part(used[name], 50) - idle:+.0f} ms",
        ]
        for name, times in took.items()
    ]
    heads = ["event", "p50", "p99", "p50 over bare Python", "best over best", "CPU over bare"]
    print_table(f"Hooks of Claude Code, {CALLS} calls each, a tenth of the rare ones", heads, rows)


def _growth(folder: Path) -> None:
    rows: list[list[str]] = []
    for size in GROWN:
        agent = Agent(folder, size)
        took: dict[str, list[float]] = {}
        for _ in range(ROUNDS):
            bare = timed([sys.executable, "-c", "pass"], "{}", agent.root)
            took.setdefault("bare", []).append(bare[0])
            took.setdefault("small", []).append(agent.result(SMALL)[0])
            took.setdefault("large", []).append(agent.result(LARGE)[0])
            took.setdefault("batch", []).append(agent.hook("PostToolBatch")[0])
            took.setdefault("stop", []).append(agent.turn()[0])
        rows.append([f"{size:,}", *(f"{_part(times, 50):.0f} ms" for times in took.values())])
    heads = ["messages", "python -c pass", "small result", "offloaded", "PostToolBatch", "Stop"]
    print_table(f"The same in longer sessions, p50 of {ROUNDS}", heads, rows)


def _part(times: list[float], percent: int) -> float:
    ranked = sorted(times)
    return ranked[min(len(ranked) * percent // 100, len(ranked) - 1)]
