"""The packet of the context compression protocol, in the names and shapes that it gives.

A few lines each over `session.packet`: the object here is mutable, as the protocol's own is, and
its written forms are those of the packet it stands for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from holdfast.core.ledger.packet import Choice, Codebase, FailedAttempt, RelevantFile
from holdfast.core.ledger.packet import Packet as Stored
from holdfast.core.ledger.window import Item
from holdfast.core.observe.scene import Scene, read_scene
from holdfast.core.view.packet.code import extract, relevant_files, summary_of
from holdfast.core.view.packet.goal import constraints_of, goal_of
from holdfast.core.view.packet.history import failures_of
from holdfast.core.view.packet.layers import CAPS
from holdfast.core.view.packet.prompt import to_prompt
from holdfast.core.view.packet.select import similar_by
from holdfast.models.thesaurus import like
from holdfast.models.tokenizers import counter
from holdfast.packets.packet import read_packet, seal
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore

Conversation: TypeAlias = Sequence[Mapping[str, object]]
"""Messages in any provider's format."""
VOCABULARY = "o200k_base"
WHOLE = "full conversation history"


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass
class CodebaseContext:
    """What a worker needs to know of the code."""

    relevant_files: list[RelevantFile] = field(default_factory=list[RelevantFile])
    patterns: list[str] = field(default_factory=list[str])
    examples: list[str] = field(default_factory=list[str])
    anti_patterns: list[str] = field(default_factory=list[str])


@dataclass
class ContextPacket:
    """A structured summary for one task, with what is not in it."""

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
        """The packet as its file has it."""
        return seal(self._stored()).to_yaml()

    def to_prompt(self) -> str:
        """The packet as Markdown for the worker's prompt."""
        return to_prompt(self._stored())

    @property
    def token_count(self) -> int:
        """Tokens of the packet as a worker reads it."""
        return counter(VOCABULARY)(self.to_prompt())

    @classmethod
    def from_yaml(cls, text: str) -> "ContextPacket":
        """Read a packet.

        Raises:
            BadPacket: it is no packet, or not what was sealed.
        """
        return _opened(read_packet(text))

    def _stored(self) -> Stored:
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
        return _counted(packet)


def _counted(packet: Stored) -> Stored:
    from msgspec.structs import replace

    return replace(packet, token_count=counter(VOCABULARY)(to_prompt(packet)))


def _opened(packet: Stored) -> ContextPacket:
    code = packet.codebase
    told = CodebaseContext(
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
        codebase=told if code != Codebase() else None,
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
    return _opened(made)


def _session(conversation: Conversation) -> Session:
    session = Session("conversation", MemoryStore())
    session.extend(conversation)
    return session


def _scene(session: Session) -> Scene:
    return read_scene(
        [Item(entry) for entry in session.ledger.redactor.entries(session.ledger.path())]
    )


def extract_goal(task: str, conversation: Conversation) -> str:
    """What is to be done, and what it is a part of."""
    rows = _session(conversation).engine.rows()
    return goal_of(task, rows, CAPS["standard"], counter(VOCABULARY)).text


def extract_constraints(conversation: Conversation) -> list[str]:
    """Every constraint that holds, word for word; only the user and the system set one."""
    return list(constraints_of(_session(conversation).engine.rows()))


def find_relevant_files(task: str, codebase_cache: Mapping[str, str]) -> dict[str, str]:
    """The files that a task is about, the nearest first, with their text."""
    near = relevant_files(task, codebase_cache, similar_by(like))
    return {row.path: codebase_cache[row.path] for row in near}


def summarize_codebase_context(relevant: Mapping[str, str]) -> CodebaseContext:
    """Files in a line each; those that are alike as a pattern and one to read."""
    rows = [RelevantFile(path, summary_of(path, text)) for path, text in relevant.items()]
    found = extract(rows, relevant)
    return CodebaseContext(list(found.files), list(found.patterns), list(found.examples))


def extract_failures(conversation: Conversation) -> list[FailedAttempt]:
    """What was tried and did not work, and why."""
    session = _session(conversation)
    return list(failures_of(session.engine.rows(), _scene(session)))


def describe_exclusions(conversation: Conversation, packet: ContextPacket) -> list[str]:
    """What of a conversation is not in a packet."""
    rows = _session(conversation).engine.rows()
    shown = {row.path for row in packet.codebase.relevant_files} if packet.codebase else set[str]()
    files = sum(file.path not in shown for file in rows.files)
    decisions = len(rows.decisions) - len(packet.decisions)
    told = [f"{files} files that were touched"] if files else []
    told += [f"{decisions} more decisions"] if decisions > 0 else []
    return [WHOLE, *told]
