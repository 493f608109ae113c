"""Sessions made of generated texts, in every message wire and as every program's transcript."""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple, TypeAlias

from tests.gauntlet import texts

Message: TypeAlias = dict[str, Any]


class Call(NamedTuple):
    """A tool call and what came back."""

    tool: str
    arguments: dict[str, Any]
    output: str
    failed: bool = False


class Turn(NamedTuple):
    """What the user said and what the agent did about it."""

    asked: str
    calls: tuple[Call, ...] = ()
    said: str = ""
    thought: str = ""


def call(random: Random) -> Call:
    """A call of one of the tools that agents have."""
    kind, failed = random.randrange(11), random.randrange(6) == 0
    output = texts.output(random)
    if kind < 4:
        tool = random.choice(("Bash", "bash", "shell", "exec_command", "run_shell_command"))
        line = texts.shell(random)
        if tool == "shell":
            return Call(tool, {"command": ["bash", "-lc", line]}, output, failed)
        return Call(tool, {"cmd" if tool == "exec_command" else "command": line}, output, failed)
    file = texts.path(random)
    if kind == 4:
        words = {"old_string": texts.edited(random), "new_string": texts.edited(random)}
        return Call(random.choice(("Edit", "edit")), {"file_path": file, **words}, "ok", failed)
    if kind == 5:
        return Call("Write", {"file_path": file, "content": texts.output(random)}, "ok", failed)
    if kind == 6:
        span = {"offset": random.randrange(50), "limit": random.randrange(50)}
        return Call("Read", {"file_path": file, **span}, texts.code(random), failed)
    if kind == 7:
        found = texts.searched(random)
        return Call("Grep", {"pattern": texts.word(random), "path": file}, found, failed)
    if kind == 8:
        return Call("apply_patch", {"input": texts.patch(random)}, output, failed)
    if kind == 9:
        todos = [
            {"content": texts.prose(random), "status": state}
            for state in ("completed", "in_progress", "pending")
        ]
        return Call("TodoWrite", {"todos": todos}, "ok", failed)
    odd = {"path": 7, "command": None, "edits": [{"old": texts.edited(random)}], "file": ["a"]}
    return Call(texts.word(random), odd, output, failed)


def turn(random: Random) -> Turn:
    """One turn."""
    ask = random.choice((texts.prose, texts.prose, texts.slashed, texts.pasted, texts.anything))
    return Turn(
        ask(random),
        tuple(call(random) for _ in range(random.choice((0, 1, 2, 5)))),
        texts.prose(random) if random.randrange(4) else "",
        texts.prose(random) if random.randrange(4) == 0 else "",
    )


def turns(random: Random, most: int = 8) -> list[Turn]:
    """A session in no format yet."""
    return [turn(random) for _ in range(random.randrange(1, most + 1))]


PREFIX = 4_000
"""Tokens of system prompt and tools before every request."""


def _tokens(message: Message) -> int:
    """About as many tokens as a provider would count."""
    return len(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")) // 3


def numbered(some: list[Turn]) -> Iterator[tuple[Turn, list[tuple[str, Call]]]]:
    """Turns with a name for each call."""
    for at, one in enumerate(some):
        yield one, [(f"call_{at}_{number}", made) for number, made in enumerate(one.calls)]


def anthropic(some: list[Turn]) -> list[Message]:
    """Turns as messages of the Anthropic API."""
    out: list[Message] = []
    for one, calls in numbered(some):
        out.append({"role": "user", "content": one.asked or "…"})
        for name, made in calls:
            block = {"type": "tool_use", "id": name, "name": made.tool, "input": made.arguments}
            out.append({"role": "assistant", "content": [block]})
            answer = {"type": "tool_result", "tool_use_id": name, "content": made.output}
            out.append({"role": "user", "content": [{**answer, "is_error": made.failed}]})
        if one.said:
            out.append({"role": "assistant", "content": [{"type": "text", "text": one.said}]})
    return out


def openai_chat(some: list[Turn]) -> list[Message]:
    """Turns as messages of the Chat Completions API."""
    out: list[Message] = [{"role": "system", "content": "You are a careful engineer."}]
    for one, calls in numbered(some):
        out.append({"role": "user", "content": one.asked})
        for name, made in calls:
            function = {"name": made.tool, "arguments": json.dumps(made.arguments)}
            asked: Message = {"id": name, "type": "function", "function": function}
            message: Message = {"role": "assistant", "content": None, "tool_calls": [asked]}
            if one.thought:
                message["reasoning_content"] = one.thought
            out.append(message)
            out.append({"role": "tool", "tool_call_id": name, "content": made.output})
        if one.said:
            out.append({"role": "assistant", "content": one.said})
    return out


def openai_responses(some: list[Turn]) -> list[Message]:
    """Turns as items of the Responses API."""
    out: list[Message] = []
    for one, calls in numbered(some):
        out.append(_item("user", "input_text", one.asked))
        for name, made in calls:
            if made.tool == "apply_patch":
                given: Message = {"type": "custom_tool_call", "input": made.arguments["input"]}
            else:
                given = {"type": "function_call", "arguments": json.dumps(made.arguments)}
            out.append({**given, "call_id": name, "name": made.tool})
            kind = f"{given['type']}_output"
            out.append({"type": kind, "call_id": name, "output": made.output})
        if one.said:
            out.append(_item("assistant", "output_text", one.said))
    return out


def _item(role: str, kind: str, text: str) -> Message:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def claude_code(some: list[Turn]) -> list[Message]:
    """Turns as lines of a Claude Code transcript."""
    out: list[Message] = []
    size = PREFIX
    for at, message in enumerate(anthropic(some)):
        usage = {"input_tokens": 9, "output_tokens": 20, "cache_read_input_tokens": size}
        size += _tokens(message)
        spoken = message["role"] == "assistant"
        told = {**message, "model": "claude-sonnet-5", "id": f"m{at}", "usage": usage}
        out.append(
            {
                "parentUuid": f"u{at - 1}" if at else None,
                "isSidechain": False,
                "type": message["role"],
                "uuid": f"u{at}",
                "timestamp": f"2026-03-01T10:{at // 60 % 60:02}:{at % 60:02}.000Z",
                "sessionId": "generated-session",
                "cwd": "/home/dev/app",
                "message": told if spoken else message,
            }
        )
    return out


def codex(some: list[Turn]) -> list[Message]:
    """Turns as lines of a Codex rollout."""
    meta = {"id": "generated-session", "cwd": "/home/dev/app", "cli_version": "0.166.0"}
    out = [_rollout("session_meta", meta)]
    size = PREFIX
    for at, item in enumerate(openai_responses(some)):
        out.append(_rollout("response_item", item))
        size += _tokens(item)
        if item["type"].endswith("_output"):
            last = {"input_tokens": size, "cached_input_tokens": 0, "output_tokens": 10}
            info = {"total_token_usage": {"total_tokens": at * 900}, "last_token_usage": last}
            out.append(_rollout("event_msg", {"type": "token_count", "info": info}))
    return out


def _rollout(kind: str, payload: Message) -> Message:
    return {"timestamp": "2026-03-01T11:00:00.000Z", "type": kind, "payload": payload}


def gemini(some: list[Turn]) -> list[Message]:
    """Turns as lines of a Gemini CLI chat."""
    stamp = "2026-03-01T10:00:00.000Z"
    head: Message = {"sessionId": "generated-session", "projectHash": "x", "startTime": stamp}
    out = [head]
    size = PREFIX
    for at, (one, calls) in enumerate(numbered(some)):
        said: Message = {"id": f"q{at}", "timestamp": stamp, "type": "user"}
        out.append({**said, "content": [{"text": one.asked}]})
        made = [
            {
                "id": name,
                "name": asked.tool,
                "args": asked.arguments,
                "status": "error" if asked.failed else "success",
                "result": [
                    {
                        "functionResponse": {
                            "id": name,
                            "name": asked.tool,
                            "response": {"output": asked.output},
                        }
                    }
                ],
            }
            for name, asked in calls
        ]
        size += _tokens({"asked": one.asked})
        tokens = {"input": size, "output": 5, "cached": 0, "total": size + 5}
        size += _tokens({"made": made})
        answer: Message = {"id": f"a{at}", "timestamp": stamp, "type": "gemini"}
        out.append({**answer, "content": one.said, "toolCalls": made, "tokens": tokens})
    return out


def opencode(some: list[Turn]) -> list[Message]:
    """Turns as messages of an opencode export, a line each."""
    out: list[Message] = []
    for at, (one, calls) in enumerate(numbered(some)):
        out.append(_exported("user", f"u{at}", [{"type": "text", "text": one.asked}]))
        parts: list[Message] = [
            {
                "type": "tool",
                "callID": name,
                "tool": made.tool,
                "state": {
                    "status": "error" if made.failed else "completed",
                    "input": made.arguments,
                    "error" if made.failed else "output": made.output,
                },
            }
            for name, made in calls
        ]
        parts.append({"type": "text", "text": one.said})
        out.append(_exported("assistant", f"a{at}", parts))
    return out


def _exported(role: str, name: str, parts: list[Message]) -> Message:
    info = {"id": name, "sessionID": "ses_generated", "role": role, "time": {"created": 1}}
    return {"info": info, "parts": [{"id": f"{name}_{at}", **p} for at, p in enumerate(parts)]}


WIRES: dict[str, Callable[[list[Turn]], list[Message]]] = {
    "anthropic": anthropic,
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "claude_code": claude_code,
    "codex": codex,
    "gemini": gemini,
    "opencode": opencode,
}
"""Every wire that a session can be written in."""
MESSAGES = ("anthropic", "openai_chat", "openai_responses")
"""Those that are requests, not transcripts."""


def document(wire: str, some: list[Turn]) -> bytes:
    """Turns as a document of lines; half letters are escaped, as programs write them."""
    return b"".join(json.dumps(line).encode() + b"\n" for line in WIRES[wire](some))
