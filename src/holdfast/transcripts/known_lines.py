"""Compare a document with its stored lines, to add only new lines and at the right place.

A file that was read before is compared with its sightings, line by line. From the first line that
differs, entries that exist already are found by their position and not added again.
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
from holdfast.core.ledger.erased import is_erased_form
from holdfast.core.ledger.head import Head, rewind_lane
from holdfast.stores.store import Build, Store

EntryLane = tuple[EntryId, str]
"""The name and lane of an entry: whole entries of a long session would take too much memory."""


class KnownDocument:
    """The stored lines of a document, and the place of new lines."""

    def __init__(self, store: Store, session: str, source: str) -> None:
        self._store, self._session, self._source = store, session, source
        self._lines: dict[int, tuple[EntryLane, ...]] | None = None
        self._notes: set[tuple[EntryId | None, bytes]] | None = None
        self._known_count = 0
        self.diverged = False
        self.has_written = False

    def skip_known(self, arrivals: Iterator[Arrival]) -> Iterator[Arrival]:
        """Return the arrivals from the first one that is new or differs from its sighting."""
        known = self._store.sightings(self._session, self._source)
        for arrival in arrivals:
            sighting = next(known, None)
            if sighting is not None and not arrival.raw:
                # The file is shorter than before; a truncated file removes nothing.
                return iter(())
            if sighting is None or not _is_same(sighting, arrival):
                remaining = [sighting, *known] if sighting is not None else []
                # Lines without entries may be replaced, such as a torn last line, now complete.
                self.diverged = any(sighting.first for sighting in remaining)
                return chain([arrival], arrivals)
            self._known_count += 1
        return iter(())

    def rewind_head(self, head: Head) -> Head:
        """Return the head with its lanes moved back to before the first line that differs."""
        if not self.diverged or self.has_written:
            return head
        ends: dict[str, EntryId | None] = {}
        for pos, entries in self._known_lines().items():
            name, lane = entries[-1]
            ends.setdefault(lane, None)
            if pos < self._known_count:
                ends[lane] = name
        lanes = {lane: rewind_lane(head.lane(lane), end) for lane, end in ends.items()}
        return replace(head, stale=True, lanes={**head.lanes, **lanes})

    def mark_written(self) -> None:
        """Record that lines were written, so that the known lines are read again."""
        self.has_written, self._lines = True, None

    def entries_at(self, source: str, pos: int) -> tuple[EntryId, ...]:
        """Return the names of the entries of a known line."""
        del source
        return tuple(name for name, _ in self._known_lines().get(pos, ()))

    def number_of(self, name: EntryId) -> int:
        """Return the number of a known entry, or 0."""
        return self._store.names(self._session, [name]).get(name, 0)

    def has_note(self, parent: EntryId | None, body: Derived) -> bool:
        """Return whether an equal derived entry with the same parent is stored already."""
        if self._notes is None:
            notes = (e for e in self._store.read(self._session) if isinstance(e.body, Derived))
            self._notes = {(entry.parent, _note_key(entry.body)) for entry in notes}
        return (parent, _note_key(body)) in self._notes

    def _known_lines(self) -> dict[int, tuple[EntryLane, ...]]:
        """Return the names and lanes of the entries of each known line that has entries."""
        if self._lines is None:
            read = self._store.read(self._session)
            entries: dict[int, EntryLane] = {entry.seq: (entry.id, entry.lane) for entry in read}
            self._lines = {}
            for sighting in self._store.sightings(self._session, self._source):
                numbers = range(sighting.first, sighting.first + sighting.parts)
                if numbers:
                    self._lines[sighting.pos] = tuple(entries[number] for number in numbers)
        return self._lines


def _is_same(sighting: Sighting, arrival: Arrival) -> bool:
    """Return whether a line equals its sighting, or the sighting is a purged form of it."""
    if sighting.lead != arrival.lead:
        return False
    return sighting.raw == arrival.raw or is_erased_form(sighting.raw, arrival.raw)


def _note_key(body: Body) -> bytes:
    """Return a key for comparing derived bodies; all compactions have the same key."""
    if isinstance(body, Compressed):
        body = replace(body, generation=0, watermark=0)
    return b"compacted" if isinstance(body, Compacted) else pack(body)


def shorten_document(source: str, length: int) -> Build:
    """Return a build that shortens a rewritten document to the length of its file."""

    def build(head: Head) -> Batch:
        known = head.documents[source]
        if known.length <= length:
            return Batch(head)
        # Later lines at the removed positions get a new version.
        shorter = replace(known, length=length, version=known.version + 1)
        return Batch(replace(head, documents={**head.documents, source: shorter}))

    return build
