"""opencode's plugin: read its JSON as a `HookEvent`, write a `HookReply` as its JSON.

The plugin (`agents/plugins/opencode/holdfast.js`) is ours and runs inside opencode. It starts a
hook only if the size of a result requires it, and passes our answers on to opencode.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from holdfast.project.paths import find_root
from holdfast.surfaces.hooks.event import HookEvent, HookReply
from holdfast.text.jsontext import Json, as_count, as_object, as_text, encode

NAME = "opencode"
DEADLINES: dict[str, float] = {
    "experimental.session.compacting": 20.0,
    "session.compacted": 10.0,
    "session.idle": 10.0,
    "messages": 10.0,
}
AFTERWARDS = frozenset({"session.idle"})
"""`opencode run` ends right after this event."""
EVENTS = {
    "tool.execute.after": "tool_result",
    "chat.message": "prompt",
    "tool.execute.before": "handover",
    "experimental.session.compacting": "before_compaction",
    "session.compacted": "session_start",
    "session.created": "session_start",
    "session.resumed": "session_start",
    "session.idle": "turn_end",
    "worker": "worker_start",
    "worker.done": "worker_stop",
    "messages": "window",
}
SOURCES = {
    "session.compacted": "compact",
    "session.created": "startup",
    "session.resumed": "resume",
}


def read(event: str, document: dict[str, Json], environment: Mapping[str, str]) -> HookEvent | None:
    """Read a document as an event; return None for an event that we do not handle."""
    kind, session = EVENTS.get(event), as_text(document.get("session"))
    if kind is None or not session:
        return None
    given = as_object(document.get("args"))
    return HookEvent(
        agent=NAME,
        kind=kind,
        session=session,
        root=_root(document, environment),
        transcript=_transcript(as_text(document.get("parent")) or session, environment),
        worker=as_text(document.get("worker")),
        call=as_text(document.get("call")),
        tool=as_text(document.get("tool")),
        arguments=encode(given).decode() if given else "",
        output=as_text(document.get("output")),
        failed=document.get("failed") is True,
        prompt=as_text(document.get("prompt")),
        source=as_text(document.get("source")) or SOURCES.get(event, ""),
        last_message=as_text(document.get("said")),
        model=as_text(document.get("model")),
        tokens=as_count(document.get("tokens")),
        window=as_count(document.get("window")),
    )


def _root(document: Mapping[str, Json], environment: Mapping[str, str]) -> str:
    folder = as_text(document.get("directory")) or os.getcwd()
    return str(find_root(None, environment, Path(folder)))


def _transcript(session: str, environment: Mapping[str, str]) -> str:
    """Return the address of a session in opencode's database."""
    base = environment.get("XDG_DATA_HOME", "")
    data = base if os.path.isabs(base) else os.path.expanduser("~/.local/share")
    database = os.path.join(data, "opencode", "opencode.db")
    return os.path.join(database, f"{session}.jsonl") if os.path.isfile(database) else ""


def write(event: str, document: dict[str, Json], reply: HookReply) -> bytes:
    """Encode a reply as the plugin expects it; empty if there is nothing to say."""
    del event, document
    answer: dict[str, object] = {
        "output": reply.output,
        "context": reply.context or reply.instructions,
        "prompt": reply.prompt,
        "block": reply.block,
        "told": reply.user_message,
        "replaced": reply.replacements,
    }
    filled = {name: value for name, value in answer.items() if value}
    return encode(filled) if filled else b""
