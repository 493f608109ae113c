"""The functions that the protocols name, in their own shapes: a few lines each over the engine."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from time import gmtime, strftime
from typing import TypedDict

from holdfast.core.compress import carry_out
from holdfast.core.ledger.entry import Entry, ToolReturned
from holdfast.core.ledger.jsontext import Json
from holdfast.core.measure.usage import Usage, level_of
from holdfast.core.plan.choose import priced
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.state import look
from holdfast.core.shrink.offload import Source, offload
from holdfast.engine import Engine
from holdfast.files.layout import path_of
from holdfast.files.projecting import project
from holdfast.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.vocabularies import counter

VOCABULARY = "o200k_base"
PREVIEW = 500
"""Characters of a result that the skill shows."""


class Status(TypedDict):
    """What a check of the window says."""

    level: str
    action: str


class Offloaded(TypedDict):
    """Where a large result went, and what is left of it."""

    path: str
    preview: str
    tokens_saved: int
    message: str


def estimate_tokens(text: str) -> int:
    """Tokens of a text."""
    return counter(VOCABULARY)(text)


def estimate_context_usage(session: Session) -> float:
    """How full a session's window is, as a fraction of what it takes."""
    return session.status().fraction


def check_context_status(usage: float | Usage | Session) -> Status:
    """The level of a window, and what it asks for."""
    if isinstance(usage, Session):
        usage = usage.status()
    level = level_of(usage.fraction if isinstance(usage, Usage) else usage)
    return {"level": level.value, "action": level.action}


def offload_tool_result(
    result: str, tool_name: str, *, root: str = ".", layout: str = "holdfast", at: str = ""
) -> Offloaded:
    """Write a large result to a file and say what stands in for it.

    Raises:
        NotWritten: it could not be written; then nothing may leave the window.
    """
    name = sha256(result.encode("utf-8", "surrogatepass")).hexdigest()
    stamp = at or strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
    body = ToolReturned("", result)
    path = path_of(Entry(name, None, body, 1, at=stamp), "offload", tool_name, layout)
    project(root, path, result.encode("utf-8", "surrogatepass"))
    count = counter(VOCABULARY)
    stand_in = offload(
        body,
        tool=tool_name,
        source=Source(name[:12], path),
        rules=Policy().offload,
        count=count,
    )
    return {
        "path": path,
        "preview": result[:PREVIEW],
        "tokens_saved": count(result) - count(stand_in.output),
        "message": f"Full content saved to {path}",
    }


def truncate_tool_inputs(
    conversation_history: Sequence[Mapping[str, object]], *, root: str = "."
) -> list[dict[str, Json]]:
    """The conversation with its large, old inputs cut short, where their content is on disk."""
    session = Session("seeds", MemoryStore(), root=root)
    session.extend(conversation_history)
    engine = Engine(session)
    engine.note_written()
    state = engine.state()
    means = engine.means(state.policy)
    looked = look(state, means.count, deep=True)
    inputs = [one for one in looked.proposals if one.kind == "truncate" and one.persisted]
    made = carry_out(state, means, looked, priced(inputs, looked.scale), "tier 2")
    return engine.outcome(made, state).messages
