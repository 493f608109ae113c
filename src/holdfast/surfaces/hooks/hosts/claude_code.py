"""Claude Code's hooks: read its JSON as a `HookEvent`, write a `HookReply` as its JSON.

A replacement must have the shape of the tool's own output, or Claude Code ignores it. Output that
Claude Code saved to a file is read from there, to have all of it.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from holdfast.project.paths import find_root
from holdfast.project.regular_files import read_regular
from holdfast.surfaces.hooks.event import HookEvent, HookReply, WindowMessage
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
"""At its end Claude Code waits 1.5 seconds, and shows an error if a hook takes longer."""
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
SPAWN_TOOLS = ("Agent", "Task")
"""Tools that start a sub-agent."""
MAX_TEXT_CHARS = 10_000
"""Claude Code saves a longer text to a file instead of showing it."""
MAX_OUTPUT_BYTES = 64 * 1024 * 1024
"""A larger saved output is not read."""
OUTPUT_FOLDER = "tool-results"
"""The folder in which Claude Code saves output that is too long for a message."""


def read(event: str, document: dict[str, Json], environment: Mapping[str, str]) -> HookEvent | None:
    """Read a document as an event; return None for an event that we do not handle."""
    kind = EVENTS.get(event)
    session = as_text(document.get("session_id"))
    if kind is None or not session or _is_fork(event, document):
        return None
    tool = as_text(document.get("tool_name"))
    if event == "PreToolUse" and tool not in SPAWN_TOOLS:
        return None
    given = as_object(document.get("tool_input"))
    spawns = event == "PreToolUse"
    return HookEvent(
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
        is_output_fixed=event == "PostToolUseFailure",
        prompt=as_text(given.get("prompt") if spawns else document.get("prompt")),
        source=_source(document),
        instructions=as_text(document.get("custom_instructions")),
        last_message=as_text(document.get("last_assistant_message")),
        is_continuation=document.get("stop_hook_active") is True,
        model=_model(document.get("model")),
        tokens=as_count(document.get("context_tokens")) or _tokens(document),
        window=as_count(as_object(document.get("context_window")).get("context_window_size")),
        messages=tuple(map(_window_message, as_list(document.get("messages")))),
    )


def _model(model: Json) -> str:
    return as_text(model) or as_text(as_object(model).get("id"))


def _tokens(document: Mapping[str, Json]) -> int:
    """Read the tokens of the window, as they are in a document for the status line."""
    used = as_object(as_object(document.get("context_window")).get("current_usage"))
    return sum(map(as_count, used.values()))


def _is_fork(event: str, document: Mapping[str, Json]) -> bool:
    """Whether a worker is Claude Code's own fork that writes a summary."""
    return event == "SubagentStop" and not as_text(document.get("agent_type"))


def _root(document: Mapping[str, Json], environment: Mapping[str, str]) -> str:
    """Find the project's folder, which may not be the agent's current one."""
    folder = environment.get("CLAUDE_PROJECT_DIR") or as_text(document.get("cwd")) or os.getcwd()
    return str(find_root(None, environment, Path(folder)))


def _transcript(session: str, environment: Mapping[str, str]) -> str:
    """Find the transcript of a session if the document does not name it."""
    home = environment.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    found = Path(home, "projects").glob(f"*/{session}.jsonl") if _is_name(session) else ()
    return str(next(iter(found), ""))


def _is_name(session: str) -> bool:
    return all(character.isalnum() or character in "-_" for character in session)


def _source(document: Mapping[str, Json]) -> str:
    return next(
        (as_text(document[key]) for key in ("source", "trigger", "reason") if key in document), ""
    )


def _window_message(message: Json) -> WindowMessage:
    fields = as_object(message)
    return WindowMessage(as_text(fields.get("role")), as_text(fields.get("text")))


def _output(event: str, document: Mapping[str, Json]) -> str:
    """Return a tool's output as text."""
    if event == "PostToolUseFailure":
        return as_text(document.get("error"))
    if event not in ("PostToolUse", "session.append"):
        return ""
    response = document.get("tool_response")
    return _read_saved_output(as_object(response)) or text_of(response)


def text_of(response: Json) -> str:
    """Return the text of a tool's output that the model reads, if it can be replaced."""
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


def _read_saved_output(response: Mapping[str, Json]) -> str:
    """Read the complete output of a command that Claude Code saved to a file.

    Only files in its own folder are read, whatever path a result names.
    """
    name = as_text(response.get("persistedOutputPath")) if "stdout" in response else ""
    path = Path(name)
    if not name or path.parent.name != OUTPUT_FOLDER:
        return ""
    try:
        return read_regular(path, MAX_OUTPUT_BYTES, links=True).decode("utf-8", "replace")
    except OSError:
        return ""


def with_text(response: Json, text: str) -> Json:
    """Put another text into a tool's output, and keep its shape."""
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


def write(event: str, document: dict[str, Json], reply: HookReply) -> bytes:
    """Encode a reply as Claude Code expects it; empty if there is nothing to say."""
    return WRITERS.get(event, _write_context)(event, document, reply)


def _write_specific(event: str, reply: HookReply, **fields: Json) -> bytes:
    """Encode the fields of an event's own answer, and the message to the user."""
    answer: dict[str, Json] = {}
    if reply.user_message:
        answer["systemMessage"] = reply.user_message[:MAX_TEXT_CHARS]
    if fields:
        answer["hookSpecificOutput"] = {"hookEventName": event, **fields}
    return encode(answer) if answer else b""


def _write_context(event: str, document: dict[str, Json], reply: HookReply) -> bytes:
    del document
    context: dict[str, Json] = (
        {"additionalContext": reply.context[:MAX_TEXT_CHARS]} if reply.context else {}
    )
    return _write_specific(event, reply, **context)


def _write_result(event: str, document: dict[str, Json], reply: HookReply) -> bytes:
    if reply.output is None:
        return _write_context(event, document, reply)
    output = with_text(document.get("tool_response"), reply.output)
    return _write_specific(event, reply, updatedToolOutput=output)


def _write_prompt(event: str, document: dict[str, Json], reply: HookReply) -> bytes:
    if not reply.block:
        return _write_context(event, document, reply)
    return encode({"decision": "block", "reason": reply.block[:MAX_TEXT_CHARS]})


def _write_instructions(event: str, document: dict[str, Json], reply: HookReply) -> bytes:
    """Plain text: Claude Code adds it to the instructions for the summary."""
    del event, document
    return reply.instructions[:MAX_TEXT_CHARS].encode("utf-8", "replace")


def _write_handover(event: str, document: dict[str, Json], reply: HookReply) -> bytes:
    if reply.prompt is None:
        return b""
    given = {**as_object(document.get("tool_input")), "prompt": reply.prompt}
    return _write_specific(event, reply, updatedInput=given)


def _write_summary(event: str, document: dict[str, Json], reply: HookReply) -> bytes:
    """Encode the summary for `register.js`, which builds the messages from it."""
    del event, document
    if reply.anchor is None:
        return b""
    return encode({"anchor": reply.anchor})


def _write_appended(event: str, document: dict[str, Json], reply: HookReply) -> bytes:
    del event, document
    return b"" if reply.output is None else encode({"output": reply.output})


def _write_status_line(event: str, document: dict[str, Json], reply: HookReply) -> bytes:
    del event, document
    return f"{reply.user_message}\n".encode()


WRITERS: dict[str, Callable[[str, dict[str, Json], HookReply], bytes]] = {
    "PostToolUse": _write_result,
    "UserPromptSubmit": _write_prompt,
    "PreCompact": _write_instructions,
    "PreToolUse": _write_handover,
    "session.compact": _write_summary,
    "session.append": _write_appended,
    "statusline": _write_status_line,
}
"""Writers of the events whose answer is more than additional context."""
