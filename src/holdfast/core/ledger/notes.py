"""Every kind of note that Holdfast itself writes or reads, as a value with typed fields.

A note is persisted as `Noted(what, facts)`: the name of its kind, and texts by key. Only this
module converts between the two. `what` and the names of the fields are persisted, and so is the
order of the fields: never rename, reuse or reorder them.

A client may record a note of any other kind; that one stays a `Noted`. A client may also record a
note of a kind below with any facts, so reading one never raises: a fact that is missing or damaged
has the default of its field, and a note without a fact that has no default is not read at all.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Annotated, Any, ClassVar, TypeAlias, TypeVar, get_args

import msgspec
from msgspec import NODEFAULT, Struct, structs

from holdfast.core.ledger.entry import Body, Entry, EntryId, Noted
from holdfast.text.jsontext import whole_number

YES, NO = "yes", "no"
STOPPED = "STOPPED"
"""The state of an unattended run that is over."""
MORE = "more"
"""A worker asks for a larger packet."""


class _Form(Struct, frozen=True):
    """How the value of a field is written as a text, and read from one."""

    write: Callable[[Any], str | None]
    """Returns None if the fact is left out."""
    read: Callable[[str], Any]
    """Raises ValueError if the text is damaged."""


def _count(text: str) -> int:
    """A whole number of at most nine digits."""
    number = whole_number(text)
    if number is None:
        raise ValueError(text)
    return number


def _balance(text: str) -> int:
    """A whole number that may be below zero."""
    return -_count(text[1:]) if text.startswith("-") else _count(text)


def _size(text: str) -> int:
    """A whole number; a damaged one is 0, because its presence alone has a meaning."""
    if not text:
        raise ValueError(text)
    return whole_number(text) or 0


def _seconds(text: str) -> int:
    """A whole number of at most eleven digits."""
    if not text.isdecimal() or len(text) > 11:
        raise ValueError(text)
    return int(text)


def _joined_by(sign: str) -> _Form:
    """Texts with a sign between them; an empty tuple is left out."""
    return _Form(
        lambda texts: sign.join(texts) if texts else None,
        lambda text: tuple(text.split(sign)) if text else (),
    )


def _json_of(kind: Any) -> _Form:
    """A value as JSON; None if the text cannot be read."""

    def read(text: str) -> object:
        try:
            return msgspec.json.decode(text, type=kind)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None

    return _Form(lambda value: msgspec.json.encode(value).decode(), read)


_TEXT = _Form(str, str)
Count: TypeAlias = Annotated[int, _Form(str, _count)]
Balance: TypeAlias = Annotated[int, _Form(str, _balance)]
Size: TypeAlias = Annotated[int, _Form(str, _size)]
Seconds: TypeAlias = Annotated[int, _Form(str, _seconds)]
Hundredths: TypeAlias = Annotated[float, _Form(lambda value: f"{value:.2f}", float)]
Answer: TypeAlias = Annotated[
    bool, _Form(lambda value: YES if value else NO, lambda text: text == YES)
]
Mark: TypeAlias = Annotated[bool, _Form(lambda value: YES if value else None, lambda _: True)]
"""Written only if it is true; true if it is there at all."""
Ids: TypeAlias = Annotated[tuple[EntryId, ...], _joined_by(" ")]


class Kind(Struct, frozen=True):
    """A note of one kind."""

    what: ClassVar[str]
    """The name of the kind, as it is persisted."""


# The course of the session: its end, its model, its limit, its task, its pins.


class Switched(Kind, frozen=True):
    """The lane continues from its parent, which is not the newest source entry."""

    what: ClassVar[str] = "switched"


class ModelNamed(Kind, frozen=True):
    """From here on, this is the agent's model."""

    what: ClassVar[str] = "model"
    model: str


class LimitLearned(Kind, frozen=True):
    """A provider refused a request and named the largest one that it accepts."""

    what: ClassVar[str] = "limit"
    limit: Count
    """Tokens."""


class TaskNamed(Kind, frozen=True):
    """From here on, the agent works on this task."""

    what: ClassVar[str] = "task"
    name: str = ""


class Pinned(Kind, frozen=True):
    """The user wants a text in every window."""

    what: ClassVar[str] = "pinned"
    text: str = ""


class Unpinned(Kind, frozen=True):
    """The user lifted a pin or a constraint."""

    what: ClassVar[str] = "unpinned"
    pin: str = ""
    """The id of the pin, the entry that the constraint was read from, or its words."""


class SessionEnded(Kind, frozen=True):
    """The session ended."""

    what: ClassVar[str] = "session_end"
    reason: str | None = None
    """The reason that the agent's program gave."""


class Continued(Kind, frozen=True):
    """A fresh session continues this one."""

    what: ClassVar[str] = "continued"
    session: str = ""
    checkpoint: EntryId = ""


class Purged(Kind, frozen=True):
    """The user erased entries of this session, or of a session that it continues."""

    what: ClassVar[str] = "purged"
    entries: Ids = ()
    session: str | None = None


# Compression: content found on disk, plans postponed or blocked, refusals and failures.


class Persisted(Kind, frozen=True):
    """The content that a call wrote was found on disk."""

    what: ClassVar[str] = "persisted"
    entry: EntryId = ""
    """The call."""
    path: str | None = None
    sha256: str = ""


class Postponed(Kind, frozen=True):
    """A compression was planned and postponed."""

    what: ClassVar[str] = "postponed"
    raw: Count = 0
    """Raw tokens in the window."""
    trigger: str | None = None
    reason: str | None = None
    saves: Balance | None = None
    """Raw tokens that the plan would have saved."""
    gain: Balance | None = None
    """The gain of the plan, in fresh input tokens."""


class SummaryBlocked(Kind, frozen=True):
    """Strict mode blocked a summary, because preserved items are missing."""

    what: ClassVar[str] = "blocked"
    missing: Annotated[tuple[str, ...], _joined_by(",")] = ()


class ThinkingLogged(Kind, frozen=True):
    """Thoughts that left the window were logged to the project's trajectory."""

    what: ClassVar[str] = "trajectory"
    path: str = ""
    upto: Count = 0
    """The number of the last entry that was logged."""
    count: Count = 0


class Forked(Kind, frozen=True):
    """A client sent a changed copy of a text of Holdfast; the text in the ledger is used."""

    what: ClassVar[str] = "fork"
    where: str = ""
    text: str = ""
    """The beginning of the changed text."""


class RecoveryFailed(Kind, frozen=True):
    """Hidden entries could not be read back, or a recovery level could not be made."""

    what: ClassVar[str] = "recovery_failed"
    lost: str | None = None
    """The entries that could not be read back; None if a level failed."""
    level: Count | None = None
    reason: str | None = None
    review: str | None = None
    """An instruction for the reader."""


class SummarizerRefused(Kind, frozen=True):
    """The answer of a model was not used in a summary, or some of its rows were not."""

    what: ClassVar[str] = "summarizer"
    refused: str = ""
    """The reason, or the reasons."""
    left_out: Count | None = None
    """The rows that were left out, if others were used."""
    by: str | None = None
    """The model, if some of its rows were used."""


class FreshSessionAdvised(Kind, frozen=True):
    """The window cannot be made smaller: a fresh session was recommended."""

    what: ClassVar[str] = "fresh_session"
    generation: Count | None = None
    """The generation of that window."""
    checkpoint: str = ""


class RuleFailed(Kind, frozen=True):
    """A rule raised an exception and was left out."""

    what: ClassVar[str] = "fault"
    rule: str = ""
    entry: str = ""
    error: str = ""


# Drift: the signs in a step of the agent, and the lines that answer them.


class Finding(Struct, frozen=True, omit_defaults=True):
    """How strongly a message shows one sign of drift, with its evidence."""

    strength: float = 0.0
    """From 0 to 1."""
    why: str = ""
    """One sentence for a reader."""
    evidence: str = ""
    """The text or the call of the agent."""
    quote: str = ""
    """The text that it contradicts: the user's words, a decision or a request."""
    ref: str = ""
    """The entry that contains the quote."""
    missing: tuple[str, ...] = ()
    """The terms to search for in the ledger."""


class NotedSignal(Struct, frozen=True):
    """A sign of drift by its name, with its evidence."""

    name: str
    finding: Finding


class Span(Struct, frozen=True, array_like=True):
    """Some lines of an entry."""

    ref: str
    """The beginning of the entry's id."""
    first: int
    last: int


class Drifted(Kind, frozen=True):
    """A step of the agent after a summary showed signs of drift."""

    what: ClassVar[str] = "drift"
    entry: EntryId = ""
    """The first entry of the step."""
    summary: EntryId = ""
    """The entry that added the summary to the window."""
    score: Hundredths = 0.0
    step: Count = 0
    """The number of the step, counted from the summary."""
    names: str = ""
    """The names of the signs, for a reader."""
    why: str = ""
    """One sentence for each sign."""
    action: str = ""
    """The agent's action, in a line."""
    signals: Annotated[tuple[NotedSignal, ...], _json_of(tuple[NotedSignal, ...])] | None = ()
    recovered: Annotated[tuple[Span, ...], _json_of(tuple[Span, ...])] | None = ()
    """Where the ledger has the text that the agent lost. Both are None if they are damaged."""

    @property
    def is_readable(self) -> bool:
        """Whether its evidence can be read; if not, the agent gets no message about it."""
        return self.signals is not None and self.recovered is not None


# Unattended runs.


class UnattendedRun(Kind, frozen=True):
    """The user started or stopped an unattended run."""

    what: ClassVar[str] = "run"
    plan: str = ""
    state: str = STOPPED
    owner: str = ""
    consent: Answer = False
    started: str = ""
    until: str = ""
    """The time when the consent ends."""
    max_age: Seconds = 0
    """The duration of the consent in seconds."""
    seal: str = ""
    """A signature that only the user who started the run can make."""


# Workers and their packets.


class Spawned(Kind, frozen=True):
    """A client starts a worker with a task."""

    what: ClassVar[str] = "spawn"
    task: str = ""
    pane: str = ""
    agent: str = ""
    """The agent that gets the packet, if no pane is named."""
    depth: str = ""


class WholeTask(Kind, frozen=True):
    """A worker's task that is too long for its packet."""

    what: ClassVar[str] = "packet_task"
    text: str = ""


class PacketWanted(Kind, frozen=True):
    """A worker requests a larger or a newer packet."""

    what: ClassVar[str] = "packet_wanted"
    pane: str = ""
    kind: str = MORE
    """`more` if its packet is not enough, `refresh` if it is old."""
    why: str = ""
    packet: EntryId = ""


# Hooks: the events that they saw, and the messages that they have sent.


class Original(Kind, frozen=True):
    """A tool result as a hook saw it, before the host wrote a smaller one to the transcript."""

    what: ClassVar[str] = "original"
    call: str = ""
    tool: str = ""
    ref: EntryId = ""
    """Its reference, a hash of its content without its place."""
    output: str = ""
    failed: Mark = False
    before: Size | None = None
    after: Size | None = None
    """Estimated tokens of the result and of its stand-in; None if the host shows all of it."""
    file: str | None = None
    """The path of a readable copy."""


class Prompted(Kind, frozen=True):
    """A prompt of the user, as a hook saw it."""

    what: ClassVar[str] = "prompt"
    text: str = ""


class Anchored(Kind, frozen=True):
    """A summary of Holdfast replaced everything in the window."""

    what: ClassVar[str] = "anchored"
    trigger: str = ""


class Reminded(Kind, frozen=True):
    """The agent got the facts to keep, because its program compacts without a hook."""

    what: ClassVar[str] = "kept"


class LevelWarned(Kind, frozen=True):
    """The agent was warned that its window is this full."""

    what: ClassVar[str] = "warned"
    level: str = ""


class CompactedByHand(Kind, frozen=True):
    """The user compacted the window; the agent gets the record with the next prompt."""

    what: ClassVar[str] = "compacted_by_hand"


class FollowedBy(Kind, frozen=True):
    """The user cleared the window, and another session uses it now."""

    what: ClassVar[str] = "followed_by"
    session: str = ""


Note: TypeAlias = (
    Switched
    | ModelNamed
    | LimitLearned
    | TaskNamed
    | Pinned
    | Unpinned
    | SessionEnded
    | Continued
    | Purged
    | Persisted
    | Postponed
    | SummaryBlocked
    | ThinkingLogged
    | Forked
    | RecoveryFailed
    | SummarizerRefused
    | FreshSessionAdvised
    | RuleFailed
    | Drifted
    | UnattendedRun
    | Spawned
    | WholeTask
    | PacketWanted
    | Original
    | Prompted
    | Anchored
    | Reminded
    | LevelWarned
    | CompactedByHand
    | FollowedBy
)
KINDS: dict[str, type[Note]] = {kind.what: kind for kind in get_args(Note)}
"""The kinds by their persisted names."""
K = TypeVar("K", bound=Kind)


class _Field(Struct, frozen=True):
    """A field of a note, and its form as a fact."""

    name: str
    form: _Form
    default: Any
    """`NODEFAULT` if the note cannot be read without it."""


@cache
def _fields(kind: type[Note]) -> tuple[_Field, ...]:
    # Found on first use: a hook writes one or two kinds.
    return tuple(
        _Field(field.name, _form(field.type), field.default) for field in structs.fields(kind)
    )


def _form(declared: Any) -> _Form:
    """The form in the annotation of a field: `T`, `Annotated[T, form]` or that or None."""
    for part in (declared, *get_args(declared)):
        for extra in get_args(part):
            if isinstance(extra, _Form):
                return extra
    return _TEXT


def encode(note: Note) -> Noted:
    """Return the persisted form of a note; leave out fields that are None."""
    facts: dict[str, str] = {}
    for field in _fields(KINDS[note.what]):
        value = getattr(note, field.name)
        text = None if value is None else field.form.write(value)
        if text is not None:
            facts[field.name] = text
    return Noted(note.what, facts)


def note_of(body: Body) -> Note | None:
    """Read a body as a note; None if it is no note, of another kind, or lacks a required fact."""
    if not isinstance(body, Noted) or body.what not in KINDS:
        return None
    kind = KINDS[body.what]
    values: list[Any] = []
    for field in _fields(kind):
        value = _read(field, body.facts.get(field.name))
        if value is NODEFAULT:
            return None
        values.append(value)
    return kind(*values)


def _read(field: _Field, text: str | None) -> Any:
    if text is None:
        return field.default
    try:
        return field.form.read(text)
    except ValueError:
        return field.default


def is_note(body: Body, *kinds: type[Kind]) -> bool:
    """Whether a body is a note of one of these kinds, even if it cannot be read."""
    return isinstance(body, Noted) and any(body.what == kind.what for kind in kinds)


def notes_in(entries: Iterable[Entry], kind: type[K]) -> Iterator[tuple[Entry, K]]:
    """Yield the notes of one kind with their entries, in the order of the entries."""
    for entry in entries:
        body = entry.body
        if isinstance(body, Noted) and body.what == kind.what:
            note = note_of(body)
            if isinstance(note, kind):
                yield entry, note


def newest_note(entries: Iterable[Entry], kind: type[K]) -> tuple[Entry, K] | None:
    """Return the last note of one kind with its entry; None if there is none."""
    return next(notes_in(reversed(list(entries)), kind), None)
