"""Session files as agents write them, made by hand: lines of Claude Code and of Codex."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from holdfast.core.ledger.entry import Entry
from holdfast.session.session import Session
from holdfast.stores.store import Store
from holdfast.transcripts.export import export_document
from holdfast.transcripts.ingest import Ingested, ingest

Line: TypeAlias = Mapping[str, object]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAKoAAABVCAYAAAA="
"""The head of a picture of 170 by 85 pixels: 7 times 4 patches."""


def tokens_of(session: Session, entries: Iterable[Entry]) -> int:
    """The raw tokens of source entries."""
    counts = session.store.counts(session.name, session.ledger.head().vocabulary)
    return sum(counts.get(entry.seq, 0) for entry in entries)


def jsonl(*lines: Line) -> bytes:
    """Lines as their agent writes them."""
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


def cc_line(kind: str, uuid: str, parent: str | None, **more: object) -> dict[str, object]:
    """A line of a Claude Code transcript."""
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "type": kind,
        "uuid": uuid,
        "timestamp": f"2026-03-01T10:00:{len(uuid):02}.000Z",
        "sessionId": "cc-session",
        "cwd": "/home/dev/app",
        "version": "2.1.300",
        **more,
    }


def user(uuid: str, parent: str | None, content: object, **more: object) -> dict[str, object]:
    """The user's words, or a tool's results."""
    return cc_line("user", uuid, parent, message={"role": "user", "content": content}, **more)


def result(uuid: str, parent: str, call: str, text: object, **block: object) -> dict[str, object]:
    """A tool's result, with the copy in its own form that transcripts carry."""
    content = [{"tool_use_id": call, "type": "tool_result", "content": text, **block}]
    return user(uuid, parent, content, toolUseResult={"stdout": text})


def assistant(
    uuid: str,
    parent: str | None,
    group: str,
    block: Line,
    *,
    usage: Line | None = None,
    model: str = "claude-sonnet-5",
    **more: object,
) -> dict[str, object]:
    """One block of an assistant message."""
    message: dict[str, object] = {
        "model": model,
        "id": group,
        "type": "message",
        "role": "assistant",
        "content": [block],
        "stop_reason": None,
    }
    if usage is not None:
        message["usage"] = usage
    return cc_line("assistant", uuid, parent, message=message, requestId=f"req-{group}", **more)


def text(words: str) -> dict[str, object]:
    """A text block."""
    return {"type": "text", "text": words}


def call(name: str, tool: str = "Read", **arguments: object) -> dict[str, object]:
    """A tool_use block."""
    return {"type": "tool_use", "id": name, "name": tool, "input": arguments}


def boundary(uuid: str, trigger: str = "auto", **metadata: object) -> dict[str, object]:
    """Where Claude Code compacted."""
    return cc_line(
        "system",
        uuid,
        None,
        subtype="compact_boundary",
        content="Conversation compacted",
        logicalParentUuid="whatever came before",
        compactMetadata={"trigger": trigger, "preTokens": 160_000, **metadata},
    )


def summary(uuid: str, parent: str, words: str) -> dict[str, object]:
    """The summary Claude Code goes on with."""
    return user(uuid, parent, words, isCompactSummary=True, isVisibleInTranscriptOnly=True)


def codex_line(kind: str, payload: Line, at: int = 0) -> dict[str, object]:
    """A line of a Codex rollout."""
    return {"timestamp": f"2026-03-01T11:00:{at:02}.000Z", "type": kind, "payload": payload}


def item(kind: str, **more: object) -> dict[str, object]:
    """A Responses item of a rollout."""
    return codex_line("response_item", {"type": kind, **more})


def message(role: str, words: str) -> dict[str, object]:
    """A Responses message item of a rollout."""
    part = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": part, "text": words}])


def meta(instructions: str = "Work with care.") -> dict[str, object]:
    """The first line of a rollout."""
    payload = {"id": "codex-session", "cwd": "/home/dev/app", "cli_version": "0.166.0"}
    return codex_line("session_meta", {**payload, "base_instructions": {"text": instructions}})


def token_count(prompt: int, output: int, *, total: int, cached: int = 0) -> dict[str, object]:
    """What a request cost, as a rollout notes it."""
    last = {"input_tokens": prompt, "cached_input_tokens": cached, "output_tokens": output}
    info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": last}
    return codex_line("event_msg", {"type": "token_count", "info": info})


def taken(store: Store, folder: Path, data: bytes, name: str = "file.jsonl") -> Session:
    """The session that a file becomes."""
    return Session(read_in(store, folder, data, name).session, store, owns_store=False)


def read_in(
    store: Store, folder: Path, data: bytes, name: str = "file.jsonl", *, wire: str = ""
) -> Ingested:
    """What reading a file did."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return ingest(path, store, wire=wire)


def given_back(session: Session, source: str = "") -> bytes:
    """A document of a session, as it is exported."""
    return b"".join(export_document(session.ledger, source))
