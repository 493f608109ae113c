"""Head: the end, the token sums and the counters of each lane, updated with every append.

A head answers "which entry is the last one" and "how full is the window" without reading any
entry, in a session of any length and in a fresh process. It is a cache: `replay_ledger` over the
whole ledger returns the same value, and `FOLD_VERSION` detects a head that other code wrote.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    Body,
    Checkpointed,
    Compacted,
    Compressed,
    Derived,
    Entry,
    EntryId,
    Noted,
    PacketCleared,
    PacketRead,
    PacketReported,
    PacketSent,
    Restored,
    Resumed,
    Said,
    Source,
    Unread,
    Used,
    is_request,
    role_of,
)
from holdfast.core.ledger.notes import LimitLearned, ModelNamed, Postponed, Switched, note_of
from holdfast.core.ledger.size import max_tokens

FOLD_VERSION = 5
"""Increased when the fold computes something else: heads of older versions are then replayed."""

UNCOUNTED = -1
"""The token count of an entry that is not counted yet."""

AT_BIRTH = "large result"
"""The trigger of a compression of a result before its first send."""
HOST_PRUNED = "the agent's own program pruned it"
"""The trigger of a compression by the host; it may hide entries that were hidden before."""


class Calibration(Struct, frozen=True, omit_defaults=True):
    """Reported sizes compared with raw token counts, to estimate the size of the next request."""

    model: str = ""
    requests: int = 0
    size: int = 0
    """Tokens of the window, as last reported."""
    raw: int = 0
    """Raw tokens in the window at that report."""
    grown: int = 0
    """The total of raw tokens by which the window grew between requests."""
    billed: int = 0
    """The total of reported tokens by which the prompt grew between the same requests."""
    request: str = ""


class Lane(Struct, frozen=True, omit_defaults=True):
    """The state of one agent's window."""

    end: EntryId | None = None
    generation: int = 0
    """Increased by each compression and each undo; a plan for an older one is refused."""
    tokens: int = 0
    """Raw tokens of the counted entries in the window, in the head's vocabulary."""
    uncounted: int = 0
    """Bytes of the entries in the window that are not counted: at least as many as their tokens."""
    messages: int = 0
    turns: int = 0
    steps: int = 0
    group: str = ""
    message: int = 0
    """The provider's id and the entry number of the message that is being received."""
    weighed: int = 0
    """Raw tokens in the window when a compression was last made, undone or postponed."""
    reclaimed: int = 0
    """Raw tokens that the last compression removed from the window."""
    weighed_turn: int = 0
    """The turn in which that happened."""
    retraced: bool = False
    """Whether it was moved back to an earlier entry and has got no new one since: the next entries
    may be known."""
    calibration: Calibration = Calibration()
    reported: int = 0
    """The size in a report that came before the counts, less tokens that left since; else 0."""


class Document(Struct, frozen=True, omit_defaults=True):
    """How much of a source is stored: its lines or messages."""

    length: int = 0
    version: int = 1
    live: bool = False
    """Whether messages arrived one by one: there is no file to restore."""
    seen: int = 0
    """The number of its sightings, including superseded ones."""
    origin: str = ""
    """A digest of the path of the file that it was read from."""
    path: str = ""
    """The path of that file, if more lines are expected in it."""
    offset: int = 0
    """Bytes of the file that are stored; the bytes behind them are new. 0 if not known."""
    mark: str = ""
    """A digest of the bytes just before that offset."""
    stamp: str = ""
    """The file's size and times when it was last read; empty if not known."""
    upto: int = 0
    """The number of the entry after which originals of results are looked for."""


class Head(Struct, frozen=True, omit_defaults=True):
    """The state of a session: its lanes, its documents, its model and its limit."""

    seq: int = 0
    wire: str = ""
    model: str = ""
    vocabulary: str = ""
    counted: int = 0
    """Every entry up to this number has a token count."""
    stale: bool = False
    """Whether a rewind made the sums of the lanes wrong; a replay corrects them."""
    stamp: int = 1
    """The version of the fold that made it. The first version did not write this field."""
    limit: int = 0
    """The largest prompt that the provider accepts, learned from a refusal."""
    accepted: dict[str, int] = {}
    """By model: the largest request, with its answer, that the provider reported."""
    title: str = ""
    """The beginning of the first request."""
    at: str = ""
    """The time of the last source entry that has one."""
    lanes: dict[str, Lane] = {}
    documents: dict[str, Document] = {}

    def lane(self, name: str) -> Lane:
        """Return the state of a lane; an empty one for an unknown agent."""
        return self.lanes.get(name, Lane())


MAX_TITLE_CHARS = 80


def rewind_lane(lane: Lane, end: EntryId | None) -> Lane:
    """Return a lane with an earlier entry as its end; its sums are still those of the old path."""
    return replace(lane, end=end, group="", retraced=True)


class HeadBuilder:
    """A mutable head: it is advanced entry by entry, then `head` returns it as a value."""

    __slots__ = (
        "_accepted",
        "_at",
        "_base",
        "_counted",
        "_limit",
        "_model",
        "_title",
        "documents",
        "lanes",
        "seq",
        "stale",
    )

    def __init__(self, head: Head) -> None:
        self._base = head
        self.seq, self.stale, self._counted = head.seq, head.stale, head.counted
        self._model, self._limit = head.model, head.limit
        self._title, self._at = head.title, head.at
        self._accepted = head.accepted
        self.lanes, self.documents = dict(head.lanes), dict(head.documents)

    def lane(self, name: str) -> Lane:
        """Return the current state of a lane."""
        return self.lanes.get(name) or Lane()

    def add(self, entry: Entry, tokens: int = UNCOUNTED) -> None:
        """Advance the head by one entry."""
        lane, body = self.lane(entry.lane), entry.body
        self.stale = self.stale or _needs_replay(lane, entry)
        all_counted = self._counted == self.seq
        self.lanes[entry.lane] = _advance_lane(lane, entry, tokens, exact=all_counted)
        if all_counted and _has_count(entry, tokens):
            self._counted = entry.seq
        self.seq = entry.seq
        # The age of a session is that of its last message: derived entries do not change it.
        if entry.at and (not isinstance(body, Derived) or not self._at):
            self._at = entry.at
        self._title = self._title or _title_of(entry)
        if isinstance(body, Used | Noted):
            self._model, self._limit = _learn_model_and_limit(body, self._model, self._limit)
        if isinstance(body, Used):
            self._accepted = _update_accepted(self._accepted, self._model, body)

    def move_end(self, name: str, end: EntryId | None) -> None:
        """Move the end of a lane; its sums then need a replay."""
        self.lanes[name] = rewind_lane(self.lane(name), end)
        self.stale = True

    def head(self) -> Head:
        """Return the head after all added entries."""
        return replace(
            self._base,
            stamp=self._base.stamp if self._base.seq else FOLD_VERSION,
            seq=self.seq,
            stale=self.stale,
            counted=self._counted,
            model=self._model,
            limit=self._limit,
            accepted=self._accepted,
            title=self._title,
            at=self._at,
            lanes=dict(self.lanes),
            documents=dict(self.documents),
        )


def advance_head(head: Head, entry: Entry, tokens: int = UNCOUNTED) -> Head:
    """Return the head after one more entry."""
    builder = HeadBuilder(head)
    builder.add(entry, tokens)
    return builder.head()


def _advance_lane(lane: Lane, entry: Entry, tokens: int, *, exact: bool) -> Lane:
    match entry.body:
        case Compressed():
            return _after_compression(lane, entry.body)
        case Restored():
            tokens_after = lane.tokens + entry.body.returns
            lifted = replace(lane, generation=lane.generation + 1, tokens=tokens_after)
            lifted = _with_pending_report(
                lifted, lane.reported and lane.reported + entry.body.returns
            )
            return _with_weighed(lifted, entry.body.raw, reclaimed=entry.body.returns)
        case Compacted():
            emptied = replace(lane, generation=lane.generation + 1, tokens=0, uncounted=0)
            return _with_pending_report(emptied, 0)
        case Used():
            return _after_report(lane, entry.body, exact=exact)
        case Noted() if entry.body.what == Switched.what:
            return rewind_lane(lane, entry.parent)
        case Noted() if entry.body.what == Postponed.what:
            note = note_of(entry.body)
            return _with_weighed(lane, note.raw) if isinstance(note, Postponed) else lane
        case Noted() | Checkpointed() | Resumed() | Unread():
            return lane
        case PacketSent() | PacketCleared() | PacketRead() | PacketReported():
            return lane
        case _:
            return _after_source(lane, entry, entry.body, tokens)


def _after_compression(lane: Lane, body: Compressed) -> Lane:
    saved = sum(step.before - step.after for step in body.steps)
    reduced = replace(lane, generation=lane.generation + 1, tokens=lane.tokens - saved)
    reduced = _with_pending_report(reduced, max(lane.reported - saved, 0))
    # Neither a change by the host nor one before the first send is a batch of ours.
    if body.by != "holdfast" or body.trigger == AT_BIRTH:
        return reduced
    return _with_weighed(reduced, body.raw, reclaimed=saved)


def _after_report(lane: Lane, used: Used, *, exact: bool) -> Lane:
    """Calibrate with a report, or store its size until all entries before it are counted."""
    if not exact:
        return _with_pending_report(lane, used.size)
    return replace(lane, calibration=calibrate(lane, used), reported=0)


def _with_pending_report(lane: Lane, size: int) -> Lane:
    return replace(lane, reported=size) if size != lane.reported else lane


def _with_weighed(lane: Lane, raw: int, reclaimed: int = 0) -> Lane:
    """Store the `raw` tokens that the body names: the fold itself may have uncounted entries."""
    return replace(lane, weighed=raw, reclaimed=reclaimed, weighed_turn=lane.turns)


def _has_count(entry: Entry, tokens: int) -> bool:
    return tokens != UNCOUNTED or isinstance(entry.body, Derived)


def _needs_replay(lane: Lane, entry: Entry) -> bool:
    if isinstance(entry.body, Noted):
        return entry.body.what == Switched.what
    if isinstance(entry.body, Compacted):
        return bool(entry.body.keeps)
    if isinstance(entry.body, Compressed):
        # Only the window shows which of these entries were visible, and their size.
        return entry.body.trigger == HOST_PRUNED
    return not isinstance(entry.body, Derived) and entry.parent != lane.end


def _after_source(lane: Lane, entry: Entry, body: Source, tokens: int) -> Lane:
    starts_message = entry.message == entry.seq
    by_assistant = role_of(body) == "assistant"
    return replace(
        _add_size(lane, body, tokens),
        end=entry.id,
        messages=lane.messages + starts_message,
        turns=lane.turns + is_request(body),
        steps=lane.steps + (starts_message and by_assistant),
        # Results come between the pieces of a message that makes several calls.
        group=entry.group or lane.group,
        message=entry.message if entry.group or not lane.group else lane.message,
        retraced=False,
    )


def _learn_model_and_limit(body: Used | Noted, model: str, limit: int) -> tuple[str, int]:
    """Return the model and the limit after a report or a note."""
    if isinstance(body, Used):
        return body.model or model, limit
    if body.what not in (ModelNamed.what, LimitLearned.what):
        return model, limit
    match note_of(body):
        case ModelNamed(named):
            return named, limit
        case LimitLearned(learned):
            return model, learned
        case _:
            return model, limit


def _update_accepted(accepted: dict[str, int], model: str, used: Used) -> dict[str, int]:
    """Return the largest request of each model after one more report."""
    size = max(used.size, used.input + used.output)
    return {**accepted, model: size} if size > accepted.get(model, 0) else accepted


def _title_of(entry: Entry) -> str:
    if entry.lane or not isinstance(entry.body, Said) or not is_request(entry.body):
        return ""
    return " ".join(entry.body.text.split())[:MAX_TITLE_CHARS]


def calibrate(lane: Lane, used: Used) -> Calibration:
    """Return the calibration after one more report; another model starts a new one."""
    known = lane.calibration
    if used.request and used.request == known.request:
        return replace(known, size=used.size)
    if known.requests == 0 or (used.model and known.model and used.model != known.model):
        return Calibration(
            model=used.model, requests=1, size=used.size, raw=lane.tokens, request=used.request
        )
    grown, billed = lane.tokens - known.raw, used.size - known.size
    # Only growth counts: a window that shrank was cut in a way that raw counts do not show.
    is_growth = grown > 0 and billed > 0
    return Calibration(
        model=used.model or known.model,
        requests=known.requests + 1,
        size=used.size,
        raw=lane.tokens,
        grown=known.grown + (grown if is_growth else 0),
        billed=known.billed + (billed if is_growth else 0),
        request=used.request,
    )


def apply_counts(
    head: Head,
    fresh: Mapping[int, int],
    entries: Sequence[Entry],
    known: Mapping[int, int] | None = None,
) -> Head:
    """Return the head with `fresh` counts; `entries` are all after the last counted one.

    Some of them may have a `known` count already. All of them must add to the window: after any
    other entry, the sums need a replay.
    """
    lanes = dict(head.lanes)
    for entry in entries:
        lanes[entry.lane] = _remove_size(lanes[entry.lane], entry, known or {})
    counts, counted = {**(known or {}), **fresh}, head.counted
    for entry in entries:
        lane, body = lanes[entry.lane], entry.body
        tokens, exact = counts.get(entry.seq, UNCOUNTED), counted == entry.seq - 1
        is_report = isinstance(body, Used)
        sized = (
            _after_report(lane, body, exact=exact) if is_report else _add_size(lane, body, tokens)
        )
        lanes[entry.lane] = sized
        if exact and _has_count(entry, tokens):
            counted = entry.seq
    return replace(head, lanes=lanes, counted=counted)


def _add_size(lane: Lane, body: Body, tokens: int) -> Lane:
    """Add the size of an entry to a lane."""
    if isinstance(body, Derived):
        return lane
    if tokens == UNCOUNTED:
        return replace(lane, uncounted=lane.uncounted + max_tokens(body))
    return replace(lane, tokens=lane.tokens + tokens)


def _remove_size(lane: Lane, entry: Entry, known: Mapping[int, int]) -> Lane:
    """Remove the size of an entry from a lane."""
    if isinstance(entry.body, Used):
        return _with_pending_report(lane, 0)
    if isinstance(entry.body, Derived):
        return lane
    if entry.seq in known:
        return replace(lane, tokens=lane.tokens - known[entry.seq])
    return replace(lane, uncounted=lane.uncounted - max_tokens(entry.body))
