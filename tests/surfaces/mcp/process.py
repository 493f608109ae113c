"""Start a server in a process of its own, and talk to it over its pipes without a library."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import holdfast

SOURCE = str(Path(holdfast.__file__).parents[1])
WAIT = 30.0
"""Seconds to wait for an answer."""


def environment(**more: str) -> dict[str, str]:
    """The environment of a server, without the user's own settings."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HOLDFAST_", "AGENTWIRE_", "XDG_", "CLAUDE_", "CODEX_"))
    }
    return {**inherited, "PYTHONPATH": SOURCE, **more}


class StdioServer:
    """A server process, used line by line."""

    def __init__(self, root: Path, *words: str, code: str = "", **more: str) -> None:
        program = ["-c", code] if code else ["-m", "holdfast", "mcp"]
        self.process = subprocess.Popen(
            [sys.executable, *program, *words],
            cwd=root,
            env=environment(HOME=str(root), **more),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self._rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None and not pipe.closed:
                pipe.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")

    def ask(self, method: str, name: int | str | None = None, /, **params: Any) -> None:
        frame = {"jsonrpc": "2.0", "id": name, "method": method, "params": params}
        if name is None:
            del frame["id"]
        self.send(json.dumps(frame).encode())

    def call(self, tool: str, name: int | str, /, **arguments: Any) -> None:
        self.ask("tools/call", name, name=tool, arguments=arguments)

    def line(self) -> bytes:
        """Read the next line of the server; empty if it ends first."""
        assert self.process.stdout is not None
        while b"\n" not in self._rest:
            if not select.select([self.process.stdout], [], [], WAIT)[0]:
                raise AssertionError("no answer came")
            chunk = os.read(self.process.stdout.fileno(), 1 << 20)
            if not chunk:
                return b""
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def answer(self) -> dict[str, Any]:
        return json.loads(self.line())

    def answers(self, count: int) -> dict[Any, dict[str, Any]]:
        """Read the next answers, by id."""
        came = [self.answer() for _ in range(count)]
        return {row.get("id"): row for row in came}

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()


def run_with_input(
    root: Path, lines: Sequence[bytes], **more: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a server with these lines as its whole input, and return its output."""
    return subprocess.run(
        [sys.executable, "-m", "holdfast", "mcp"],
        cwd=root,
        env=environment(HOME=str(root), **more),
        input=b"".join(line + b"\n" for line in lines),
        capture_output=True,
        timeout=60,
        check=True,
    )
