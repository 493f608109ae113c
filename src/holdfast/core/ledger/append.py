"""How what arrives becomes entries: numbered, named, and joined to what was there.

A wire reads bytes into drafts; this gives each draft its place. It runs while the store holds its
write lock, so that two writers can never extend the same end, and therefore does nothing slow:
meanings and token counts come in with the drafts.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from msgspec import Struct, convert, to_builtins
from msgspec.structs import replace

from holdfast.core.ledger.chain import link, meaning, name_derived
from holdfast.core.ledger.entry import (
    Body,
    Compacted,
    Compressed,
    Derived,
    Entry,
    EntryId,
    Noted,
    Sighting,
    Source,
    Step,
    pack,
)
from holdfast.core.ledger.head import AT_BIRTH, UNCOUNTED, Document, Folding, Head, advance
from holdfast.text.jsontext import cleaned

Place: TypeAlias = Callable[[str, int], tuple[EntryId, ...]]
"""The entries of the line at a position of a source."""
Find: TypeAlias = Callable[[EntryId], int]
"""The number of a source entry, or 0 when there is none of that name."""


Told: TypeAlias = Callable[[EntryId | None, Derived], bool]
"""Whether something was noted about an entry before."""


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
    instead: Step | None = None
    """What its host shows in its place: a step that does not know yet what it hides."""
    hides: tuple[tuple[int, int], ...] = ()
    """Of a compression by the host: the line and the part that each of its steps hides."""
    hidden: tuple[Source, ...] = ()
    """What stands there, so that it can be counted."""


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


def nowhere(source: str, pos: int) -> tuple[EntryId, ...]:
    """The place of lines in a source of which nothing is known."""
    del source, pos
    return ()


def unknown(name: EntryId) -> int:
    """The number of an entry in a ledger that has none."""
    del name
    return 0


def unheard(parent: EntryId | None, body: Derived) -> bool:
    """Whether something was noted in a ledger in which nothing was."""
    del parent, body
    return False


def arrive(
    head: Head,
    arrivals: Sequence[Arrival],
    *,
    place: Place = nowhere,
    find: Find = unknown,
    noted: Told = unheard,
    ours: Mapping[EntryId, EntryId] | None = None,
) -> Batch:
    """The batch that adds `arrivals` at the ends of their lanes.

    Where a lane was led back, what follows may be known: entries are looked up by `find`, notes by
    `noted`, and what is found is not added again. `ours` names, by what they follow, words that we
    put in: whoever comes along there again has them before what follows.
    """
    desk = _Desk(head, place, find, noted, ours or {})
    for arrival in arrivals:
        desk.take(arrival)
    return desk.batch()


class _Desk:
    """The work of one batch: the fold moves on with every draft."""

    def __init__(
        self, head: Head, place: Place, find: Find, noted: Told, ours: Mapping[EntryId, EntryId]
    ) -> None:
        self.fold, self.place, self.find, self.noted = Folding(head), place, find, noted
        self.ours = ours
        self.entries: list[Entry] = []
        self.sightings: list[Sighting] = []
        self.counts: list[tuple[int, int]] = []
        self.lines: dict[tuple[str, int], tuple[EntryId, ...]] = {}
        self.added: dict[EntryId, int] = {}
        self.moved: set[str] = set()

    def batch(self) -> Batch:
        for lane in sorted(self.moved):
            self._past_ours(lane)
            # The newest entry is on the path that was left: say which one is meant.
            if self.fold.lane(lane).retraced:
                self._add_derived(Draft(Noted("switched"), lane), Noted("switched"), "")
        return Batch(
            self.fold.head(), tuple(self.entries), tuple(self.sightings), tuple(self.counts)
        )

    def take(self, arrival: Arrival) -> None:
        document = self.fold.documents.get(arrival.source) or Document()
        pos = document.length if arrival.pos is None else arrival.pos
        numbers = self._number(arrival, pos)
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

    def _number(self, arrival: Arrival, pos: int) -> list[int]:
        """Add an arrival's drafts; return the numbers of its source entries."""
        sources = [draft for draft in arrival.drafts if not isinstance(draft.body, Derived)]
        for draft in arrival.drafts:
            if isinstance(draft.body, Derived):
                self._add_derived(draft, draft.body, arrival.source)
        if not sources:
            return []
        parent, fork = self._parent(sources[0], arrival.source), 0
        if sources[0].follows is not None or self.fold.lane(sources[0].lane).retraced:
            known = self._known(sources, parent)
            if not known and sources[0].follows is None:
                parent = self._past_ours(sources[0].lane)
                known = self._known(sources, parent)
            if known:
                self.lines[arrival.source, pos] = tuple(known)
                return list(known.values())
            fork = self._fork(sources[0], parent)
        entries = self._add_sources(sources, parent, fork)
        self.lines[arrival.source, pos] = tuple(entry.id for entry in entries)
        for entry, draft in zip(entries, sources, strict=True):
            if draft.instead is not None:
                self._show_instead(entry, draft.instead)
        return [entry.seq for entry in entries]

    def _show_instead(self, entry: Entry, step: Step) -> None:
        """Note what the host shows in place of an entry: it did so before anything followed."""
        lane = self.fold.lane(entry.lane)
        body = Compressed(
            (replace(step, hides=(entry.id,)),),
            generation=lane.generation,
            watermark=entry.seq,
            by="host",
            trigger=AT_BIRTH,
        )
        self._add_derived(Draft(body, entry.lane, at=entry.at), body, "")

    def _past_ours(self, lane: str) -> EntryId | None:
        """The end of a lane that comes along a known path again, with what we put in there."""
        stands = self.fold.lane(lane)
        if stands.retraced and stands.end is not None and stands.end in self.ours:
            self.fold.move(lane, self.ours[stands.end])
        return self.fold.lane(lane).end

    def _known(self, sources: Sequence[Draft], parent: EntryId | None) -> dict[EntryId, int]:
        """The entries an arrival is, when all of it is known as one; the lane moves to them."""
        numbers: dict[EntryId, int] = {}
        for draft in sources:
            parent = link(parent, _meant(draft), lane=draft.lane)
            numbers[parent] = self.added.get(parent) or self.find(parent)
        first = next(iter(numbers.values()))
        if list(numbers.values()) != list(range(first, first + len(numbers))) or not first:
            return {}
        self.moved.add(sources[0].lane)
        self.fold.move(sources[0].lane, parent)
        return numbers

    def _fork(self, draft: Draft, parent: EntryId | None) -> int:
        """Which telling this is of the same words after the same entry."""
        fork = 0
        while True:
            name = link(parent, _meant(draft), lane=draft.lane, fork=fork)
            if not self.added.get(name) and not self.find(name):
                return fork
            fork += 1

    def _add_sources(
        self, sources: Sequence[Draft], parent: EntryId | None, fork: int
    ) -> list[Entry]:
        stands = self.fold.lane(sources[0].lane)
        joins = bool(sources[0].group) and sources[0].group == stands.group
        message = stands.message if joins else self.fold.seq + 1
        entries: list[Entry] = []
        for part, draft in enumerate(sources):
            entry = Entry(
                id=link(parent, _meant(draft), lane=draft.lane, fork=fork),
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
        before = self._line(source, draft.follows)
        if not before and draft.follows >= 0:
            return end
        return before[-1] if before else None

    def _line(self, source: str, pos: int) -> tuple[EntryId, ...]:
        return self.lines.get((source, pos)) or self.place(source, pos)

    def _add_derived(self, draft: Draft, body: Derived, source: str) -> None:
        if draft.keeps and isinstance(body, Compacted):
            kept = (name for pos in draft.keeps for name in self._line(source, pos))
            body = replace(body, keeps=tuple(kept))
        if draft.hides and isinstance(body, Compressed):
            body = self._hiding(draft, body, source)
            if not body.steps:
                return
        stands = self.fold.lane(draft.lane)
        parent, number = stands.end, self.fold.seq + 1
        # Along a known path, what was noted about it may be known too.
        if stands.retraced and self.noted(parent, body):
            return
        entry = derived(number, body, parent=parent, lane=draft.lane, at=draft.at)
        self._append(entry, draft)

    def _hiding(self, draft: Draft, body: Compressed, source: str) -> Compressed:
        """A compression by the host, with the names of what it hides; unknown lines are dropped."""
        lines = [(self._line(source, pos), part) for pos, part in draft.hides]
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


def _meant(draft: Draft) -> bytes:
    assert not isinstance(draft.body, Derived)
    return draft.meant or meaning(draft.body)


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


def _storable(body: Derived) -> Derived:
    """A body whose texts UTF-8 can hold: a caller's words may have half a letter in them."""
    try:
        pack(body)
    except UnicodeEncodeError:
        return convert(_cleaned(to_builtins(body)), type(body))
    return body


def _cleaned(value: object) -> object:
    """Builtins of a body, every text of them cleaned."""
    match value:
        case str():
            return cleaned(value)
        case dict():
            known = cast("dict[str, object]", value)
            return {name: _cleaned(one) for name, one in known.items()}
        case list() | tuple():
            return [_cleaned(one) for one in cast("Sequence[object]", value)]
        case _:
            return value


def note(head: Head, body: Derived, *, lane: str = "", at: str = "") -> Batch:
    """The batch that adds one derived entry at the end of a lane."""
    entry = derived(head.seq + 1, _storable(body), parent=head.lane(lane).end, lane=lane, at=at)
    return Batch(advance(head, entry), (entry,))
