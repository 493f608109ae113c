"""Summary: the one structured account that a session carries of what left its window.

It is kept as rows, never as prose, and each row names the entry it was read from: so it can be
extended row by row, checked against the record, and rendered in any form. A row comes from the
record or from a model's checked answer; nothing here is ever written anew from an older summary.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

Who: TypeAlias = Literal["user", "system", "agent"]
Action: TypeAlias = Literal["created", "modified", "deleted", "renamed", "read"]


class Quote(Struct, frozen=True, omit_defaults=True):
    """Words exactly as they stand in an entry."""

    text: str = ""
    entry: str = ""
    """The entry that they stand in; empty only when there are no words."""


class Intent(Struct, frozen=True, omit_defaults=True):
    """What the user wants."""

    original: Quote = Quote()
    """The first request, with its pastes cut. It is set once."""
    current: Quote = Quote()
    """The newest request that was made, with its pastes cut."""
    changes: tuple[Quote, ...] = ()
    """Sentences with which the user changed the scope or corrected something, oldest first."""
    original_rest: tuple[Quote, ...] = ()
    current_rest: tuple[Quote, ...] = ()
    """What else the first and the newest request say, where a message came in several parts."""

    @property
    def requests(self) -> tuple[Quote, ...]:
        """The first and the newest request with all their parts: what is never left out."""
        said = (self.original, *self.original_rest, self.current, *self.current_rest)
        return tuple(quote for quote in said if quote.text)


class Constraint(Struct, frozen=True, omit_defaults=True):
    """A sentence that binds the agent, word for word."""

    text: str
    entry: str
    by: Who = "user"
    negative: bool = False
    """Whether it forbids something."""
    lifted: str = ""
    """The entry of the user's words that took it back; empty while it holds."""


class File(Struct, frozen=True, omit_defaults=True):
    """A file that the agent touched, and what came of it."""

    path: str
    action: Action
    entry: str = ""
    """The last call that touched it."""
    change: str = ""
    """What changed, in a line: symbols, lines added and taken away."""
    partial: bool = False
    """Whether a later attempt at it failed, or its tests do."""
    lines: tuple[tuple[int, int], ...] = ()
    """The lines that were read; none when the whole file was."""
    why: str = ""
    """What it was read for, as the agent said it the first time."""
    was: str = ""
    """Its path before it was renamed."""


class Decision(Struct, frozen=True, omit_defaults=True):
    """A choice, and why it was made."""

    choice: str
    entry: str
    reason: str = ""
    by: Who = "agent"
    overrules: str = ""
    """The entry of the decision that it takes the place of."""


class Fact(Struct, frozen=True, omit_defaults=True):
    """A line that holds names, ids or values that may be needed again."""

    text: str
    entry: str
    source: str = ""
    """What brought it: a tool and what it was asked for, or who said it."""
    line: int = 0
    """Which line of the entry it is, from 1; what keeps lines in their order."""
    worth: float = 0.0


class Error(Struct, frozen=True, omit_defaults=True):
    """Something that went wrong, and whether it still does."""

    text: str
    entry: str
    what: str = ""
    """The command or call that met it."""
    resolved: str = ""
    """The entry that shows it gone; empty while it is open."""


class Progress(Struct, frozen=True, omit_defaults=True):
    """Where the work stands. The newest account replaces the one before."""

    phase: str = ""
    completed: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()
    tests: str = ""
    """What the last run of the tests came to, in its own words."""
    entry: str = ""


class Next(Struct, frozen=True, omit_defaults=True):
    """A step that is still to be taken."""

    step: str
    entry: str
    owner: Who = "agent"
    status: str = "pending"


class Ref(Struct, frozen=True, omit_defaults=True):
    """Where the whole of something is that is no longer in sight."""

    entry: str
    what: str = ""
    tokens: int = 0


class Summary(Struct, frozen=True, omit_defaults=True):
    """Everything known of what left the window of a session."""

    intent: Intent = Intent()
    constraints: tuple[Constraint, ...] = ()
    words: tuple[Quote, ...] = ()
    """What the user said otherwise, oldest first."""
    files: tuple[File, ...] = ()
    decisions: tuple[Decision, ...] = ()
    facts: tuple[Fact, ...] = ()
    errors: tuple[Error, ...] = ()
    progress: Progress = Progress()
    next: tuple[Next, ...] = ()
    questions: tuple[Quote, ...] = ()
    """What was asked and not answered yet."""
    refs: tuple[Ref, ...] = ()
    findings: tuple[Quote, ...] = ()
    """What the agent found out and reported, in its own words, oldest first."""
    revision: int = 0
    """How often it was extended."""
    hidden: int = 0
    """Entries that it stands for."""
    saved: int = 0
    """Raw tokens that are out of sight because of it."""
    at: str = ""
    """When the last of them came, as its source said."""
    by: str = ""
    """The model whose checked rows are among these; empty when all were read off the record."""


# The sequence that a summary goes through, as it is kept with the compression that it made.


INTACT, RECOVERY = "preserved items intact", "recovery possible"
"""Two checks that metrics are read off."""
HALF = 50
"""Percent of its size that a window should have at most after a summary."""


class Check(Struct, frozen=True):
    """One thing that was looked at, and whether it was as it should be."""

    what: str
    holds: bool = True
    detail: str = ""


class Phase(Struct, frozen=True):
    """One of the four: pre-check, preservation, compaction, verification."""

    name: str
    checks: tuple[Check, ...] = ()
