"""Codex's hooks: the same JSON as Claude Code's, except for a few answers.

A tool's output is one text, which Codex cuts at about ten thousand tokens before hooks see it. A
block with a reason replaces the output by the reason, and the turn continues. Hooks cannot instruct
the model that summarizes; the context is given when the session continues.
"""

import os
from collections.abc import Mapping

from msgspec.structs import replace

from holdfast.surfaces.hooks.event import HookEvent, HookReply
from holdfast.surfaces.hooks.hosts import claude_code
from holdfast.text.jsontext import Json, encode

NAME = "codex"
DEADLINES: dict[str, float] = {
    "PreCompact": 20.0,
    "SessionStart": 10.0,
    "Stop": 10.0,
    "SubagentStop": 10.0,
    "SessionEnd": 10.0,
}
AFTERWARDS = frozenset({"SessionEnd"})
"""Codex allows three seconds at the end of a session, whatever timeout is set."""
UNANSWERED_EVENTS = ("PreCompact", "PostCompact", "SessionEnd")
"""Events whose answer Codex ignores, or would stop the turn for."""
CLAUDE_PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"
"""Set if Claude Code started Codex; its project may be another one."""


def read(event: str, document: dict[str, Json], environment: Mapping[str, str]) -> HookEvent | None:
    """Read a document as an event; return None for an event that we do not handle."""
    own_environment = {
        name: value for name, value in environment.items() if name != CLAUDE_PROJECT_VARIABLE
    }
    hook_event = claude_code.read(event, document, own_environment)
    if hook_event is None:
        return None
    if hook_event.kind != "worker_start":
        return replace(hook_event, agent=NAME)
    transcript = _parent_transcript(hook_event.transcript, hook_event.session)
    return replace(hook_event, agent=NAME, kind="worker_packet", transcript=transcript)


def _parent_transcript(transcript: str, session: str) -> str:
    """Find the transcript of a worker's parent session: the document names the worker's own."""
    folder = os.path.dirname(transcript)
    try:
        beside = sorted(os.listdir(folder))
    except OSError:
        return ""
    found = (name for name in beside if name.endswith(f"{session}.jsonl"))
    return next((os.path.join(folder, name) for name in found), "")


def write(event: str, document: dict[str, Json], reply: HookReply) -> bytes:
    """Encode a reply as Codex expects it; empty if there is nothing to say."""
    if event in UNANSWERED_EVENTS:
        return b""
    if event == "PostToolUse" and reply.output is not None:
        return encode({"decision": "block", "reason": reply.output})
    return claude_code.write(event, document, reply)
