"""Claude Code's hooks: its JSON as what happened, and what we answer as its JSON.

A tool's replacement has to have the shape of the tool's own output, or it is thrown away. Output
that Claude Code itself put into a file is read from there, so that nothing of it is missed.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from holdfast.project.paths import find_root
from holdfast.project.regular_files import read_regular
from holdfast.surfaces.hooks.event import Happened, Reply, Shown
from holdfast.text.jsontext import Json, as_count, as_list, as_object, as_text, encode

NAME = "claude-code"
DEADLINES: dict[str, float] = {
    "PreCompact": 20.0,
    "SessionStart": 10.0,
    "Stop": 10.0,
    "SessionEnd": 300.0,
    "SubagentStop": 10.0,
    "session.compact": 20.0,
}
AFTERWARDS = frozenset({"SessionEnd"})
"""A program that ends waits for a second and a half, and complains when a hook takes longer."""
EVENTS = {
    "PostToolUse": "tool_result",
    "PostToolUseFailure": "tool_result",
    "PostToolBatch": "tool_batch",
    "UserPromptSubmit": "prompt",
    "PreCompact": "before_compaction",
    "SessionStart": "session_start",
    "PreToolUse": "handover",
    "SubagentStart": "worker_start",
    "SubagentStop": "worker_stop",
    "Stop": "turn_end",
    "SessionEnd": "session_end",
    "session.compact": "compaction",
    "session.append": "tool_result",
    "statusline": "status_line",
}
SPAWNING = ("Agent", "Task")
"""Tools that start a sub-agent."""
LONGEST = 10_000
"""Characters of a text that Claude Code takes; what is longer goes into a file of its own."""
LARGEST = 64 * 1024 * 1024
"""Bytes of output in a file of its own; more than that stays where it is."""
PERSISTED = "tool-results"
"""The folder in which Claude Code keeps output that is too long for a message."""


def read(event: str, document: dict[str, Json], environment: Mapping[str, str]) -> Happened | None:
    """What happened; nothing when it is none of our business."""
    kind = EVENTS.get(event)
    session = as_text(document.get("session_id"))
    if kind is None or not session or _is_fork(event, document):
        return None
    tool = as_text(document.get("tool_name"))
    if event == "PreToolUse" and tool not in SPAWNING:
        return None
    given = as_object(document.get("tool_input"))
    spawns = event == "PreToolUse"
    return Happened(
        agent=NAME,
        kind=kind,
        session=session,
        root=_root(document, environment),
        transcript=as_text(document.get("transcript_path")) or _transcript(session, environment),
        lane=as_text(document.get("agent_id")),
        worker=as_text(given.get("subagent_type") if spawns else document.get("agent_type")),
        call=as_text(document.get("tool_use_id")),
        tool=tool,
        arguments=encode(given).decode() if given else "",
        output=_output(event, document),
        failed=event == "PostToolUseFailure" or document.get("is_error") is True,
        fixed=event == "PostToolUseFailure",
        prompt=as_text(given.get("prompt") if spawns else document.get("prompt")),
        source=_source(document),
        instructions=as_text(document.get("custom_instructions")),
        said=as_text(document.get("last_assistant_message")),
        again=document.get("stop_hook_active") is True,
        model=_model(document.get("model")),
        tokens=as_count(document.get("context_tokens")) or _tokens(document),
        window=as_count(as_object(document.get("context_window")).get("context_window_size")),
        messages=tuple(map(_shown, as_list(document.get("messages")))),
    )


def _model(told: Json) -> str:
    return as_text(told) or as_text(as_object(told).get("id"))


def _tokens(document: Mapping[str, Json]) -> int:
    """Of the window, as the status line is told it."""
    used = as_object(as_object(document.get("context_window")).get("current_usage"))
    return sum(map(as_count, used.values()))


def _is_fork(event: str, document: Mapping[str, Json]) -> bool:
    """Whether a worker is only the client's own, made to write a summary."""
    return event == "SubagentStop" and not as_text(document.get("agent_type"))


def _root(document: Mapping[str, Json], environment: Mapping[str, str]) -> str:
    """The project's folder: not where the agent happens to stand."""
    told = environment.get("CLAUDE_PROJECT_DIR") or as_text(document.get("cwd")) or os.getcwd()
    return str(find_root(None, environment, Path(told)))


def _transcript(session: str, environment: Mapping[str, str]) -> str:
    """The file of a session that we were only told the name of."""
    home = environment.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    found = Path(home, "projects").glob(f"*/{session}.jsonl") if _is_name(session) else ()
    return str(next(iter(found), ""))


def _is_name(session: str) -> bool:
    return all(one.isalnum() or one in "-_" for one in session)


def _source(document: Mapping[str, Json]) -> str:
    return next(
        (as_text(document[key]) for key in ("source", "trigger", "reason") if key in document), ""
    )


def _shown(message: Json) -> Shown:
    told = as_object(message)
    uses = [as_object(use) for use in as_list(told.get("toolUses"))]
    waiting = any("result" not in use and "text" not in use for use in uses)
    return Shown(
        role=as_text(told.get("role")),
        text=as_text(told.get("text")),
        handle=as_text(told.get("handle")),
        open=waiting,
    )


def _output(event: str, document: Mapping[str, Json]) -> str:
    """What a tool answered, as text."""
    if event == "PostToolUseFailure":
        return as_text(document.get("error"))
    if event not in ("PostToolUse", "session.append"):
        return ""
    response = document.get("tool_response")
    return _persisted(as_object(response)) or text_of(response)


def text_of(response: Json) -> str:
    """The part of a tool's own object that the model reads, when it is one that can be replaced."""
    match response:
        case str():
            return response
        case list():
            return "\n".join(as_text(as_object(block).get("text")) for block in response)
        case {"stdout": str(stdout), "isImage": False, **rest}:
            return "\n".join(filter(None, (stdout, as_text(rest.get("stderr")))))
        case {"file": {"content": str(content)}}:
            return content
        case {"content": str(content), **rest} if "structuredPatch" not in rest:
            return content
        case {"result": str(result)}:
            return result
        case _:
            return ""


def _persisted(response: Mapping[str, Json]) -> str:
    """Output of a command that Claude Code put into a file of its own, whole.

    It keeps such files in one folder; whatever else a result may name is not read.
    """
    told = as_text(response.get("persistedOutputPath")) if "stdout" in response else ""
    path = Path(told)
    if not told or path.parent.name != PERSISTED:
        return ""
    try:
        return read_regular(path, LARGEST, links=True).decode("utf-8", "replace")
    except OSError:
        return ""


def replaced(response: Json, text: str) -> Json:
    """A tool's own object with another text in it."""
    match response:
        case str():
            return text
        case list():
            pictures = [block for block in response if as_object(block).get("type") != "text"]
            return [{"type": "text", "text": text}, *pictures]
        case {"stdout": str()}:
            kept = {k: v for k, v in response.items() if not k.startswith("persistedOutput")}
            return {**kept, "stdout": text, "stderr": ""}
        case {"file": dict(file)}:
            lines = text.count("\n") + 1
            return {**response, "file": {**file, "content": text, "numLines": lines}}
        case {"content": str()}:
            return {**response, "content": text}
        case {"result": str()}:
            return {**response, "result": text}
        case _:
            return response


def write(event: str, document: dict[str, Json], reply: Reply) -> bytes:
    """The answer as Claude Code takes it; nothing when there is none."""
    return WRITERS.get(event, _told_besides)(event, document, reply)


def _specific(event: str, reply: Reply, **fields: Json) -> bytes:
    """An answer to the event itself, and what the user is told."""
    answer: dict[str, Json] = {}
    if reply.told:
        answer["systemMessage"] = reply.told[:LONGEST]
    if fields:
        answer["hookSpecificOutput"] = {"hookEventName": event, **fields}
    return encode(answer) if answer else b""


def _told_besides(event: str, document: dict[str, Json], reply: Reply) -> bytes:
    del document
    context: dict[str, Json] = (
        {"additionalContext": reply.context[:LONGEST]} if reply.context else {}
    )
    return _specific(event, reply, **context)


def _result(event: str, document: dict[str, Json], reply: Reply) -> bytes:
    if reply.output is None:
        return _told_besides(event, document, reply)
    made = replaced(document.get("tool_response"), reply.output)
    return _specific(event, reply, updatedToolOutput=made)


def _prompt(event: str, document: dict[str, Json], reply: Reply) -> bytes:
    if not reply.block:
        return _told_besides(event, document, reply)
    return encode({"decision": "block", "reason": reply.block[:LONGEST]})


def _instructions(event: str, document: dict[str, Json], reply: Reply) -> bytes:
    """Plain text: whatever is printed here is told to whoever writes the summary."""
    del event, document
    return reply.instructions[:LONGEST].encode("utf-8", "replace")


def _handover(event: str, document: dict[str, Json], reply: Reply) -> bytes:
    if reply.prompt is None:
        return b""
    given = {**as_object(document.get("tool_input")), "prompt": reply.prompt}
    return _specific(event, reply, updatedInput=given)


def _compacted(event: str, document: dict[str, Json], reply: Reply) -> bytes:
    """What the module in `register.js` makes messages of."""
    del event, document
    if reply.anchor is None:
        return b""
    return encode({"anchor": reply.anchor, "keeps": reply.keeps})


def _appended(event: str, document: dict[str, Json], reply: Reply) -> bytes:
    del event, document
    return b"" if reply.output is None else encode({"output": reply.output})


def _line(event: str, document: dict[str, Json], reply: Reply) -> bytes:
    del event, document
    return f"{reply.told}\n".encode()


WRITERS: dict[str, Callable[[str, dict[str, Json], Reply], bytes]] = {
    "PostToolUse": _result,
    "UserPromptSubmit": _prompt,
    "PreCompact": _instructions,
    "PreToolUse": _handover,
    "session.compact": _compacted,
    "session.append": _appended,
    "statusline": _line,
}
"""How the events are answered that take more than words beside what happened."""
