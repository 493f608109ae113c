"""Codex's hooks: they speak as Claude Code's do, with other words for a few answers.

What a tool printed comes as one text, cut by Codex at some ten thousand tokens before anybody sees
it. A block with a reason puts the reason in place of the output, and the turn goes on. Nothing
can be said to whoever writes the summary; what matters comes back when the session goes on.
"""

import os
from collections.abc import Mapping

from msgspec.structs import replace

from holdfast.surfaces.hooks.event import Happened, Reply
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
"""Codex gives the end of a session three seconds, whatever it is told."""
SILENT = ("PreCompact", "PostCompact", "SessionEnd")
"""Events whose answer is thrown away, or would stop the turn."""
THEIRS = "CLAUDE_PROJECT_DIR"
"""The project of a Claude Code that Codex was started from, which may be another."""


def read(event: str, document: dict[str, Json], environment: Mapping[str, str]) -> Happened | None:
    """What happened; nothing when it is none of our business."""
    mine = {name: value for name, value in environment.items() if name != THEIRS}
    happened = claude_code.read(event, document, mine)
    if happened is None:
        return None
    if happened.kind != "worker_start":
        return replace(happened, agent=NAME)
    parents = _parents(happened.transcript, happened.session)
    return replace(happened, agent=NAME, kind="worker_packet", transcript=parents)


def _parents(transcript: str, session: str) -> str:
    """The rollout of the session that a worker belongs to: the one that is told is the worker's."""
    folder = os.path.dirname(transcript)
    try:
        beside = sorted(os.listdir(folder))
    except OSError:
        return ""
    found = (name for name in beside if name.endswith(f"{session}.jsonl"))
    return next((os.path.join(folder, name) for name in found), "")


def write(event: str, document: dict[str, Json], reply: Reply) -> bytes:
    """The answer as Codex takes it; nothing when there is none."""
    if event in SILENT:
        return b""
    if event == "PostToolUse" and reply.output is not None:
        return encode({"decision": "block", "reason": reply.output})
    return claude_code.write(event, document, reply)
