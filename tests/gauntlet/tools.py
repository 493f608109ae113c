"""Every MCP tool, address and prompt, asked of the server in process."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, cast

from holdfast.surfaces.mcp import prompts, resources
from holdfast.surfaces.mcp.frames import read_frames
from holdfast.surfaces.mcp.protocol import INTERNAL_ERROR, Refusal
from holdfast.surfaces.mcp.server import (
    IMMEDIATE_METHODS,
    LOG_LEVELS,
    NEEDS_LEDGER,
    Peer,
    Request,
    Server,
    ServerOptions,
)
from holdfast.surfaces.mcp.tools import TOOLS, Argument, Tool
from tests.gauntlet import texts
from tests.gauntlet.findings import Run


def value_of(one: Argument, random: Random, ref: str) -> Any:
    """Something that an argument may be."""
    if one.choices:
        return random.choice(one.choices)
    if one.name == "ref":
        return ref
    if one.name == "lines":
        return "1-5"
    if one.name == "layers":
        return random.choice(("1", "1,2", "4"))
    match one.kind:
        case "integer":
            return random.randrange(one.minimum or 0, (one.maximum or 5) + 1)
        case "boolean":
            return random.random() < 0.5
        case "strings":
            return [texts.prose(random)]
        case _:
            return texts.prose(random) or "error"


def arguments_of(tool: Tool, random: Random, ref: str) -> Iterator[dict[str, Any]]:
    """Ways to call a tool: with what it needs, with each thing that it may be given, and wrong."""
    needed = {one.name: value_of(one, random, ref) for one in tool.arguments if one.required}
    yield needed
    for one in tool.arguments:
        given = {**needed, one.name: value_of(one, random, ref)}
        if one.name == "lines":
            given["ref"] = ref
        yield given
    yield {**needed, "unknown": 1}
    yield {one.name: None for one in tool.arguments}


def frames_of(random: Random, session: str, ref: str) -> list[dict[str, Any]]:
    """A request for everything that the server can be asked."""
    asked: list[tuple[str, dict[str, Any]]] = [("initialize", {"protocolVersion": "2025-11-25"})]
    asked += [
        (method, {})
        for method in IMMEDIATE_METHODS
        if method not in ("initialize", "logging/setLevel")
    ]
    asked.append(("logging/setLevel", {"level": random.choice(LOG_LEVELS)}))
    asked.append(("tools/list", {}))
    for tool in TOOLS:
        for given in arguments_of(tool, random, ref):
            asked.append(("tools/call", {"name": tool.name, "arguments": given}))
    asked.append(("resources/list", {}))
    named = {"ref": ref, "lines": "1-3", "pane": "1", "session": session}
    for one in resources.TEMPLATES:
        address = one.path.format(**named)
        asked.append(("resources/read", {"uri": f"{resources.SCHEME}{one.kind}/{address}"}))
    for prompt in prompts.PROMPTS:
        given = {name: texts.word(random) for name, _ in prompt.arguments}
        asked.append(("prompts/get", {"name": prompt.name, "arguments": given}))
    argument = {"name": "ref", "value": ref[:3]}
    reference = {"type": "ref/prompt", "name": "worker"}
    asked.append(("completion/complete", {"ref": reference, "argument": argument}))
    assert {method for method, _ in asked} >= NEEDS_LEDGER
    return [
        {"jsonrpc": "2.0", "id": at, "method": method, "params": params}
        for at, (method, params) in enumerate(asked)
    ]


def _named(frame: dict[str, Any]) -> str:
    params = frame["params"]
    more = params.get("name") or str(params.get("uri", "")).split("/")[2:3]
    return f"mcp {frame['method']} {more or ''}".strip()


def exercise(run: Run, root: Path, session: str, ref: str, random: Random) -> None:
    """Ask a server for everything, one request after the other."""
    server, peer = Server(ServerOptions(root=str(root), session=session)), Peer()
    listed: list[str] = []
    for frame in frames_of(random, session, ref):
        answer = ask(run, server, peer, frame)
        if frame["method"] == "resources/list" and isinstance(answer, dict):
            found = cast("list[dict[str, str]]", answer["resources"])
            listed = [one["uri"] for one in found]
    for uri in random.sample(listed, min(5, len(listed))):
        params = {"uri": uri}
        frame = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params}
        answer = ask(run, server, peer, frame)
        if isinstance(answer, Refusal):
            run.wrong("reference", _named(frame), f"{uri} is listed and refused: {answer.message}")


def ask(run: Run, server: Server, peer: Peer, asked: dict[str, Any]) -> Any:
    """What the server answers to one request."""
    name = _named(asked)
    if not run.wants(name):
        return None

    def answered() -> Any:
        (frame,) = read_frames(json.dumps(asked).encode())
        came = server.answer_now(frame, peer)
        return (
            came if came is not None else server.answer_from_ledger(Request(frame, peer, _silent))
        )

    answer = run.do(name, answered)
    if isinstance(answer, Refusal) and answer.code == INTERNAL_ERROR:
        run.wrong("exception", name, answer.message)
    elif "this should not have happened" in str(answer)[:2_000]:
        run.wrong("exception", name, str(answer)[:400])
    return answer


def _silent(_: str) -> None:
    """Nobody wants to know how far it has come."""
