"""What the store has seen of a document, and where new lines of it belong.

A file that was read before is compared with what was kept of it, line by line. From the first line
on that differs, its lines are laid along what is known: what is there already is not added again.
"""

from collections.abc import Iterator
from itertools import chain

from msgspec.structs import replace

from holdfast.core.ledger.append import Arrival, Batch
from holdfast.core.ledger.entry import (
    Body,
    Compacted,
    Compressed,
    Derived,
    EntryId,
    Sighting,
    pack,
)
from holdfast.core.ledger.erased import is_emptied
from holdfast.core.ledger.head import Head, led_back
from holdfast.stores.store import Build, Store

Named = tuple[EntryId, str]
"""The name of an entry and its lane: the words of a long session would not fit into memory."""


class Seen:
    """What the store already has of a document, and where new lines of it belong."""

    def __init__(self, store: Store, session: str, source: str) -> None:
        self._store, self._session, self._source = store, session, source
        self._lines: dict[int, tuple[Named, ...]] | None = None
        self._notes: set[tuple[EntryId | None, bytes]] | None = None
        self._upto = 0
        self.diverged = False
        self.began = False

    def skip(self, arrivals: Iterator[Arrival]) -> Iterator[Arrival]:
        """The arrivals from the first one on that is not known as it is."""
        known = self._store.sightings(self._session, self._source)
        for arrival in arrivals:
            seen = next(known, None)
            if seen is not None and not arrival.raw:
                # The file ends where it was seen to go on: cut short, it takes nothing away.
                return iter(())
            if seen is None or not _is_same(seen, arrival):
                left = [seen, *known] if seen is not None else []
                # Lines that held nothing may be replaced: a torn end that was completed since.
                self.diverged = any(sighting.first for sighting in left)
                return chain([arrival], arrivals)
            self._upto += 1
        return iter(())

    def moved(self, head: Head) -> Head:
        """The head with the lanes' ends where they were before the first line that differs."""
        if not self.diverged or self.began:
            return head
        ends: dict[str, EntryId | None] = {}
        for pos, entries in self._known_lines().items():
            name, lane = entries[-1]
            ends.setdefault(lane, None)
            if pos < self._upto:
                ends[lane] = name
        lanes = {lane: led_back(head.lane(lane), end) for lane, end in ends.items()}
        return replace(head, stale=True, lanes={**head.lanes, **lanes})

    def wrote(self) -> None:
        """Take note that lines were written: those that are known now are more."""
        self.began, self._lines = True, None

    def place(self, source: str, pos: int) -> tuple[EntryId, ...]:
        """The entries of a known line."""
        del source
        return tuple(name for name, _ in self._known_lines().get(pos, ()))

    def find(self, name: EntryId) -> int:
        """The number of a known entry."""
        return self._store.names(self._session, [name]).get(name, 0)

    def noted(self, parent: EntryId | None, body: Derived) -> bool:
        """Whether the same was noted about the same entry when it was read before."""
        if self._notes is None:
            notes = (e for e in self._store.read(self._session) if isinstance(e.body, Derived))
            self._notes = {(entry.parent, _essence(entry.body)) for entry in notes}
        return (parent, _essence(body)) in self._notes

    def _known_lines(self) -> dict[int, tuple[Named, ...]]:
        """For each known line that holds entries: these, without what they say."""
        if self._lines is None:
            read = self._store.read(self._session)
            entries: dict[int, Named] = {entry.seq: (entry.id, entry.lane) for entry in read}
            self._lines = {}
            for seen in self._store.sightings(self._session, self._source):
                numbers = range(seen.first, seen.first + seen.parts)
                if numbers:
                    self._lines[seen.pos] = tuple(entries[number] for number in numbers)
        return self._lines


def _is_same(seen: Sighting, arrival: Arrival) -> bool:
    """Whether a line is the one that was seen; what was purged of it does not come back."""
    if seen.lead != arrival.lead:
        return False
    return seen.raw == arrival.raw or is_emptied(seen.raw, arrival.raw)


def _essence(body: Body) -> bytes:
    """What a note says; one of a compaction is known by its place alone."""
    if isinstance(body, Compressed):
        body = replace(body, generation=0, watermark=0)
    return b"compacted" if isinstance(body, Compacted) else pack(body)


def shortened(source: str, length: int) -> Build:
    """What lets a document that was rewritten end where its file ends now."""

    def build(head: Head) -> Batch:
        known = head.documents[source]
        if known.length <= length:
            return Batch(head)
        # A later line at a place given up gets a version of its own.
        shorter = replace(known, length=length, version=known.version + 1)
        return Batch(replace(head, documents={**head.documents, source: shorter}))

    return build
