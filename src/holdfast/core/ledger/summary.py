"""Summary: the structured record of everything that left the window of a session.

It is stored as rows, never as prose, and each row names the entry it was read from: so it can be
extended row by row, checked against the ledger, and rendered in any form. A row comes from the
ledger or from a checked answer of a model; no row is rewritten from an older summary.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

Who: TypeAlias = Literal["user", "system", "agent"]
Action: TypeAlias = Literal["created", "modified", "deleted", "renamed", "read"]

SUMMARY_BUDGET = 4_000
"""Tokens of a summary if no budget is given."""


class Quote(Struct, frozen=True, omit_defaults=True):
    """Text word for word as an entry has it."""

    text: str = ""
    entry: str = ""
    """The entry that contains it; empty only if there is no text."""


class Intent(Struct, frozen=True, omit_defaults=True):
    """The requests of the user."""

    original: Quote = Quote()
    """The first request without its pastes. It is set once."""
    current: Quote = Quote()
    """The newest request without its pastes."""
    changes: tuple[Quote, ...] = ()
    """Sentences of the user that changed the scope or corrected something, oldest first."""
    original_rest: tuple[Quote, ...] = ()
    current_rest: tuple[Quote, ...] = ()
    """The other parts of the first and the newest request, if a message has several parts."""

    @property
    def requests(self) -> tuple[Quote, ...]:
        """The first and the newest request with all their parts; they are never left out."""
        quotes = (self.original, *self.original_rest, self.current, *self.current_rest)
        return tuple(quote for quote in quotes if quote.text)


class Constraint(Struct, frozen=True, omit_defaults=True):
    """A sentence that binds the agent, word for word."""

    text: str
    entry: str
    by: Who = "user"
    negative: bool = False
    """Whether it forbids something."""
    lifted: str = ""
    """The entry in which the user revoked it; empty while it is valid."""


class File(Struct, frozen=True, omit_defaults=True):
    """A file that the agent used, and the result."""

    path: str
    action: Action
    entry: str = ""
    """The last call that used it."""
    change: str = ""
    """The change in a line: symbols, lines added and removed."""
    partial: bool = False
    """Whether a later attempt to change it failed, or its tests fail."""
    lines: tuple[tuple[int, int], ...] = ()
    """The lines that were read; empty if the whole file was."""
    why: str = ""
    """The reason for reading it, in the agent's first words."""
    was: str = ""
    """Its path before it was renamed."""


class Decision(Struct, frozen=True, omit_defaults=True):
    """A choice and its reason."""

    choice: str
    entry: str
    reason: str = ""
    by: Who = "agent"
    overrules: str = ""
    """The entry of the decision that it replaces."""


class Fact(Struct, frozen=True, omit_defaults=True):
    """A line with names, ids or values that may be needed again."""

    text: str
    entry: str
    source: str = ""
    """Its origin: a tool and its arguments, or the author."""
    line: int = 0
    """The number of the line in the entry, from 1; lines are sorted by it."""
    worth: float = 0.0
    turn: str = ""
    """The request that was being worked on; the text groups facts by it."""


class Error(Struct, frozen=True, omit_defaults=True):
    """An error, and whether it is resolved."""

    text: str
    entry: str
    what: str = ""
    """The command or call that failed."""
    resolved: str = ""
    """The entry that shows that it is gone; empty while it is open."""


class Progress(Struct, frozen=True, omit_defaults=True):
    """The state of the work. A newer one replaces it."""

    phase: str = ""
    completed: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()
    tests: str = ""
    """The result of the last test run, word for word."""
    entry: str = ""
    phase_entry: str = ""
    """The entry that a model read the phase from; empty if the phase is the record's."""


class Next(Struct, frozen=True, omit_defaults=True):
    """A step that is not done yet."""

    step: str
    entry: str
    owner: Who = "agent"
    status: str = "pending"


class Ref(Struct, frozen=True, omit_defaults=True):
    """A reference to an entry that is no longer in the window."""

    entry: str
    what: str = ""
    tokens: int = 0


class Summary(Struct, frozen=True, omit_defaults=True):
    """The record of everything that left the window of a session."""

    intent: Intent = Intent()
    constraints: tuple[Constraint, ...] = ()
    words: tuple[Quote, ...] = ()
    """Other messages of the user, oldest first."""
    files: tuple[File, ...] = ()
    decisions: tuple[Decision, ...] = ()
    facts: tuple[Fact, ...] = ()
    errors: tuple[Error, ...] = ()
    progress: Progress = Progress()
    next: tuple[Next, ...] = ()
    questions: tuple[Quote, ...] = ()
    """Questions without an answer yet."""
    refs: tuple[Ref, ...] = ()
    state: tuple[Quote, ...] = ()
    """Branch, commits and the last run of each check. A newer one replaces it."""
    root: str = ""
    """The directory that the paths of the text are relative to; empty if there is none."""
    findings: tuple[Quote, ...] = ()
    """Only in ledgers of earlier builds: the names of their entries are made of all fields."""
    revision: int = 0
    """The number of extensions."""
    hidden: int = 0
    """The number of entries that it replaces."""
    saved: int = 0
    """Raw tokens that it removed from the window."""
    at: str = ""
    """The time of the last of these entries, as its source names it."""
    by: str = ""
    """The model that some checked rows are from; empty if all rows were read from the ledger."""
    open_by_model: tuple[str, ...] = ()
    """The steps and questions that are from that model: a newer answer replaces them."""


# The phases in which a summary is made, as they are stored with its compression.


CHECK_INTACT, CHECK_RECOVERY = "preserved items intact", "recovery possible"
"""The names of two checks that metrics are computed from."""
TARGET_PERCENT = 50
"""The largest size of a window after a summary, in percent of its size before."""


class Check(Struct, frozen=True):
    """One check and its result."""

    what: str
    holds: bool = True
    detail: str = ""


class Phase(Struct, frozen=True):
    """One of the four phases: pre-check, preservation, compaction, verification."""

    name: str
    checks: tuple[Check, ...] = ()
