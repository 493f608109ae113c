"""Connect the official MCP client library to our server, over stdio or HTTP."""

import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeVar

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.surfaces.mcp.process import environment

T = TypeVar("T")
MODES = ("auto", "legacy")
"""Without a handshake (2026-07-28), and with one (2025-11-25)."""


@asynccontextmanager
async def stdio_client_of(
    root: Path, *words: str, mode: str = "auto", **more: str
) -> AsyncGenerator[Client]:
    """Start a server over stdio, and connect the official client to it."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "holdfast", "mcp", *words],
        cwd=root,
        env=environment(HOME=str(root), **more),
    )
    async with Client(stdio_client(server), mode=mode) as client:
        yield client


@contextmanager
def http_server_url(root: Path, *words: str, **more: str) -> Generator[str]:
    """Start a server over HTTP, and give its URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "mcp", "--http", "0", *words],
        cwd=root,
        env=environment(HOME=str(root), **more),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        yield process.stderr.readline().split()[-1]
    finally:
        process.terminate()
        process.wait(10)
        process.stderr.close()


def run_async(work: Callable[[], Awaitable[T]]) -> T:
    """Run an asynchronous function for at most a minute, and return its result."""

    async def within() -> T:
        with anyio.fail_after(60):
            return await work()

    return anyio.run(within)
