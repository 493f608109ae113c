"""The MCP server: how soon a client has the tools, and how long a call takes.

From the start of the process to the answer to `tools/list`, beside a Python that does nothing and,
where it is installed, a server of one tool made with the official library: all three in turn, so
that noise hits all of them. Then calls of a server that runs, on the largest real session there is,
or on the one that ships with the repository.
"""

import compileall
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import holdfast
from benchmarks.data import bundled, native_sessions
from benchmarks.table import print_table

STARTS = 30
CALLS = 40
QUESTIONS = (
    "which error stopped the build",
    "why was this approach given up",
    "test failed",
    "where is the configuration read",
    "TODO",
)
FIRST = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
    b'"capabilities":{},"clientInfo":{"name":"benchmark","version":"1"}}}\n'
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'
)
OFFICIAL = """
from mcp.server import MCPServer
server = MCPServer("one")
@server.tool(structured_output=False)
def tool(text: str) -> str:
    return text
server.run("stdio")
"""
OURS = ("-m", "holdfast", "mcp")


def run() -> None:
    """Print the tables."""
    compileall.compile_dir(Path(holdfast.__file__).parent, quiet=2)
    with TemporaryDirectory() as root:
        _starts(root)
        _calls(root)


def _starts(root: str) -> None:
    ways: dict[str, Callable[[], float]] = {
        "python -c pass": lambda: _idle(root),
        "holdfast mcp, to the answer of tools/list": lambda: _answered(root, OURS),
    }
    if importlib.util.find_spec("mcp") is not None:
        name = "official library, one tool, the same"
        ways[name] = lambda: _answered(root, ("-c", OFFICIAL))
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(STARTS):
        for name, way in ways.items():
            times[name].append(way())
    rows = [(name, *_told(found)) for name, found in times.items()]
    header = ("process", "best", "p50", "p99")
    print_table(f"MCP: from process start, {STARTS} starts", header, rows)


def _idle(root: str) -> float:
    start = perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True, cwd=root)
    return perf_counter() - start


def _answered(root: str, words: Sequence[str]) -> float:
    start = perf_counter()
    with Server(root, words) as server:
        server.send(FIRST)
        server.read()
        server.read()
        return perf_counter() - start


class Server:
    """A server that is spoken to line by line."""

    def __init__(self, root: str, words: Sequence[str] = OURS) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *words],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def send(self, lines: bytes) -> None:
        """Write whole lines."""
        assert self._process.stdin
        self._process.stdin.write(lines)
        self._process.stdin.flush()

    def read(self) -> dict[str, Any]:
        """The next line."""
        assert self._process.stdout
        return json.loads(self._process.stdout.readline())

    def call(self, tool: str, **arguments: object) -> tuple[float, dict[str, Any]]:
        """Seconds that a call takes, and what comes of it."""
        params = {"name": tool, "arguments": arguments}
        frame = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        start = perf_counter()
        self.send(json.dumps(frame).encode() + b"\n")
        came = self.read()
        return perf_counter() - start, came


def _calls(root: str) -> None:
    largest = max(native_sessions(), key=lambda path: path.stat().st_size, default=bundled())
    ingest = ["-m", "holdfast", "--root", root, "ingest", "-q", str(largest)]
    subprocess.run([sys.executable, *ingest], check=True)
    status = [sys.executable, "-m", "holdfast", "--root", root, "status", "--json"]
    shown = subprocess.run(status, check=True, capture_output=True)
    tokens = json.loads(shown.stdout)["usage"]["tokens"]
    rows: list[tuple[object, ...]] = []
    with Server(root) as server:
        first, came = server.call("context_recover", query=QUESTIONS[0])
        ref = _reference(came)
        rows.append(("context_recover, the first (loads, indexes)", *_told([first])))
        queries = [
            server.call("context_recover", query=QUESTIONS[at % len(QUESTIONS)])[0]
            for at in range(CALLS)
        ]
        rows.append(("context_recover(query)", *_told(queries)))
        for name, given in (
            ("context_recover", {"ref": ref}),
            ("context_recover", {"level": 1}),
            ("context_status", {}),
        ):
            told = ", ".join(given)
            times = [server.call(name, **given)[0] for _ in range(CALLS // 4)]
            rows.append((f"{name}({told})", *_told(times)))
    title = f"MCP: calls on a session of {tokens:,} tokens"
    print_table(title, ("call", "best", "p50", "p99"), rows)


def _reference(came: dict[str, Any]) -> str:
    return came["result"]["content"][0]["text"].partition("ref ")[2].partition(",")[0]


def _told(times: Sequence[float]) -> tuple[str, str, str]:
    """Best, median and worst of a hundred, in milliseconds."""
    ordered = sorted(times)
    places = (0, len(ordered) // 2, min(round(len(ordered) * 0.99), len(ordered) - 1))
    best, middle, worst = (f"{ordered[at] * 1e3:.0f} ms" for at in places)
    return best, middle, worst
