"""Where a session stands: the small part of the fold, kept up to date with every append.

A head answers "where is the end" and "how full is it" without reading a single entry, in a
session of any length and in a fresh process. It is a cache: `replay` over the whole ledger gives
the same value, and `STAMP` tells a head written by other code apart.
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
    Handed,
    Noted,
    PacketCleared,
    PacketRead,
    PacketReported,
    Restored,
    Resumed,
    Said,
    Source,
    Unread,
    Used,
    is_request,
    role_of,
)
from holdfast.core.ledger.size import most_tokens
from holdfast.text.jsontext import whole_number

STAMP = 5
"""Raised when the fold changes what it computes: older heads are then replayed."""

UNCOUNTED = -1

AT_BIRTH = "large result"
"""The trigger of a compression that a result met before it was ever sent."""
PRUNED = "the agent's own program pruned it"
"""The trigger of a compression by the host, of what may have been out of sight before."""


class Calibration(Struct, frozen=True, omit_defaults=True):
    """What providers reported, against what was in sight: enough to estimate the next request."""

    model: str = ""
    requests: int = 0
    size: int = 0
    """Of the window, as last reported."""
    raw: int = 0
    """Raw tokens in sight at that report."""
    grown: int = 0
    """Raw tokens by which the window grew between requests, in all."""
    billed: int = 0
    """Reported tokens by which the prompt grew over the same stretches."""
    request: str = ""


class Lane(Struct, frozen=True, omit_defaults=True):
    """How one agent's window stands."""

    end: EntryId | None = None
    generation: int = 0
    """Raised by each compression and each undo; a plan made on an older one is refused."""
    tokens: int = 0
    """Raw tokens in sight, in the head's vocabulary, of all that is counted."""
    uncounted: int = 0
    """Bytes in sight that are not counted yet: at least as many as their tokens."""
    messages: int = 0
    turns: int = 0
    steps: int = 0
    group: str = ""
    message: int = 0
    """The provider's id and our number of the message being received."""
    weighed: int = 0
    """Raw tokens in sight when a compression was last made, lifted or put off."""
    reclaimed: int = 0
    """Raw tokens that the last compression took out of sight."""
    weighed_turn: int = 0
    """The turn that was."""
    retraced: bool = False
    """Led back to an earlier entry, and nothing new since: what comes next may be known."""
    calibration: Calibration = Calibration()
    reported: int = 0
    """The size in a report that waits for the counts, less what left since; 0 when none does."""


class Document(Struct, frozen=True, omit_defaults=True):
    """How much of a source was seen: its lines or messages."""

    length: int = 0
    version: int = 1
    live: bool = False
    """Messages came one by one: there never was a file to give back."""
    seen: int = 0
    """How many sightings were written for it, superseded ones included."""
    origin: str = ""
    """Which file it was read from, as a digest of its path."""
    path: str = ""
    """That file, where more is expected of it."""
    offset: int = 0
    """Bytes of the file up to which it is settled: what follows them is new. 0 for not known."""
    mark: str = ""
    """A digest of the bytes that stand just before that."""
    stamp: str = ""
    """What the file looked like from outside when it was last read; empty for not known."""
    upto: int = 0
    """The session's last entry when the file was last read."""


class Head(Struct, frozen=True, omit_defaults=True):
    """Where a session stands."""

    seq: int = 0
    wire: str = ""
    model: str = ""
    vocabulary: str = ""
    counted: int = 0
    """Every entry up to this number has its count."""
    stale: bool = False
    """Set when a rewind made the lanes' sums wrong; a replay clears it."""
    stamp: int = 1
    """Which fold made it. A value that is left out was left out by the first one."""
    limit: int = 0
    """The largest prompt the provider takes, learned when it refused one."""
    accepted: dict[str, int] = {}
    """By model: the largest request, answer included, that its provider reported as done."""
    title: str = ""
    """How the first request begins."""
    at: str = ""
    """When the last entry that has a time was made."""
    lanes: dict[str, Lane] = {}
    documents: dict[str, Document] = {}

    def lane(self, name: str) -> Lane:
        """How a lane stands; an agent not heard of yet stands at nothing."""
        return self.lanes.get(name, Lane())


TITLE_LENGTH = 80


def led_back(lane: Lane, end: EntryId | None) -> Lane:
    """A lane that stands at an earlier entry again; its sums are those of the path it left."""
    return replace(lane, end=end, group="", retraced=True)


class Folding:
    """A head on its way: moves with every entry, and is a value again at the end."""

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
        """How a lane stands now."""
        return self.lanes.get(name) or Lane()

    def add(self, entry: Entry, tokens: int = UNCOUNTED) -> None:
        """Take one more entry in."""
        lane, body = self.lane(entry.lane), entry.body
        self.stale = self.stale or _is_rewind(lane, entry)
        all_counted = self._counted == self.seq
        self.lanes[entry.lane] = _moved(lane, entry, tokens, exact=all_counted)
        if all_counted and _is_settled(entry, tokens):
            self._counted = entry.seq
        self.seq = entry.seq
        # A session is as old as what was said in it: looking after it makes it no younger.
        if entry.at and (not isinstance(body, Derived) or not self._at):
            self._at = entry.at
        self._title = self._title or _title(entry)
        if isinstance(body, Used | Noted):
            self._model, self._limit = _learned(body, self._model, self._limit)
        if isinstance(body, Used):
            self._accepted = _taken(self._accepted, self._model, body)

    def move(self, name: str, end: EntryId | None) -> None:
        """Let a lane stand elsewhere; its sums are then to be found by a replay."""
        self.lanes[name] = led_back(self.lane(name), end)
        self.stale = True

    def head(self) -> Head:
        """Where the session stands."""
        return replace(
            self._base,
            stamp=self._base.stamp if self._base.seq else STAMP,
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


def advance(head: Head, entry: Entry, tokens: int = UNCOUNTED) -> Head:
    """The head after one more entry."""
    folding = Folding(head)
    folding.add(entry, tokens)
    return folding.head()


def _moved(lane: Lane, entry: Entry, tokens: int, *, exact: bool) -> Lane:
    match entry.body:
        case Compressed():
            return _compressed(lane, entry.body)
        case Restored():
            back = lane.tokens + entry.body.returns
            lifted = replace(lane, generation=lane.generation + 1, tokens=back)
            lifted = _waiting(lifted, lane.reported and lane.reported + entry.body.returns)
            return _weighed(lifted, entry.body.raw, reclaimed=entry.body.returns)
        case Compacted():
            gone = replace(lane, generation=lane.generation + 1, tokens=0, uncounted=0)
            return _waiting(gone, 0)
        case Used():
            return _reported(lane, entry.body, exact=exact)
        case Noted() if entry.body.what == "switched":
            return led_back(lane, entry.parent)
        case Noted() if entry.body.what == "postponed":
            # A caller may note anything under this name; what is no number weighs nothing.
            return _weighed(lane, whole_number(entry.body.facts.get("raw", "")) or 0)
        case Noted() | Checkpointed() | Resumed() | Unread():
            return lane
        case Handed() | PacketCleared() | PacketRead() | PacketReported():
            return lane
        case _:
            return _sourced(lane, entry, entry.body, tokens)


def _compressed(lane: Lane, body: Compressed) -> Lane:
    saved = sum(step.before - step.after for step in body.steps)
    turned = replace(lane, generation=lane.generation + 1, tokens=lane.tokens - saved)
    turned = _waiting(turned, max(lane.reported - saved, 0))
    # What the host replaced is its own doing; what arrived large and left at once is no batch.
    if body.by != "holdfast" or body.trigger == AT_BIRTH:
        return turned
    return _weighed(turned, body.raw, reclaimed=saved)


def _reported(lane: Lane, used: Used, *, exact: bool) -> Lane:
    """A report says nothing of a window whose size is not known: it is taken in when it is."""
    if not exact:
        return _waiting(lane, used.size)
    return replace(lane, calibration=calibrated(lane, used), reported=0)


def _waiting(lane: Lane, size: int) -> Lane:
    return replace(lane, reported=size) if size != lane.reported else lane


def _weighed(lane: Lane, raw: int, reclaimed: int = 0) -> Lane:
    """The body says how much was in sight: a fold may not know yet, with some of it uncounted."""
    return replace(lane, weighed=raw, reclaimed=reclaimed, weighed_turn=lane.turns)


def _is_settled(entry: Entry, tokens: int) -> bool:
    return tokens != UNCOUNTED or isinstance(entry.body, Derived)


def _is_rewind(lane: Lane, entry: Entry) -> bool:
    if isinstance(entry.body, Noted):
        return entry.body.what == "switched"
    if isinstance(entry.body, Compacted):
        return bool(entry.body.keeps)
    if isinstance(entry.body, Compressed):
        # Only the window tells what of it was in sight, and how large that was.
        return entry.body.trigger == PRUNED
    return not isinstance(entry.body, Derived) and entry.parent != lane.end


def _sourced(lane: Lane, entry: Entry, body: Source, tokens: int) -> Lane:
    starts = entry.message == entry.seq
    spoken = role_of(body) == "assistant"
    return replace(
        _sized(lane, body, tokens),
        end=entry.id,
        messages=lane.messages + starts,
        turns=lane.turns + is_request(body),
        steps=lane.steps + (starts and spoken),
        # Results stand between the pieces of a message that makes several calls.
        group=entry.group or lane.group,
        message=entry.message if entry.group or not lane.group else lane.message,
        retraced=False,
    )


def _learned(body: Used | Noted, model: str, limit: int) -> tuple[str, int]:
    """The model and the limit after what was reported."""
    if isinstance(body, Used):
        return body.model or model, limit
    if body.what == "model":
        return body.facts.get("model", model), limit
    if body.what == "limit":
        # Whoever notes one may write anything; what is no number tells no limit.
        told = whole_number(body.facts.get("limit", ""))
        return model, limit if told is None else told
    return model, limit


def _taken(accepted: dict[str, int], model: str, used: Used) -> dict[str, int]:
    """The largest request of each model, after one more report."""
    size = max(used.size, used.input + used.output)
    return {**accepted, model: size} if size > accepted.get(model, 0) else accepted


def _title(entry: Entry) -> str:
    if entry.lane or not isinstance(entry.body, Said) or not is_request(entry.body):
        return ""
    return " ".join(entry.body.text.split())[:TITLE_LENGTH]


def calibrated(lane: Lane, used: Used) -> Calibration:
    """What is known after one more report; a switch of models starts afresh."""
    known = lane.calibration
    if used.request and used.request == known.request:
        return replace(known, size=used.size)
    if known.requests == 0 or (used.model and known.model and used.model != known.model):
        return Calibration(
            model=used.model, requests=1, size=used.size, raw=lane.tokens, request=used.request
        )
    grown, billed = lane.tokens - known.raw, used.size - known.size
    # Only growth teaches: a window that shrank was cut in ways its raw count cannot explain.
    learns = grown > 0 and billed > 0
    return Calibration(
        model=used.model or known.model,
        requests=known.requests + 1,
        size=used.size,
        raw=lane.tokens,
        grown=known.grown + (grown if learns else 0),
        billed=known.billed + (billed if learns else 0),
        request=used.request,
    )


def settled(
    head: Head,
    fresh: Mapping[int, int],
    entries: Sequence[Entry],
    known: Mapping[int, int] | None = None,
) -> Head:
    """The head once `fresh` counts are in; `entries` are all since the last that was counted.

    Some of them may have come with a count that is `known`. Nothing but growth may be among them:
    after anything else, only a replay knows what is in sight.
    """
    lanes = dict(head.lanes)
    for entry in entries:
        lanes[entry.lane] = _weighed_less(lanes[entry.lane], entry, known or {})
    counts, counted = {**(known or {}), **fresh}, head.counted
    for entry in entries:
        lane, body = lanes[entry.lane], entry.body
        tokens, exact = counts.get(entry.seq, UNCOUNTED), counted == entry.seq - 1
        is_report = isinstance(body, Used)
        sized = _reported(lane, body, exact=exact) if is_report else _sized(lane, body, tokens)
        lanes[entry.lane] = sized
        if exact and _is_settled(entry, tokens):
            counted = entry.seq
    return replace(head, lanes=lanes, counted=counted)


def _sized(lane: Lane, body: Body, tokens: int) -> Lane:
    """A lane with one more entry in sight, as far as sizes go."""
    if isinstance(body, Derived):
        return lane
    if tokens == UNCOUNTED:
        return replace(lane, uncounted=lane.uncounted + most_tokens(body))
    return replace(lane, tokens=lane.tokens + tokens)


def _weighed_less(lane: Lane, entry: Entry, known: Mapping[int, int]) -> Lane:
    """A lane as it stood before an entry, as far as sizes go."""
    if isinstance(entry.body, Used):
        return _waiting(lane, 0)
    if isinstance(entry.body, Derived):
        return lane
    if entry.seq in known:
        return replace(lane, tokens=lane.tokens - known[entry.seq])
    return replace(lane, uncounted=lane.uncounted - most_tokens(entry.body))
