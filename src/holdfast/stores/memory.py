"""A store that lives as long as its process: for stateless compression, and for tests."""

from collections.abc import Iterable, Iterator, Sequence
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.ledger.append import Batch
from holdfast.core.ledger.entry import Derived, Entry, EntryId, Sighting
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.snapshot import Kept
from holdfast.errors import Conflict
from holdfast.stores.checks import check_session
from holdfast.stores.store import (
    REWRITTEN,
    Build,
    Damage,
    Erasure,
    Listed,
    Look,
    Progress,
    Tombstone,
)

if TYPE_CHECKING:
    from holdfast.core.index.terms import Pooled, Term
    from holdfast.stores.connection import Database


class _Shelf:
    """What is kept of one session."""

    def __init__(self) -> None:
        self.head = Head()
        self.touched = 0
        self.entries: list[Entry] = []
        self.names: dict[EntryId, int] = {}
        self.counts: dict[str, dict[int, int]] = {}
        self.sightings: dict[str, dict[int, Sighting]] = {}
        self.arrivals: dict[int, Sighting] = {}
        self.windows: dict[str, Kept] = {}
        self.readings: dict[str, bytes] = {}

    def add(self, batch: Batch) -> None:
        self.head = batch.head
        self.entries.extend(batch.entries)
        for entry in batch.entries:
            if not isinstance(entry.body, Derived):
                self.names[entry.id] = entry.seq
        for sighting in batch.sightings:
            self.sightings.setdefault(sighting.source, {})[sighting.pos] = sighting
            if sighting.first:
                self.arrivals[sighting.first] = sighting
        self.counts.setdefault(batch.head.vocabulary, {}).update(batch.counts)

    def replace(self, erasure: Erasure) -> None:
        for entry in erasure.entries:
            self.entries[entry.seq - 1] = entry
        self.counts.clear()
        self.windows.clear()
        self.readings.clear()
        self.add(Batch(erasure.head, erasure.added, erasure.sightings))


class MemoryStore:
    """Keeps sessions in memory."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._shelves: dict[str, _Shelf] = {}
        self._touches = 0
        self._looks: list[Look] = []
        self._tombstones: dict[tuple[str, EntryId], Tombstone] = {}
        self._index: Database | None = None

    def __enter__(self) -> "MemoryStore":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def append(self, session: str, build: Build) -> Batch:
        """See `Store.append`."""
        with self._lock:
            shelf = self._shelves.get(session) or _Shelf()
            batch = build(shelf.head)
            shelf.add(batch)
            if batch.entries or batch.sightings:
                self._touches += 1
                shelf.touched = self._touches
            self._shelves[session] = shelf
            return batch

    def head(self, session: str) -> Head | None:
        """See `Store.head`."""
        shelf = self._shelves.get(session)
        return shelf.head if shelf else None

    def read(
        self, session: str, *, since: int = 0, numbers: Iterable[int] | None = None
    ) -> Iterator[Entry]:
        """See `Store.read`."""
        entries = self._shelf(session).entries
        if numbers is None:
            return iter(entries[since:])
        there = sorted(number for number in set(numbers) if 0 < number <= len(entries))
        return iter([entries[number - 1] for number in there])

    def events(self, session: str, *, since: int = 0) -> Iterator[Entry]:
        """See `Store.events`."""
        return (one for one in self.read(session, since=since) if isinstance(one.body, Derived))

    def names(self, session: str, ids: Iterable[EntryId] | None = None) -> dict[EntryId, int]:
        """See `Store.names`."""
        names = self._shelf(session).names
        return dict(names) if ids is None else {name: names[name] for name in ids if name in names}

    def counts(self, session: str, vocabulary: str) -> dict[int, int]:
        """See `Store.counts`."""
        return dict(self._shelf(session).counts.get(vocabulary, {}))

    def sightings(self, session: str, source: str = "") -> Iterator[Sighting]:
        """See `Store.sightings`."""
        shelf = self._shelf(session)
        pieces, document = shelf.sightings.get(source, {}), shelf.head.documents.get(source)
        length = document.length if document else 0
        return iter([pieces[pos] for pos in sorted(pieces) if pos < length])

    def arrivals(self, session: str, firsts: Iterable[int]) -> dict[int, Sighting]:
        """See `Store.arrivals`."""
        seen = self._shelf(session).arrivals
        return {first: seen[first] for first in firsts if first in seen}

    def window(self, session: str, lane: str = "") -> Kept | None:
        """See `Store.window`."""
        return self._shelf(session).windows.get(lane)

    def keep(self, session: str, window: Kept) -> None:
        """See `Store.keep`."""
        self._shelf(session).windows[window.lane] = window

    def reading(self, session: str, name: str) -> bytes | None:
        """See `Store.reading`."""
        return self._shelf(session).readings.get(name)

    def keep_reading(self, session: str, name: str, head: Head, data: bytes) -> None:
        """See `Store.keep_reading`."""
        with self._lock:
            shelf = self._shelves.get(session)
            if shelf is not None and shelf.head == head:
                shelf.readings[name] = data

    def sessions(self) -> list[Listed]:
        """See `Store.sessions`."""
        listed = [Listed(name, shelf.head, shelf.touched) for name, shelf in self._shelves.items()]
        return sorted(listed, key=lambda row: row.touched, reverse=True)

    def pieces(self, session: str) -> Iterator[Sighting]:
        """See `Store.pieces`."""
        shelf = self._shelf(session)
        newest = [piece for pieces in shelf.sightings.values() for piece in pieces.values()]
        return iter(newest)

    def erase(self, session: str, erasure: Erasure) -> None:
        """See `Store.erase`."""
        with self._lock:
            shelf = self._shelves.get(session)
            if shelf is None or shelf.head.seq != erasure.seq:
                found = shelf.head.seq if shelf else "nothing"
                raise Conflict(session, expected=erasure.seq, found=found)
            self._index = None  # it is made again when somebody searches
            if erasure.whole:
                del self._shelves[session]
            else:
                shelf.replace(erasure)
            for one in erasure.tombstones:
                known = self._tombstones.get((session, one.id))
                erased = known is not None and known.reason != REWRITTEN
                self._tombstones[session, one.id] = (
                    replace(known, again=one.again) if known is not None and erased else one
                )

    def tombstones(self, session: str | None = None, ref: str = "") -> list[Tombstone]:
        """See `Store.tombstones`."""
        found = sorted(self._tombstones.values(), key=lambda one: (one.session, one.seq))
        return [
            one
            for one in found
            if session in (None, one.session) and one.id.startswith(ref.lower())
        ]

    def looks(self) -> list[Look]:
        """See `Store.looks`."""
        return list(self._looks)

    def looked(self, look: Look) -> None:
        """See `Store.looked`."""
        self._looks.append(look)

    def size(self) -> int:
        """See `Store.size`."""
        return sum(len(piece.raw) for name in self._shelves for piece in self.pieces(name))

    def search(
        self, terms: "Sequence[Term]", *, sessions: Sequence[str] | None = None, limit: int = 100
    ) -> "Pooled":
        """See `Store.search`."""
        from holdfast.core.index.terms import Pooled
        from holdfast.stores import index  # late: only whoever searches pays for it

        with self._lock:
            self.index(sessions)
            db = self._indexed()
            names = dict(enumerate(self._shelves, start=1))
            wanted = {k: n for k, n in names.items() if sessions is None or n in sessions}
            scope = index.Scope(tuple(wanted), whole=len(wanted) == len(names))
            pool = index.search(db, terms, scope, limit=limit)
            return Pooled(tuple(index.located(db, pool.spots, names.__getitem__)), pool.rarity)

    def index(
        self, sessions: Sequence[str] | None = None, *, progress: Progress | None = None
    ) -> None:
        """See `Store.index`."""
        from holdfast.stores import index

        with self._lock:
            db = self._indexed()
            for key, name in enumerate(self._shelves, start=1):
                if sessions is not None and name not in sessions:
                    continue
                while entries := self._shelves[name].entries[index.mark_of(db, key).seq :]:
                    index.write(db, key, index.prepared(index.mark_of(db, key), entries))
                    if progress is not None:
                        progress(index.mark_of(db, key).seq, len(self._shelves[name].entries))

    def _indexed(self) -> "Database":
        if self._index is None:
            from holdfast.stores import index
            from holdfast.stores.migrations import m005_the_index

            self._index = index.in_memory()
            m005_the_index(self._index)
        return self._index

    def forget_index(self, session: str) -> None:
        """See `Store.forget_index`."""
        from holdfast.stores import index

        with self._lock:
            db = self._indexed()
            index.forget(db, list(self._shelves).index(session) + 1)
            db.execute(index.TIDY)

    def shelves(self) -> "Iterable[MemoryStore]":
        """See `Store.shelves`."""
        return (self,)

    def check(self) -> Iterator[Damage]:
        """See `Store.check`."""
        for listed in self.sessions():
            yield from check_session(self, listed)

    def close(self) -> None:
        """See `Store.close`."""

    def _shelf(self, session: str) -> _Shelf:
        return self._shelves.get(session) or _Shelf()
