"""The functions that the protocols name, in their own shapes: a few lines each over the engine."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from time import gmtime, strftime
from typing import TypeAlias, TypedDict

from holdfast.core.apply import carry_out
from holdfast.core.ledger.entry import Entry, ToolReturned
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item
from holdfast.core.measure.usage import Usage, level_of
from holdfast.core.observe.scene import read_scene
from holdfast.core.plan.choose import priced
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.state import look
from holdfast.core.shrink.offload import Source, offload
from holdfast.core.shrink.summary.rows import Span, account
from holdfast.core.view.conversation import render_conversation
from holdfast.core.view.forms import as_object
from holdfast.engine.engine import Engine
from holdfast.engine.fault_log import noting
from holdfast.engine.recover import search
from holdfast.engine.redact import Redactor
from holdfast.errors import NotRecorded, Unreadable
from holdfast.models.tokenizers import counter
from holdfast.packets import stats
from holdfast.project.layout import archive_of, offloaded_in, path_of
from holdfast.project.regular_files import read_regular
from holdfast.project.write import project
from holdfast.seeds import alignment, packet
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.text.jsontext import Json

Conversation: TypeAlias = Sequence[Mapping[str, object]]
"""Messages in any provider's format."""

VOCABULARY = "o200k_base"
FILES, SECTIONS = 5, 5
"""Files, and sections of an archive, that are given back at the most."""
SECTION = "\n## "
"""What starts a section of an archived conversation."""
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


class Recovered(TypedDict):
    """A file that holds what was looked for, and the part of it that does."""

    file: str
    excerpt: str


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
    stamp = at or _now()
    body = ToolReturned("", result)
    path = path_of(Entry(name, None, body, 1, at=stamp), "offload", tool_name, layout)
    project(root, path, result.encode("utf-8", "surrogatepass"))
    count = counter(VOCABULARY)
    # The file is the only copy there is, and exact; what is shown of it is not.
    shown = Redactor(Policy().redact).text(result)
    stand_in = offload(
        ToolReturned("", shown),
        tool=tool_name,
        source=Source(name[:12], path),
        rules=Policy().offload,
        count=count,
    )
    return {
        "path": path,
        "preview": shown[:PREVIEW],
        "tokens_saved": count(result) - count(stand_in.output),
        "message": f"Full content saved to {path}",
    }


def _now() -> str:
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())


def truncate_tool_inputs(
    conversation_history: Conversation, *, root: str = "."
) -> list[dict[str, Json]]:
    """The conversation with its large, old inputs cut short, where their content is on disk."""
    session = Session("seeds", MemoryStore(), root=root)
    session.extend(conversation_history)
    engine = Engine(session.ledger)
    engine.note_written()
    state = engine.state()
    means = engine.means(state.policy)
    with noting(session.ledger):
        looked = look(state, means.count, deep=True)
        inputs = [one for one in looked.proposals if one.kind == "truncate" and one.persisted]
        made = carry_out(state, means, looked, priced(inputs, looked.scale), "tier 2")
    return engine.outcome(made).messages


def generate_session_summary(
    conversation: Conversation,
    session_id: str,
    *,
    root: str = ".",
    layout: str = "holdfast",
    at: str = "",
) -> dict[str, Json]:
    """Write the whole conversation to a file, then sum it up; the file is among the references.

    Raises:
        NotWritten: it could not be written; then there is no summary either.
    """
    session = _session(conversation, session_id)
    archive = archive_of(session_id, layout)
    page = render_conversation(session_id, session.ledger.redactor.entries(session.ledger.path()))
    project(root, archive, page.encode("utf-8", "surrogatepass"))
    made = as_object(_rows(session), session_id, archive=archive)
    return {**made, "generated": at or _now()}


def extract_intent(conversation: Conversation) -> Json:
    """What the user wants, word for word: first, now, how it changed, and what binds the agent."""
    return _part(conversation, "intent")


def list_artifacts(conversation: Conversation) -> Json:
    """The files that were made or changed, what was done to each, and whether it is complete."""
    return _part(conversation, "artifacts")


def extract_decisions(conversation: Conversation) -> Json:
    """What was decided, and why."""
    return _part(conversation, "decisions")


def assess_progress(conversation: Conversation) -> Json:
    """Where the work stands: its phase, what is done and what remains."""
    return _part(conversation, "progress")


def determine_next_steps(conversation: Conversation) -> Json:
    """What is to be done next, the first thing first."""
    return _part(conversation, "next_steps")


def _part(conversation: Conversation, part: str) -> Json:
    return as_object(_rows(_session(conversation, "seeds")), "seeds")[part]


def _session(conversation: Conversation, name: str) -> Session:
    session = Session(name, MemoryStore())
    session.extend(conversation)
    return session


def _rows(session: Session) -> Summary:
    """Every row that the record shows."""
    scene = read_scene(
        [Item(entry) for entry in session.ledger.redactor.entries(session.ledger.path())]
    )
    return account(Span(scene, scene, scene))


verify_intent_alignment = alignment.verify_intent_alignment
compare_to_intent = alignment.compare_to_intent
is_progressing_toward_goal = alignment.is_progressing_toward_goal
is_asking_clarification_immediately = alignment.is_asking_clarification_immediately
is_declaring_complete_without_deliverable = alignment.is_declaring_complete_without_deliverable
any_drift_indicators = alignment.any_drift_indicators
drift_warning = alignment.drift_warning
ContextEfficiencyTracker = stats.ContextEfficiencyTracker

ContextPacket = packet.ContextPacket
CodebaseContext = packet.CodebaseContext
generate_context_packet = packet.generate_context_packet
extract_goal = packet.extract_goal
extract_constraints = packet.extract_constraints
find_relevant_files = packet.find_relevant_files
summarize_codebase_context = packet.summarize_codebase_context
extract_failures = packet.extract_failures
describe_exclusions = packet.describe_exclusions


def recover_offloaded(
    search_query: str, *, root: str = ".", layout: str = "holdfast", limit: int = FILES
) -> list[Recovered]:
    """The offloaded files that hold what is looked for, the best first: a part, never the file."""
    files = list_files(offloaded_in(layout), root=root)
    store = MemoryStore()
    for file in files:
        _kept(store, file, [_read(root, file)])
    found: dict[str, Recovered] = {}
    for hit in search(store, search_query, limit=limit * 4):
        found.setdefault(hit.session, {"file": hit.session, "excerpt": hit.text})
    return list(found.values())[:limit]


def recover_from_archive(
    session_id: str, search_context: str, *, root: str = ".", layout: str = "holdfast"
) -> list[str]:
    """The sections of a session's archived conversation that are about something.

    Raises:
        NotRecorded: there is no archive of that session.
    """
    page = _read(root, archive_of(session_id, layout))
    return extract_relevant_sections(page, search_context)


def list_files(folder: str, *, root: str = ".") -> list[str]:
    """The files in a folder below the root, by name; none when there is no such folder."""
    place = Path(root, folder)
    if not place.is_dir():
        return []
    names = sorted(one.name for one in place.iterdir() if one.is_file() and not one.is_symlink())
    return [f"{folder}/{name}" for name in names]


def matches_query(content: str, search_query: str) -> bool:
    """Whether a text holds anything of what is looked for."""
    return bool(extract_relevant(content, search_query))


def extract_relevant(content: str, search_query: str) -> str:
    """The part of a text that holds most of what is looked for; empty when none does."""
    store = MemoryStore()
    _kept(store, "content", [content])
    return "".join(hit.text for hit in search(store, search_query, limit=1))


def extract_relevant_sections(full_conversation: str, search_context: str) -> list[str]:
    """The sections of a conversation's page that are about something, the best first."""
    store = MemoryStore()
    _kept(store, "page", full_conversation.split(SECTION))
    return [hit.text for hit in search(store, search_context, limit=SECTIONS)]


def _kept(store: MemoryStore, name: str, texts: Sequence[str]) -> None:
    session = Session(name, store, owns_store=False)
    session.extend([{"role": "user", "content": text} for text in texts])


LARGEST = 256 * 1024 * 1024
"""Bytes of a copy or an archive that is read."""


def _read(root: str, file: str) -> str:
    place = Path(root, file)
    try:
        return read_regular(place, LARGEST, links=False).decode("utf-8", "replace")
    except FileNotFoundError:
        raise NotRecorded("file", file, where=root) from None
    except OSError as error:
        raise Unreadable(file, (error.strerror or str(error)).lower()) from None
