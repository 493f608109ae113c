"""Packet and Feedback: the persisted types of a worker's context and of its report.

A packet is flat here; `core/view/packet/document.py` writes and reads the nested YAML for workers.
Three derived bodies of `entry.py` record the life of a packet: `PacketSent` has a revision of it,
`PacketRead` says that a worker read it, `PacketReported` has the worker's `Feedback`. A reference
to a packet is the id of its `PacketSent` entry.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

Outcome: TypeAlias = Literal["", "done", "blocked", "failed"]
"""How a worker's task ended, as its exit report says; empty before the report."""
Depth: TypeAlias = Literal["minimal", "standard", "deep", "auto"]
SCHEMA = 1
"""The version of the schema; the content has a revision of its own."""
SHARED = "shared"
"""The audience of the packet that every worker of a project may read."""


class Choice(Struct, frozen=True, omit_defaults=True):
    """A decision that the worker must not make again."""

    choice: str
    reason: str = ""
    made_by: str = "orchestrator"
    """`user`, `system` or `orchestrator`."""
    refs: tuple[str, ...] = ()
    """The entries it was read from; empty if a person wrote it into the packet."""
    superseded: str = ""
    """The text of the decision that it replaces."""


class RelevantFile(Struct, frozen=True, omit_defaults=True):
    """A file that the task is about, with a summary of one line."""

    path: str
    summary: str = ""
    refs: tuple[str, ...] = ()


class Codebase(Struct, frozen=True, omit_defaults=True):
    """Layer 3: files, patterns and examples of the code."""

    relevant_files: tuple[RelevantFile, ...] = ()
    patterns: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    """One file for each pattern, to be read for reference."""
    anti_patterns: tuple[str, ...] = ()


class FailedAttempt(Struct, frozen=True, omit_defaults=True):
    """An approach that failed, so that the worker does not try it again."""

    approach: str
    reason_failed: str = ""
    refs: tuple[str, ...] = ()


class Pivot(Struct, frozen=True, omit_defaults=True):
    """A change of direction of the work, and its reason."""

    change: str
    reason: str = ""
    refs: tuple[str, ...] = ()


class Change(Struct, frozen=True, omit_defaults=True):
    """The changes of one revision."""

    revision: int
    what: str
    at: str = ""


class Packet(Struct, frozen=True, omit_defaults=True):
    """The context that a worker gets for a task, and a list of what was left out."""

    version: int = SCHEMA
    created: str = ""
    """The time in UTC."""
    creator: str = ""
    """The agent that made it, such as `orchestrator-pane-0`."""
    target_task: str = ""
    audience: str = ""
    """The reader: `pane-1`, the name of an agent, or `shared`."""
    session: str = ""
    upto: str = ""
    """The session it was made from, and the last entry that it covers."""
    task_type: str = ""
    """One of a few types, found by rules; efficiency is compared within a type."""
    depth: str = ""
    layers: tuple[int, ...] = ()
    """The layers that it has, of four."""
    revision: int = 1
    changelog: tuple[Change, ...] = ()
    """The changes of its revisions, oldest first."""
    edited: tuple[str, ...] = ()
    """Parts that a person wrote, such as `goal`: a refresh does not change them."""
    stale_after: str = ""
    """The time after which the worker should request a new one; empty for none."""
    goal: str = ""
    success_criteria: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    """Word for word."""
    decisions: tuple[Choice, ...] = ()
    state: tuple[str, ...] = ()
    """The state of the work: plan, next steps, and the last findings, word for word."""
    codebase: Codebase = Codebase()
    failed_attempts: tuple[FailedAttempt, ...] = ()
    pivots: tuple[Pivot, ...] = ()
    open_questions: tuple[str, ...] = ()
    prior_session: str = ""
    """The result of an earlier session of the same task."""
    not_included: tuple[str, ...] = ()
    """The parts that were left out, and where they can be read."""
    refs: tuple[str, ...] = ()
    """Entries of the session with more details: `holdfast recover --ref` reads them."""
    extra: dict[str, str] = {}
    """Unknown members: their place in the packet, and their JSON."""
    over_budget: bool = False
    """Whether layer 1 alone exceeds the budget."""
    token_count: int = 0
    """Tokens of the packet as a worker reads it."""
    checksum: str = ""
    """`sha256:` of everything but this and the signature, as canonical JSON."""
    signature: str = ""
    """`hmac-sha256:` of the same, if a key is set."""


class Feedback(Struct, frozen=True, omit_defaults=True):
    """A worker's report on its packet at the end of its task."""

    gaps: tuple[str, ...] = ()
    """Information that it needed and did not have."""
    unused: tuple[str, ...] = ()
    """Parts of the packet that it did not need."""
    outcome: Outcome = ""
    pane: str = ""
    """The worker, as the packet names its audience."""
    packet: str = ""
    """The id of the `PacketSent` entry of its packet; empty if there was none."""
    revision: int = 0
    """The last revision that the worker read."""
    task_type: str = ""
    context_sent: int = 0
    """Tokens of the packet."""
    tokens_used: int = 0
    """Tokens that the worker used for its task; 0 if it did not report them."""
    explored: tuple[str, ...] = ()
    """Information that it had to look up although the orchestrator had it."""
    note: str = ""
