"""The protocol's `ContextPacket` and the functions around it, in its own names and shapes.

A few lines each over `session.packet`: the object here is mutable, as the protocol's own is, and
its written forms are those of the packet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from holdfast.core.ledger.packet import Choice, Codebase, FailedAttempt, RelevantFile
from holdfast.core.ledger.packet import Packet as Stored
from holdfast.core.view.packet.code import extract_patterns, file_summary, relevant_files
from holdfast.core.view.packet.goal import constraints_of, goal_of
from holdfast.core.view.packet.history import failures_of
from holdfast.core.view.packet.layers import CAPS
from holdfast.core.view.packet.moments import packet_moments
from holdfast.core.view.packet.prompt import to_prompt
from holdfast.core.view.packet.select import similarity_by
from holdfast.models.thesaurus import similar_words
from holdfast.models.tokenizers import counter
from holdfast.packets.packet import read_packet, seal
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore

Conversation: TypeAlias = Sequence[Mapping[str, object]]
"""Messages in any provider's format."""
VOCABULARY = "o200k_base"
WHOLE_HISTORY = "full conversation history"


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass
class CodebaseContext:
    """The facts about the code that a worker needs."""

    relevant_files: list[RelevantFile] = field(default_factory=list[RelevantFile])
    patterns: list[str] = field(default_factory=list[str])
    examples: list[str] = field(default_factory=list[str])
    anti_patterns: list[str] = field(default_factory=list[str])


@dataclass
class ContextPacket:
    """A structured summary for one task, with a list of what is not included."""

    version: int = 1
    created: datetime = field(default_factory=_now)
    creator: str = ""
    target_task: str = ""
    goal: str = ""
    decisions: list[Choice] = field(default_factory=list[Choice])
    constraints: list[str] = field(default_factory=list[str])
    codebase: CodebaseContext | None = None
    failed_attempts: list[FailedAttempt] = field(default_factory=list[FailedAttempt])
    not_included: list[str] = field(default_factory=list[str])

    def to_yaml(self) -> str:
        """Return the packet as the YAML of its file."""
        return seal(self._to_stored()).to_yaml()

    def to_prompt(self) -> str:
        """Return the packet as Markdown for the worker's prompt."""
        return to_prompt(self._to_stored())

    @property
    def token_count(self) -> int:
        """Tokens of the packet as a worker reads it."""
        return counter(VOCABULARY)(self.to_prompt())

    @classmethod
    def from_yaml(cls, text: str) -> "ContextPacket":
        """Read a packet.

        Raises:
            BadPacket: it is no packet, or was changed after it was sealed.
        """
        return _from_stored(read_packet(text))

    def _to_stored(self) -> Stored:
        code = self.codebase or CodebaseContext()
        packet = Stored(
            version=self.version,
            created=self.created.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            creator=self.creator,
            target_task=self.target_task,
            goal=self.goal,
            constraints=tuple(self.constraints),
            decisions=tuple(self.decisions),
            codebase=Codebase(
                tuple(code.relevant_files),
                tuple(code.patterns),
                tuple(code.examples),
                tuple(code.anti_patterns),
            ),
            failed_attempts=tuple(self.failed_attempts),
            not_included=tuple(self.not_included),
        )
        return _with_token_count(packet)


def _with_token_count(packet: Stored) -> Stored:
    from msgspec.structs import replace

    return replace(packet, token_count=counter(VOCABULARY)(to_prompt(packet)))


def _from_stored(packet: Stored) -> ContextPacket:
    code = packet.codebase
    codebase = CodebaseContext(
        list(code.relevant_files),
        list(code.patterns),
        list(code.examples),
        list(code.anti_patterns),
    )
    return ContextPacket(
        created=datetime.fromisoformat(packet.created) if packet.created else _now(),
        creator=packet.creator,
        target_task=packet.target_task,
        goal=packet.goal,
        decisions=list(packet.decisions),
        constraints=list(packet.constraints),
        codebase=codebase if code != Codebase() else None,
        failed_attempts=list(packet.failed_attempts),
        not_included=list(packet.not_included),
    )


def generate_context_packet(
    task: str,
    conversation: Conversation,
    codebase_cache: Mapping[str, str],
    depth: Literal["minimal", "standard", "deep"] = "standard",
) -> ContextPacket:
    """Make a packet for a task from a conversation and the texts of files by path.

    Raises:
        BadSetting: the task is empty, or the depth is none of the three.
    """
    made = _session(conversation).packet(task, depth, codebase=codebase_cache)
    return _from_stored(made)


def _session(conversation: Conversation) -> Session:
    session = Session("conversation", MemoryStore())
    session.extend(conversation)
    return session


def extract_goal(task: str, conversation: Conversation) -> str:
    """Return the goal of a task, and what it is a part of."""
    rows = _session(conversation).engine.rows()
    return goal_of(task, rows, CAPS["standard"], counter(VOCABULARY)).text


def extract_constraints(conversation: Conversation) -> list[str]:
    """Return every constraint in force, literally; only the user and the system set constraints."""
    return list(constraints_of(_session(conversation).engine.rows()))


def find_relevant_files(task: str, codebase_cache: Mapping[str, str]) -> dict[str, str]:
    """Return the files that are relevant to a task, the most relevant first, with their text."""
    near = relevant_files(task, codebase_cache, similarity_by(similar_words))
    return {row.path: codebase_cache[row.path] for row in near}


def summarize_codebase_context(relevant: Mapping[str, str]) -> CodebaseContext:
    """Summarize files in a line each; similar ones as a pattern and one example."""
    rows = [RelevantFile(path, file_summary(path, text)) for path, text in relevant.items()]
    found = extract_patterns(rows, relevant)
    return CodebaseContext(list(found.files), list(found.patterns), list(found.examples))


def extract_failures(conversation: Conversation) -> list[FailedAttempt]:
    """Return failed attempts and their reasons."""
    content = _session(conversation).engine.content()
    return list(failures_of(content.rows, packet_moments(content.moments)))


def describe_exclusions(conversation: Conversation, packet: ContextPacket) -> list[str]:
    """Describe the parts of a conversation that are not in a packet."""
    rows = _session(conversation).engine.rows()
    shown = {row.path for row in packet.codebase.relevant_files} if packet.codebase else set[str]()
    files = sum(file.path not in shown for file in rows.files)
    decisions = len(rows.decisions) - len(packet.decisions)
    exclusions = [f"{files} files that were touched"] if files else []
    exclusions += [f"{decisions} more decisions"] if decisions > 0 else []
    return [WHOLE_HISTORY, *exclusions]
