"""Gemini CLI's hooks: read its JSON as a `HookEvent`, write a `HookReply` as its JSON.

A denied result is replaced by the reason, which the model gets as the tool's error. Gemini CLI
compresses a chat between the prompt and the first request, and reports it to no hook: if the window
is that full, the context is added to the prompt. It ignores the answer to a clear and to a
compression by the user: then the context is added to the next prompt.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from holdfast.core.measure.models import find_model
from holdfast.project.paths import find_root
from holdfast.surfaces.hooks.event import HookEvent, HookReply
from holdfast.surfaces.hooks.hosts.gemini_usage import (
    MIN_FULL_TOKENS,
    compression_threshold,
    last_usage,
)
from holdfast.text.jsontext import Json, as_object, as_text, encode
from holdfast.wire.gemini import HOOK_CONTEXT, call_id

NAME = "gemini"
DEADLINES: dict[str, float] = {
    "SessionStart": 10.0,
    "PreCompress": 20.0,
    "AfterAgent": 10.0,
    "SessionEnd": 10.0,
}
AFTERWARDS = frozenset({"SessionEnd"})
EVENTS = {
    "AfterTool": "tool_result",
    "BeforeAgent": "silent_compaction",
    "SessionStart": "session_start",
    "AfterAgent": "turn_end",
    "SessionEnd": "session_end",
    "PreCompress": "silent_compaction",
}
CLEAR_SOURCE = "clear"
BEFORE_REQUEST = ("BeforeAgent", "AfterTool")
"""Events right before a request."""


def read(event: str, document: dict[str, Json], environment: Mapping[str, str]) -> HookEvent | None:
    """Read a document as an event; return None for an event that we do not handle."""
    kind, session = EVENTS.get(event), as_text(document.get("session_id"))
    if kind is None or not session:
        return None
    given, response = as_object(document.get("tool_input")), document.get("tool_response")
    tool, transcript = as_text(document.get("tool_name")), as_text(document.get("transcript_path"))
    root = _root(document, environment)
    tokens, model = last_usage(transcript)
    full = (
        event in BEFORE_REQUEST
        and tokens >= MIN_FULL_TOKENS
        and tokens >= _compression_limit(root, environment, model)
    )
    source = as_text(document.get("source") or document.get("reason") or document.get("trigger"))
    if kind == "session_start" and source == CLEAR_SOURCE:
        kind = "silent_compaction"
    return HookEvent(
        agent=NAME,
        kind="window_full" if full else kind,
        session=session,
        root=root,
        transcript=transcript if os.path.exists(transcript) else "",
        call=call_id(tool, given) if tool else "",
        tool=tool,
        arguments=encode(given).decode() if given else "",
        output=text_of(as_object(response).get("llmContent")),
        failed=bool(as_object(response).get("error")),
        prompt=HOOK_CONTEXT.sub("", as_text(document.get("prompt"))),
        source="compact" if full else source,
        last_message=as_text(document.get("prompt_response")),
        is_continuation=document.get("stop_hook_active") is True,
        model=model,
        tokens=tokens,
    )


def _root(document: Mapping[str, Json], environment: Mapping[str, str]) -> str:
    folder = environment.get("GEMINI_PROJECT_DIR") or as_text(document.get("cwd")) or os.getcwd()
    return str(find_root(None, environment, Path(folder)))


def _compression_limit(root: str, environment: Mapping[str, str], model: str) -> float:
    """Return the tokens at which Gemini CLI compresses the chat."""
    home = environment.get("GEMINI_CLI_HOME") or os.path.expanduser("~")
    settings = (os.path.join(folder, ".gemini", "settings.json") for folder in (home, root))
    return compression_threshold(*settings) * find_model(model).window


def text_of(content: Json) -> str:
    """Return a tool's output as text; empty if a part of it is not text."""
    match content:
        case str():
            return content
        case list():
            texts = [text_of(part) for part in content]
            return "\n".join(texts) if all(texts) else ""
        case {"text": str(text)}:
            return text
        case _:
            return ""


def write(event: str, document: dict[str, Json], reply: HookReply) -> bytes:
    """Encode a reply as Gemini CLI expects it; empty if there is nothing to say."""
    del document
    answer: dict[str, Json] = {}
    if event == "AfterTool" and reply.output is not None:
        reason = "\n\n".join(filter(None, (reply.output, reply.context)))
        answer = {"decision": "deny", "reason": reason}
    elif event == "BeforeAgent" and reply.block:
        answer = {"decision": "deny", "reason": reply.block}
    elif reply.context and event in ("BeforeAgent", "SessionStart", "AfterTool"):
        specific: Json = {"hookEventName": event, "additionalContext": reply.context}
        answer = {"hookSpecificOutput": specific}
    if reply.user_message:
        answer["systemMessage"] = reply.user_message
    return encode(answer) if answer else b""
