"""The functions that the source protocols name, in their own shapes: a few lines each."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias, TypedDict

from holdfast.core.apply import apply_choice
from holdfast.core.ledger.entry import Entry, ToolReturned
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item
from holdfast.core.measure.usage import Usage, level_of
from holdfast.core.observe.scene import read_scene
from holdfast.core.plan.choose import price
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.state import survey
from holdfast.core.shrink.offload import OriginalLocation, offload
from holdfast.core.shrink.summary.rows import rows_of_scene
from holdfast.core.view.conversation import render_conversation
from holdfast.core.view.forms import summary_object
from holdfast.engine.engine import Engine
from holdfast.engine.fault_log import noting_faults
from holdfast.engine.recover import search
from holdfast.engine.redact import Redactor
from holdfast.errors import NotRecorded, Unreadable
from holdfast.models.tokenizers import counter
from holdfast.packets import stats
from holdfast.project.clock import timestamp
from holdfast.project.layout import archive_path, copy_path, offloaded_folder
from holdfast.project.regular_files import read_regular
from holdfast.project.write import write_copy
from holdfast.seeds import alignment, packet
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.text.jsontext import Json
from holdfast.text.utf8 import to_bytes

Conversation: TypeAlias = Sequence[Mapping[str, object]]
"""Messages in any provider's format."""

VOCABULARY = "o200k_base"
MAX_FILES, MAX_SECTIONS = 5, 5
"""Maximum number of files, and of sections of an archive, that are returned."""
SECTION_START = "\n## "
"""The start of a section of an archived conversation."""
PREVIEW_CHARS = 500
"""Characters of an offloaded result that the preview shows."""


class Status(TypedDict):
    """The level of a window and its action."""

    level: str
    action: str


class Offloaded(TypedDict):
    """The path of an offloaded result, and its preview."""

    path: str
    preview: str
    tokens_saved: int
    message: str


class Recovered(TypedDict):
    """A file that matches a query, and the matching excerpt."""

    file: str
    excerpt: str


def estimate_tokens(text: str) -> int:
    """Count the tokens of a text."""
    return counter(VOCABULARY)(text)


def estimate_context_usage(session: Session) -> float:
    """Return how full a session's window is, as a fraction of its limit."""
    return session.status().fraction


def check_context_status(usage: float | Usage | Session) -> Status:
    """Return the level of a window and the action for it."""
    if isinstance(usage, Session):
        usage = usage.status()
    level = level_of(usage.fraction if isinstance(usage, Usage) else usage)
    return {"level": level.value, "action": level.action}


def offload_tool_result(
    result: str, tool_name: str, *, root: str = ".", layout: str = "holdfast", at: str = ""
) -> Offloaded:
    """Write a large result to a file, and return its path and a preview.

    Raises:
        NotWritten: it could not be written; then the result must stay in the window.
    """
    name = sha256(to_bytes(result)).hexdigest()
    stamp = at or timestamp()
    body = ToolReturned("", result)
    path = copy_path(Entry(name, None, body, 1, at=stamp), "offload", tool_name, layout)
    write_copy(root, path, to_bytes(result))
    count = counter(VOCABULARY)
    # The file is the only copy, so it is exact; the preview is redacted.
    shown = Redactor(Policy().redact).text(result)
    stand_in = offload(
        ToolReturned("", shown),
        tool=tool_name,
        location=OriginalLocation(name[:12], path),
        rules=Policy().offload,
        count=count,
    )
    return {
        "path": path,
        "preview": shown[:PREVIEW_CHARS],
        "tokens_saved": count(result) - count(stand_in.output),
        "message": f"Full content saved to {path}",
    }


def truncate_tool_inputs(
    conversation_history: Conversation, *, root: str = "."
) -> list[dict[str, Json]]:
    """Return the conversation with large, old inputs truncated if their content is on disk."""
    session = Session("seeds", MemoryStore(), root=root)
    session.extend(conversation_history)
    engine = Engine(session.ledger)
    engine.note_files_on_disk()
    state = engine.state()
    context = engine.shrink_context(state.policy)
    with noting_faults(session.ledger):
        found = survey(state, context.count, deep=True)
        inputs = [
            proposal
            for proposal in found.proposals
            if proposal.kind == "truncate" and proposal.persisted
        ]
        candidate = apply_choice(state, context, found, price(inputs, found.pricing), "tier 2")
    return engine.outcome(candidate).messages


def generate_session_summary(
    conversation: Conversation,
    session_id: str,
    *,
    root: str = ".",
    layout: str = "holdfast",
    at: str = "",
) -> dict[str, Json]:
    """Write the whole conversation to a file, then summarize it with a reference to the file.

    Raises:
        NotWritten: it could not be written; then there is no summary either.
    """
    session = _session(conversation, session_id)
    archive = archive_path(session_id, layout)
    page = render_conversation(session_id, session.ledger.redactor.entries(session.ledger.path()))
    write_copy(root, archive, to_bytes(page))
    made = summary_object(_rows(session), session_id, archive=archive)
    return {**made, "generated": at or timestamp()}


def extract_intent(conversation: Conversation) -> Json:
    """Return what the user wants, literally: first and current request, changes, constraints."""
    return _part(conversation, "intent")


def list_artifacts(conversation: Conversation) -> Json:
    """Return the files that were created or changed, what was done, and whether it is complete."""
    return _part(conversation, "artifacts")


def extract_decisions(conversation: Conversation) -> Json:
    """Return the decisions and their reasons."""
    return _part(conversation, "decisions")


def assess_progress(conversation: Conversation) -> Json:
    """Return the state of the work: its phase, what is done and what remains."""
    return _part(conversation, "progress")


def determine_next_steps(conversation: Conversation) -> Json:
    """Return the next steps, the first one first."""
    return _part(conversation, "next_steps")


def _part(conversation: Conversation, part: str) -> Json:
    return summary_object(_rows(_session(conversation, "seeds")), "seeds")[part]


def _session(conversation: Conversation, name: str) -> Session:
    session = Session(name, MemoryStore())
    session.extend(conversation)
    return session


def _rows(session: Session) -> Summary:
    """Return every row that the record shows."""
    scene = read_scene(
        [Item(entry) for entry in session.ledger.redactor.entries(session.ledger.path())]
    )
    return rows_of_scene(scene)


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
    search_query: str, *, root: str = ".", layout: str = "holdfast", limit: int = MAX_FILES
) -> list[Recovered]:
    """Return the offloaded files that match a query, best first, each with an excerpt."""
    files = list_files(offloaded_folder(layout), root=root)
    store = MemoryStore()
    for file in files:
        _add_session(store, file, [_read_text(root, file)])
    found: dict[str, Recovered] = {}
    for hit in search(store, search_query, limit=limit * 4):
        found.setdefault(hit.session, {"file": hit.session, "excerpt": hit.text})
    return list(found.values())[:limit]


def recover_from_archive(
    session_id: str, search_context: str, *, root: str = ".", layout: str = "holdfast"
) -> list[str]:
    """Return the sections of a session's archived conversation that match a query.

    Raises:
        NotRecorded: there is no archive of that session.
    """
    page = _read_text(root, archive_path(session_id, layout))
    return extract_relevant_sections(page, search_context)


def list_files(folder: str, *, root: str = ".") -> list[str]:
    """Return the files in a folder below the root, by name; none if there is no such folder."""
    path = Path(root, folder)
    if not path.is_dir():
        return []
    names = sorted(file.name for file in path.iterdir() if file.is_file() and not file.is_symlink())
    return [f"{folder}/{name}" for name in names]


def matches_query(content: str, search_query: str) -> bool:
    """Return whether a text matches a query."""
    return bool(extract_relevant(content, search_query))


def extract_relevant(content: str, search_query: str) -> str:
    """Return the part of a text that matches a query best; empty if none does."""
    store = MemoryStore()
    _add_session(store, "content", [content])
    return "".join(hit.text for hit in search(store, search_query, limit=1))


def extract_relevant_sections(full_conversation: str, search_context: str) -> list[str]:
    """Return the sections of a conversation's page that match a query, best first."""
    store = MemoryStore()
    _add_session(store, "page", full_conversation.split(SECTION_START))
    return [hit.text for hit in search(store, search_context, limit=MAX_SECTIONS)]


def _add_session(store: MemoryStore, name: str, texts: Sequence[str]) -> None:
    session = Session(name, store, owns_store=False)
    session.extend([{"role": "user", "content": text} for text in texts])


MAX_FILE_BYTES = 256 * 1024 * 1024
"""Maximum bytes of a copy or an archive that is read."""


def _read_text(root: str, file: str) -> str:
    place = Path(root, file)
    try:
        return read_regular(place, MAX_FILE_BYTES, links=False).decode("utf-8", "replace")
    except FileNotFoundError:
        raise NotRecorded("file", file, where=root) from None
    except OSError as error:
        raise Unreadable(file, (error.strerror or str(error)).lower()) from None
