"""How what arrives becomes entries: numbered, named, and joined to what was there.

A wire reads bytes into drafts; this gives each draft its place. It runs while the store holds its
write lock, so that two writers can never extend the same end, and therefore does nothing slow:
meanings and token counts come in with the drafts.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.chain import link, meaning, name_derived
from holdfast.core.ledger.entry import Body, Compacted, Derived, Entry, EntryId, Sighting
from holdfast.core.ledger.head import UNCOUNTED, Document, Folding, Head, advance

Place: TypeAlias = Callable[[str, int], EntryId | None]
"""The last entry of the line at a position of a source."""


class Draft(Struct, frozen=True, omit_defaults=True):
    """A body on its way into the ledger."""

    body: Body
    lane: str = ""
    group: str = ""
    """The provider's id of the message it is part of, when the message comes in pieces."""
    at: str = ""
    follows: int | None = None
    """Set on a rewind: the position of the line it really follows, -1 for the very beginning."""
    keeps: tuple[int, ...] = ()
    """Positions of the lines that stay in sight when the host compacts."""
    meant: bytes = b""
    tokens: int = UNCOUNTED


class Arrival(Struct, frozen=True):
    """One message or line as it arrived, and what was read from it."""

    raw: bytes
    drafts: tuple[Draft, ...]
    lead: bytes = b""
    source: str = ""
    pos: int | None = None
    """Its place in the source; the next free one when not said."""


class Batch(Struct, frozen=True):
    """What one append writes, all or none."""

    head: Head
    entries: tuple[Entry, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    counts: tuple[tuple[int, int], ...] = ()
    """Entry number and raw tokens, in the head's vocabulary."""


def arrive(
    head: Head,
    arrivals: Sequence[Arrival],
    *,
    place: Place | None = None,
    known: Mapping[EntryId, int] | None = None,
) -> Batch:
    """The batch that adds `arrivals` at the ends of their lanes.

    An entry that `known` has a number for is not added again: the lane moves on to it.
    """
    desk = _Desk(head, place, known or {})
    for arrival in arrivals:
        desk.take(arrival)
    return desk.batch()


class _Desk:
    """The work of one batch: the fold moves on with every draft."""

    def __init__(self, head: Head, place: Place | None, known: Mapping[EntryId, int]) -> None:
        self.fold, self.place, self.known = Folding(head), place, known
        self.entries: list[Entry] = []
        self.sightings: list[Sighting] = []
        self.counts: list[tuple[int, int]] = []
        self.ends: dict[tuple[str, int], EntryId | None] = {}

    def batch(self) -> Batch:
        return Batch(
            self.fold.head(), tuple(self.entries), tuple(self.sightings), tuple(self.counts)
        )

    def take(self, arrival: Arrival) -> None:
        document = self.fold.documents.get(arrival.source) or Document()
        pos = document.length if arrival.pos is None else arrival.pos
        first, parts = self._number(arrival, pos)
        version = document.version + (pos < document.length)
        self.sightings.append(
            Sighting(arrival.source, pos, version, arrival.raw, arrival.lead, first, parts)
        )
        live = document.live or arrival.pos is None
        length = max(document.length, pos + 1)
        self.fold.documents[arrival.source] = Document(length, version, live)

    def _number(self, arrival: Arrival, pos: int) -> tuple[int, int]:
        """Add an arrival's drafts; return the number of its first source entry, and how many."""
        first, part, message, lane = 0, 0, 0, ""
        for draft in arrival.drafts:
            if isinstance(draft.body, Derived):
                self._add_derived(draft, draft.body, arrival.source)
                continue
            lane = draft.lane
            if not message:
                stands = self.fold.lane(lane)
                joins = bool(draft.group) and draft.group == stands.group
                message = stands.message if joins else self.fold.seq + 1
            number = self._add_source(draft, arrival.source, message=message, part=part)
            first = first or number
            part += 1
        if first:
            self.ends[arrival.source, pos] = self.fold.lane(lane).end
        return first, part

    def _add_source(self, draft: Draft, source: str, *, message: int, part: int) -> int:
        assert not isinstance(draft.body, Derived)
        parent = self._parent(draft, source)
        name = link(parent, draft.meant or meaning(draft.body), lane=draft.lane)
        if name in self.known:
            self.fold.move(draft.lane, name)
            return self.known[name]
        entry = Entry(
            id=name,
            parent=parent,
            body=draft.body,
            seq=self.fold.seq + 1,
            lane=draft.lane,
            message=message,
            part=part,
            group=draft.group,
            at=draft.at,
        )
        self._append(entry, draft)
        return entry.seq

    def _parent(self, draft: Draft, source: str) -> EntryId | None:
        if draft.follows is None:
            return self.fold.lane(draft.lane).end
        return self._end_of(source, draft.follows)

    def _end_of(self, source: str, pos: int) -> EntryId | None:
        known = self.ends.get((source, pos))
        return known if known or not self.place else self.place(source, pos)

    def _add_derived(self, draft: Draft, body: Derived, source: str) -> None:
        if draft.keeps and isinstance(body, Compacted):
            kept = (self._end_of(source, pos) for pos in draft.keeps)
            body = replace(body, keeps=tuple(name for name in kept if name))
        parent = self.fold.lane(draft.lane).end
        number = self.fold.seq + 1
        entry = derived(number, body, parent=parent, lane=draft.lane, at=draft.at)
        self._append(entry, draft)

    def _append(self, entry: Entry, draft: Draft) -> None:
        self.entries.append(entry)
        self.fold.add(entry, draft.tokens)
        if draft.tokens != UNCOUNTED:
            self.counts.append((entry.seq, draft.tokens))


def derived(
    seq: int, body: Derived, *, parent: EntryId | None, lane: str = "", at: str = ""
) -> Entry:
    """The entry of a number that notes `body` about `parent`."""
    return Entry(
        id=name_derived(parent, seq, body),
        parent=parent,
        body=body,
        seq=seq,
        lane=lane,
        message=seq,
        at=at,
    )


def note(head: Head, body: Derived, *, lane: str = "", at: str = "") -> Batch:
    """The batch that adds one derived entry at the end of a lane."""
    entry = derived(head.seq + 1, body, parent=head.lane(lane).end, lane=lane, at=at)
    return Batch(advance(head, entry), (entry,))
