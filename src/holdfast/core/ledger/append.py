"""Turn arrivals into a batch of entries: give each draft its number, its id and its parent.

A wire reads bytes into drafts; this module appends them. It runs while the store holds its write
lock, so that two writers never extend the same lane end. Therefore it does nothing slow: the
drafts already hold their meanings and token counts.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from msgspec import Struct, convert, to_builtins
from msgspec.structs import replace

from holdfast.core.ledger.chain import derived_id, meaning, source_id
from holdfast.core.ledger.entry import (
    Body,
    Compacted,
    Compressed,
    Derived,
    Entry,
    EntryId,
    Sighting,
    Source,
    Step,
    pack,
)
from holdfast.core.ledger.head import AT_BIRTH, UNCOUNTED, Document, Head, HeadBuilder, advance_head
from holdfast.core.ledger.notes import Switched, encode
from holdfast.text.jsontext import without_surrogates

EntriesAt: TypeAlias = Callable[[str, int], tuple[EntryId, ...]]
"""Return the ids of the entries of the line at a position of a source."""
FindSeq: TypeAlias = Callable[[EntryId], int]
"""Return the number of a source entry, or 0 if no entry has that id."""


IsNoted: TypeAlias = Callable[[EntryId | None, Derived], bool]
"""Return whether the ledger already has this body about this entry."""


class Draft(Struct, frozen=True, omit_defaults=True):
    """A body that is not yet in the ledger, with everything that its entry needs."""

    body: Body
    lane: str = ""
    group: str = ""
    """The provider's id of the message it is part of, if the message arrives in pieces."""
    at: str = ""
    follows: int | None = None
    """Set on a rewind: the position of the line it follows, -1 for the start of the source."""
    keeps: tuple[int, ...] = ()
    """Positions of the lines that stay in the window when the host compacts."""
    meant: bytes = b""
    tokens: int = UNCOUNTED
    instead: Step | None = None
    """The step with the host's replacement for it; `hides` is filled in when the id is known."""
    hides: tuple[tuple[int, int], ...] = ()
    """For a compression by the host: the line and the part that each of its steps hides."""
    hidden: tuple[Source, ...] = ()
    """The hidden bodies, so that their tokens can be counted."""


class Arrival(Struct, frozen=True):
    """One message or line as it arrived, and the drafts that were read from it."""

    raw: bytes
    drafts: tuple[Draft, ...]
    lead: bytes = b""
    source: str = ""
    pos: int | None = None
    """Its position in the source; the next free one if None."""


class Batch(Struct, frozen=True):
    """Everything that one append writes in one transaction."""

    head: Head
    entries: tuple[Entry, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    counts: tuple[tuple[int, int], ...] = ()
    """Entry number and raw tokens, in the head's vocabulary."""


def no_known_lines(source: str, pos: int) -> tuple[EntryId, ...]:
    """Return no entries: the default if no line of the source is known."""
    del source, pos
    return ()


def no_known_entry(name: EntryId) -> int:
    """Return 0: the default if the ledger has no entries."""
    del name
    return 0


def nothing_noted(parent: EntryId | None, body: Derived) -> bool:
    """Return False: the default if the ledger has no derived entries."""
    del parent, body
    return False


def append_arrivals(
    head: Head,
    arrivals: Sequence[Arrival],
    *,
    entries_at: EntriesAt = no_known_lines,
    find_seq: FindSeq = no_known_entry,
    is_noted: IsNoted = nothing_noted,
    inserted: Mapping[EntryId, EntryId] | None = None,
) -> Batch:
    """Return the batch that adds `arrivals` at the ends of their lanes.

    After a rewind, a lane may receive entries that the ledger already has. `find_seq` looks up
    source entries and `is_noted` derived ones; known ones are not added again. `inserted` maps an
    entry to the text that Holdfast inserted behind it: a lane that passes this entry again also
    passes the inserted text.
    """
    builder = _BatchBuilder(head, entries_at, find_seq, is_noted, inserted or {})
    for arrival in arrivals:
        builder.add_arrival(arrival)
    return builder.build()


class _BatchBuilder:
    """Collects the entries and sightings of one batch and advances the head with each draft."""

    def __init__(
        self,
        head: Head,
        place: EntriesAt,
        find: FindSeq,
        noted: IsNoted,
        ours: Mapping[EntryId, EntryId],
    ) -> None:
        self.fold, self.place, self.find, self.noted = HeadBuilder(head), place, find, noted
        self.ours = ours
        self.entries: list[Entry] = []
        self.sightings: list[Sighting] = []
        self.counts: list[tuple[int, int]] = []
        self.lines: dict[tuple[str, int], tuple[EntryId, ...]] = {}
        self.added: dict[EntryId, int] = {}
        self.moved: set[str] = set()

    def build(self) -> Batch:
        for lane in sorted(self.moved):
            self._skip_inserted(lane)
            # The newest entry is on the abandoned path: note which entry is the end of the lane.
            if self.fold.lane(lane).retraced:
                switched = encode(Switched())
                self._add_derived(Draft(switched, lane), switched, "")
        return Batch(
            self.fold.head(), tuple(self.entries), tuple(self.sightings), tuple(self.counts)
        )

    def add_arrival(self, arrival: Arrival) -> None:
        document = self.fold.documents.get(arrival.source) or Document()
        pos = document.length if arrival.pos is None else arrival.pos
        numbers = self._add_drafts(arrival, pos)
        version = document.version + (pos < document.length)
        self.sightings.append(
            Sighting(
                source=arrival.source,
                pos=pos,
                version=version,
                raw=arrival.raw,
                lead=arrival.lead,
                first=numbers[0] if numbers else 0,
                parts=len(numbers),
            )
        )
        self.fold.documents[arrival.source] = replace(
            document,
            length=max(document.length, pos + 1),
            version=version,
            live=document.live or arrival.pos is None,
            seen=document.seen + 1,
        )

    def _add_drafts(self, arrival: Arrival, pos: int) -> list[int]:
        """Add the drafts of an arrival; return the numbers of its source entries."""
        sources = [draft for draft in arrival.drafts if not isinstance(draft.body, Derived)]
        for draft in arrival.drafts:
            if isinstance(draft.body, Derived):
                self._add_derived(draft, draft.body, arrival.source)
        if not sources:
            return []
        parent, fork = self._parent(sources[0], arrival.source), 0
        if sources[0].follows is not None or self.fold.lane(sources[0].lane).retraced:
            known = self._find_known(sources, parent)
            if not known and sources[0].follows is None:
                parent = self._skip_inserted(sources[0].lane)
                known = self._find_known(sources, parent)
            if known:
                self.lines[arrival.source, pos] = tuple(known)
                return list(known.values())
            fork = self._next_fork(sources[0], parent)
        entries = self._add_sources(sources, parent, fork)
        self.lines[arrival.source, pos] = tuple(entry.id for entry in entries)
        for entry, draft in zip(entries, sources, strict=True):
            if draft.instead is not None:
                self._show_instead(entry, draft.instead)
        return [entry.seq for entry in entries]

    def _show_instead(self, entry: Entry, step: Step) -> None:
        """Record the host's replacement of an entry as a compression before its first send."""
        lane = self.fold.lane(entry.lane)
        body = Compressed(
            (replace(step, hides=(entry.id,)),),
            generation=lane.generation,
            watermark=entry.seq,
            by="host",
            trigger=AT_BIRTH,
        )
        self._add_derived(Draft(body, entry.lane, at=entry.at), body, "")

    def _skip_inserted(self, lane: str) -> EntryId | None:
        """Move a rewound lane behind the text that Holdfast inserted there; return its end."""
        lane_state = self.fold.lane(lane)
        if lane_state.retraced and lane_state.end is not None and lane_state.end in self.ours:
            self.fold.move_end(lane, self.ours[lane_state.end])
        return self.fold.lane(lane).end

    def _find_known(self, sources: Sequence[Draft], parent: EntryId | None) -> dict[EntryId, int]:
        """Return the known entries of an arrival and move the lane to them.

        Returns nothing unless all of them are known and have consecutive numbers.
        """
        numbers: dict[EntryId, int] = {}
        for draft in sources:
            parent = source_id(parent, _meaning_of(draft), lane=draft.lane)
            numbers[parent] = self.added.get(parent) or self.find(parent)
        first = next(iter(numbers.values()))
        if list(numbers.values()) != list(range(first, first + len(numbers))) or not first:
            return {}
        self.moved.add(sources[0].lane)
        self.fold.move_end(sources[0].lane, parent)
        return numbers

    def _next_fork(self, draft: Draft, parent: EntryId | None) -> int:
        """Return the first free fork number for this text after this parent."""
        fork = 0
        while True:
            name = source_id(parent, _meaning_of(draft), lane=draft.lane, fork=fork)
            if not self.added.get(name) and not self.find(name):
                return fork
            fork += 1

    def _add_sources(
        self, sources: Sequence[Draft], parent: EntryId | None, fork: int
    ) -> list[Entry]:
        lane_state = self.fold.lane(sources[0].lane)
        joins = bool(sources[0].group) and sources[0].group == lane_state.group
        message = lane_state.message if joins else self.fold.seq + 1
        entries: list[Entry] = []
        for part, draft in enumerate(sources):
            entry = Entry(
                id=source_id(parent, _meaning_of(draft), lane=draft.lane, fork=fork),
                parent=parent,
                body=draft.body,
                seq=self.fold.seq + 1,
                lane=draft.lane,
                message=message,
                part=part,
                fork=fork,
                group=draft.group,
                at=draft.at,
            )
            self._append(entry, draft)
            entries.append(entry)
            parent, fork = entry.id, 0
        return entries

    def _parent(self, draft: Draft, source: str) -> EntryId | None:
        end = self.fold.lane(draft.lane).end
        if draft.follows is None:
            return end
        before = self._entries_of_line(source, draft.follows)
        if not before and draft.follows >= 0:
            return end
        return before[-1] if before else None

    def _entries_of_line(self, source: str, pos: int) -> tuple[EntryId, ...]:
        return self.lines.get((source, pos)) or self.place(source, pos)

    def _add_derived(self, draft: Draft, body: Derived, source: str) -> None:
        if draft.keeps and isinstance(body, Compacted):
            ids = (name for pos in draft.keeps for name in self._entries_of_line(source, pos))
            body = replace(body, keeps=tuple(ids))
        if draft.hides and isinstance(body, Compressed):
            body = self._with_hidden_ids(draft, body, source)
            if not body.steps:
                return
        lane_state = self.fold.lane(draft.lane)
        parent, number = lane_state.end, self.fold.seq + 1
        # On a known path, the derived entries about it may be known too.
        if lane_state.retraced and self.noted(parent, body):
            return
        entry = derived_entry(number, body, parent=parent, lane=draft.lane, at=draft.at)
        self._append(entry, draft)

    def _with_hidden_ids(self, draft: Draft, body: Compressed, source: str) -> Compressed:
        """Fill in the ids that a host's compression hides; drop the steps of unknown lines."""
        lines = [(self._entries_of_line(source, pos), part) for pos, part in draft.hides]
        steps = tuple(
            replace(step, hides=(line[part],))
            for step, (line, part) in zip(body.steps, lines, strict=True)
            if part < len(line)
        )
        generation = self.fold.lane(draft.lane).generation
        return replace(body, steps=steps, generation=generation, watermark=self.fold.seq)

    def _append(self, entry: Entry, draft: Draft) -> None:
        self.entries.append(entry)
        self.added[entry.id] = entry.seq
        self.fold.add(entry, draft.tokens)
        if draft.tokens != UNCOUNTED:
            self.counts.append((entry.seq, draft.tokens))


def _meaning_of(draft: Draft) -> bytes:
    assert not isinstance(draft.body, Derived)
    return draft.meant or meaning(draft.body)


def derived_entry(
    seq: int, body: Derived, *, parent: EntryId | None, lane: str = "", at: str = ""
) -> Entry:
    """Return the derived entry number `seq` with `body` about `parent`."""
    return Entry(
        id=derived_id(parent, seq, body),
        parent=parent,
        body=body,
        seq=seq,
        lane=lane,
        message=seq,
        at=at,
    )


def _storable_body(body: Derived) -> Derived:
    """Replace lone surrogates in the texts of a body, because UTF-8 cannot store them."""
    try:
        pack(body)
    except UnicodeEncodeError:
        return convert(_clean_texts(to_builtins(body)), type(body))
    return body


def _clean_texts(value: object) -> object:
    match value:
        case str():
            return without_surrogates(value)
        case dict():
            known = cast("dict[str, object]", value)
            return {name: _clean_texts(item) for name, item in known.items()}
        case list() | tuple():
            return [_clean_texts(item) for item in cast("Sequence[object]", value)]
        case _:
            return value


def append_note(head: Head, body: Derived, *, lane: str = "", at: str = "") -> Batch:
    """Return the batch that adds one derived entry at the end of a lane."""
    entry = derived_entry(
        head.seq + 1, _storable_body(body), parent=head.lane(lane).end, lane=lane, at=at
    )
    return Batch(advance_head(head, entry), (entry,))
