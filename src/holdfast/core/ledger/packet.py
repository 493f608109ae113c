"""Packet and Feedback as they are stored: what a worker was handed, and what it said of it.

A packet is kept flat here; the nested YAML that workers read is written and read in one place
(`core/view/packet/wire.py`). What became of a packet is told by three derived bodies of
`entry.py`: `Handed` holds a revision of it, `PacketRead` that a worker looked at it,
`PacketReported` the worker's `Feedback`. A reference to a packet is the id of its `Handed` entry.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

Outcome: TypeAlias = Literal["", "done", "blocked", "failed"]
"""How a worker's task ended, as its exit report says; empty while nobody told."""
Depth: TypeAlias = Literal["minimal", "standard", "deep", "auto"]
SCHEMA = 1
"""The version of the schema, which is not the revision of the content."""
SHARED = "shared"
"""The audience of the packet that every worker of a project may read."""


class Choice(Struct, frozen=True, omit_defaults=True):
    """A decision that the worker is not to make again."""

    choice: str
    reason: str = ""
    made_by: str = "orchestrator"
    """`user`, `system` or `orchestrator`."""
    refs: tuple[str, ...] = ()
    """The entries it was read from; none when a person wrote it into the packet."""
    superseded: str = ""
    """What it takes the place of, in its own words."""


class RelevantFile(Struct, frozen=True, omit_defaults=True):
    """A file that the task is about, in a line."""

    path: str
    summary: str = ""
    refs: tuple[str, ...] = ()


class Codebase(Struct, frozen=True, omit_defaults=True):
    """Layer 3: what the worker needs to know of the code."""

    relevant_files: tuple[RelevantFile, ...] = ()
    patterns: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    """One file for each pattern, to be read for reference."""
    anti_patterns: tuple[str, ...] = ()


class FailedAttempt(Struct, frozen=True, omit_defaults=True):
    """What was tried and did not work, so that nobody tries it again."""

    approach: str
    reason_failed: str = ""
    refs: tuple[str, ...] = ()


class Pivot(Struct, frozen=True, omit_defaults=True):
    """Where the work changed direction, and why."""

    change: str
    reason: str = ""
    refs: tuple[str, ...] = ()


class Change(Struct, frozen=True, omit_defaults=True):
    """What one revision brought."""

    revision: int
    what: str
    at: str = ""


class Packet(Struct, frozen=True, omit_defaults=True):
    """What a worker is handed for a task, and what it is not handed."""

    version: int = SCHEMA
    created: str = ""
    """When, in UTC."""
    creator: str = ""
    """Who made it, `orchestrator-pane-0` say."""
    target_task: str = ""
    audience: str = ""
    """Whom it is for: `pane-1`, an agent's name, or `shared`."""
    session: str = ""
    upto: str = ""
    """The session it was drawn from, and the last entry that it tells of."""
    task_type: str = ""
    """One of a small set, by rule: what efficiency is compared within."""
    depth: str = ""
    layers: tuple[int, ...] = ()
    """Which of the four layers it was made of."""
    revision: int = 1
    changelog: tuple[Change, ...] = ()
    """How its content came to be what it is, oldest first."""
    edited: tuple[str, ...] = ()
    """Parts that a person wrote, such as `goal`: a refresh leaves them alone."""
    stale_after: str = ""
    """The moment after which it is to be asked for again; empty for none."""
    goal: str = ""
    success_criteria: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    """Word for word."""
    decisions: tuple[Choice, ...] = ()
    state: tuple[str, ...] = ()
    """Where the work stands: plan, next steps, and what was found last, in its own words."""
    codebase: Codebase = Codebase()
    failed_attempts: tuple[FailedAttempt, ...] = ()
    pivots: tuple[Pivot, ...] = ()
    open_questions: tuple[str, ...] = ()
    prior_session: str = ""
    """What an earlier session of the same task came to."""
    not_included: tuple[str, ...] = ()
    """What was left out, and where it can be read."""
    refs: tuple[str, ...] = ()
    """Entries of the session that hold more: `holdfast recover --ref` reads them."""
    extra: dict[str, str] = {}
    """Members that this version does not know: where they stood, and their JSON."""
    over_budget: bool = False
    """Whether layer 1 alone is more than the budget."""
    token_count: int = 0
    """Tokens of it as a worker reads it."""
    checksum: str = ""
    """`sha256:` of everything but this and the signature, as canonical JSON."""
    signature: str = ""
    """`hmac-sha256:` of the same, where a key is set."""


class Feedback(Struct, frozen=True, omit_defaults=True):
    """What a worker said of its packet when it was through."""

    gaps: tuple[str, ...] = ()
    """What it needed and did not have."""
    unused: tuple[str, ...] = ()
    """What it was given and did not need."""
    outcome: Outcome = ""
    pane: str = ""
    """Who reports, as the packet names its audience."""
    packet: str = ""
    """The packet it is about: the id of its `Handed` entry; empty when there was none."""
    revision: int = 0
    """Which revision of it the worker had read last."""
    task_type: str = ""
    context_sent: int = 0
    """Tokens of the packet."""
    tokens_used: int = 0
    """Tokens that the worker needed for its task, when it told."""
    explored: tuple[str, ...] = ()
    """What it had to look up again although the orchestrator knew it."""
    note: str = ""
