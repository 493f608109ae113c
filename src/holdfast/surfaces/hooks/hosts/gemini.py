"""Gemini CLI's hooks: its JSON as what happened, and what we answer as its JSON.

A denied result is replaced by the reason, which the model gets as the tool's error. Nobody is told
when a chat was compressed, and it happens between the user's words and the first request: where
the window is so full that it will be, what must not be lost goes along with the words. What is said
when a chat is cleared, or compressed by hand, is thrown away: the next words take that along too.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from holdfast.core.measure.models import find
from holdfast.project.paths import find_root
from holdfast.surfaces.hooks.event import Happened, Reply
from holdfast.surfaces.hooks.hosts.gemini_usage import SMALLEST, full_from, reported
from holdfast.text.jsontext import Json, as_object, as_text, encode
from holdfast.wire.gemini import HOOKED, call_named

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
    "BeforeAgent": "unheard",
    "SessionStart": "session_start",
    "AfterAgent": "turn_end",
    "SessionEnd": "session_end",
    "PreCompress": "unheard",
}
CLEAR = "clear"
FILLING = ("BeforeAgent", "AfterTool")
"""Events that the next request follows."""


def read(event: str, document: dict[str, Json], environment: Mapping[str, str]) -> Happened | None:
    """What happened; nothing when it is none of our business."""
    kind, session = EVENTS.get(event), as_text(document.get("session_id"))
    if kind is None or not session:
        return None
    given, response = as_object(document.get("tool_input")), document.get("tool_response")
    tool, transcript = as_text(document.get("tool_name")), as_text(document.get("transcript_path"))
    root = _root(document, environment)
    tokens, model = reported(transcript)
    full = event in FILLING and tokens >= SMALLEST and tokens >= _full(root, environment, model)
    source = as_text(document.get("source") or document.get("reason") or document.get("trigger"))
    if kind == "session_start" and source == CLEAR:
        kind = "unheard"
    return Happened(
        agent=NAME,
        kind="full" if full else kind,
        session=session,
        root=root,
        transcript=transcript if os.path.exists(transcript) else "",
        call=call_named(tool, given) if tool else "",
        tool=tool,
        arguments=encode(given).decode() if given else "",
        output=text_of(as_object(response).get("llmContent")),
        failed=bool(as_object(response).get("error")),
        prompt=HOOKED.sub("", as_text(document.get("prompt"))),
        source="compact" if full else source,
        said=as_text(document.get("prompt_response")),
        again=document.get("stop_hook_active") is True,
        model=model,
        tokens=tokens,
    )


def _root(document: Mapping[str, Json], environment: Mapping[str, str]) -> str:
    told = environment.get("GEMINI_PROJECT_DIR") or as_text(document.get("cwd")) or os.getcwd()
    return str(find_root(None, environment, Path(told)))


def _full(root: str, environment: Mapping[str, str], model: str) -> float:
    """Tokens from which on the chat is compressed."""
    home = environment.get("GEMINI_CLI_HOME") or os.path.expanduser("~")
    settings = (os.path.join(one, ".gemini", "settings.json") for one in (home, root))
    return full_from(*settings) * find(model).window


def text_of(content: Json) -> str:
    """What a tool answered, as text; nothing when there is more to it than words."""
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


def write(event: str, document: dict[str, Json], reply: Reply) -> bytes:
    """The answer as Gemini CLI takes it; nothing when there is none."""
    del document
    answer: dict[str, Json] = {}
    if event == "AfterTool" and reply.output is not None:
        reason = "\n\n".join(filter(None, (reply.output, reply.context)))
        answer = {"decision": "deny", "reason": reason}
    elif event == "BeforeAgent" and reply.block:
        answer = {"decision": "deny", "reason": reply.block}
    elif reply.context and event in ("BeforeAgent", "SessionStart", "AfterTool"):
        told: Json = {"hookEventName": event, "additionalContext": reply.context}
        answer = {"hookSpecificOutput": told}
    if reply.told:
        answer["systemMessage"] = reply.told
    return encode(answer) if answer else b""
