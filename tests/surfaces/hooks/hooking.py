"""Running a hook as an agent's program does: one document in, one or none out."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from msgspec import Struct

HOOK = str(Path(sys.executable).with_name("holdfast-hook"))
LARGE = "".join(f"request {n} served in {n % 7} ms\n" for n in range(2_000)) + "ERROR disk full\n"
SESSION = "cc-session"


class Ran(Struct, frozen=True):
    """What a hook did."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one document that it printed."""
        return json.loads(self.out)

    @property
    def context(self) -> str:
        """What the model is told besides."""
        return self.document["hookSpecificOutput"]["additionalContext"]


def environment(**more: str) -> dict[str, str]:
    """An environment that says nothing of us."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HOLDFAST", "CLAUDE"))}
    return {**kept, **more}


def run(
    project: Path, event: str, document: dict[str, Any] | bytes | None = None, **more: str
) -> Ran:
    """Run `holdfast-hook claude-code EVENT` in a project."""
    told = {"session_id": SESSION, "cwd": str(project), "hook_event_name": event}
    whole = {**told, **(document if isinstance(document, dict) else {})}
    # As the client spells it.
    raw = document if isinstance(document, bytes) else json.dumps(whole, separators=(",", ":"))
    done = subprocess.run(
        [HOOK, "claude-code", event],
        cwd=project,
        env=environment(HOME=str(project / "home"), **more),
        input=raw if isinstance(raw, bytes) else raw.encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def until(holds: Callable[[], object], seconds: float = 30) -> None:
    """Wait for what a hook does once its host has gone."""
    end = monotonic() + seconds
    while not holds():
        assert monotonic() < end
        sleep(0.1)


def ran_bash(stdout: str, call: str = "toolu_1", **more: Any) -> dict[str, Any]:
    """What Claude Code tells when a command has run."""
    response = {
        "stdout": stdout,
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }
    return {
        "tool_name": "Bash",
        "tool_input": {"command": "cat app.log"},
        "tool_use_id": call,
        "tool_response": {**response, **more},
    }
