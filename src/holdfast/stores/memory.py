"""Store sessions in memory, for stateless compression and for tests."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.ledger.append import Batch
from holdfast.core.ledger.entry import Derived, Entry, EntryId, Sighting, kind_of
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.snapshot import WindowSnapshot
from holdfast.errors import Conflict
from holdfast.stores.checks import check_session
from holdfast.stores.store import (
    REWRITTEN,
    Build,
    Damage,
    Erasure,
    Progress,
    RetentionCheck,
    SessionInfo,
    Tombstone,
)

if TYPE_CHECKING:
    from holdfast.core.index.terms import PassagePool, Term
    from holdfast.stores.connection import Database


class _SessionData:
    """The stored data of one session."""

    def __init__(self) -> None:
        self.head = Head()
        self.touched = 0
        self.entries: list[Entry] = []
        self.names: dict[EntryId, int] = {}
        self.counts: dict[str, dict[int, int]] = {}
        self.sightings: dict[str, dict[int, Sighting]] = {}
        self.arrivals: dict[int, Sighting] = {}
        self.windows: dict[str, WindowSnapshot] = {}
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
    """A `Store` that lives as long as its process."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._sessions: dict[str, _SessionData] = {}
        self._append_count = 0
        self._retention_checks: list[RetentionCheck] = []
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
            data = self._sessions.get(session) or _SessionData()
            batch = build(data.head)
            data.add(batch)
            if batch.entries or batch.sightings:
                self._append_count += 1
                data.touched = self._append_count
            self._sessions[session] = data
            return batch

    def head(self, session: str) -> Head | None:
        """See `Store.head`."""
        data = self._sessions.get(session)
        return data.head if data else None

    def read(
        self, session: str, *, since: int = 0, numbers: Iterable[int] | None = None
    ) -> Iterator[Entry]:
        """See `Store.read`."""
        entries = self._data_of(session).entries
        if numbers is None:
            return iter(entries[since:])
        present = sorted(number for number in set(numbers) if 0 < number <= len(entries))
        return iter([entries[number - 1] for number in present])

    def events(
        self, session: str, *, since: int = 0, kinds: Collection[str] | None = None
    ) -> Iterator[Entry]:
        """See `Store.events`."""
        return (
            entry
            for entry in self.read(session, since=since)
            if isinstance(entry.body, Derived) and (kinds is None or kind_of(entry.body) in kinds)
        )

    def names(self, session: str, ids: Iterable[EntryId] | None = None) -> dict[EntryId, int]:
        """See `Store.names`."""
        names = self._data_of(session).names
        return dict(names) if ids is None else {name: names[name] for name in ids if name in names}

    def counts(self, session: str, vocabulary: str, *, since: int = 0) -> dict[int, int]:
        """See `Store.counts`."""
        known = self._data_of(session).counts.get(vocabulary, {})
        return {seq: count for seq, count in known.items() if seq > since}

    def sightings(self, session: str, source: str = "") -> Iterator[Sighting]:
        """See `Store.sightings`."""
        data = self._data_of(session)
        by_position, document = data.sightings.get(source, {}), data.head.documents.get(source)
        length = document.length if document else 0
        return iter([by_position[pos] for pos in sorted(by_position) if pos < length])

    def arrivals(self, session: str, firsts: Iterable[int]) -> dict[int, Sighting]:
        """See `Store.arrivals`."""
        by_first = self._data_of(session).arrivals
        return {first: by_first[first] for first in firsts if first in by_first}

    def window(self, session: str, lane: str = "") -> WindowSnapshot | None:
        """See `Store.window`."""
        return self._data_of(session).windows.get(lane)

    def save_window(self, session: str, window: WindowSnapshot) -> None:
        """See `Store.save_window`."""
        self._data_of(session).windows[window.lane] = window

    def read_cache(self, session: str, name: str) -> bytes | None:
        """See `Store.read_cache`."""
        return self._data_of(session).readings.get(name)

    def write_cache(self, session: str, name: str, head: Head, data: bytes) -> None:
        """See `Store.write_cache`."""
        with self._lock:
            session_data = self._sessions.get(session)
            if session_data is not None and session_data.head == head:
                session_data.readings[name] = data

    def sessions(self) -> list[SessionInfo]:
        """See `Store.sessions`."""
        rows = [SessionInfo(name, data.head, data.touched) for name, data in self._sessions.items()]
        return sorted(rows, key=lambda row: row.touched, reverse=True)

    def all_sightings(self, session: str) -> Iterator[Sighting]:
        """See `Store.all_sightings`."""
        data = self._data_of(session)
        newest = [
            sighting for by_position in data.sightings.values() for sighting in by_position.values()
        ]
        return iter(newest)

    def erase(self, session: str, erasure: Erasure) -> None:
        """See `Store.erase`."""
        with self._lock:
            data = self._sessions.get(session)
            if data is None or data.head.seq != erasure.seq:
                found = data.head.seq if data else "nothing"
                raise Conflict(session, expected=erasure.seq, found=found)
            self._index = None  # the next search builds it again
            if erasure.whole:
                del self._sessions[session]
            else:
                data.replace(erasure)
            for tombstone in erasure.tombstones:
                known = self._tombstones.get((session, tombstone.id))
                erased = known is not None and known.reason != REWRITTEN
                self._tombstones[session, tombstone.id] = (
                    replace(known, again=tombstone.again)
                    if known is not None and erased
                    else tombstone
                )

    def tombstones(self, session: str | None = None, ref: str = "") -> list[Tombstone]:
        """See `Store.tombstones`."""
        in_order = sorted(
            self._tombstones.values(), key=lambda tombstone: (tombstone.session, tombstone.seq)
        )
        return [
            tombstone
            for tombstone in in_order
            if session in (None, tombstone.session) and tombstone.id.startswith(ref.lower())
        ]

    def retention_checks(self) -> list[RetentionCheck]:
        """See `Store.retention_checks`."""
        return list(self._retention_checks)

    def add_retention_check(self, check: RetentionCheck) -> None:
        """See `Store.add_retention_check`."""
        self._retention_checks.append(check)

    def size(self) -> int:
        """See `Store.size`."""
        return sum(
            len(sighting.raw) for name in self._sessions for sighting in self.all_sightings(name)
        )

    def search(
        self, terms: "Sequence[Term]", *, sessions: Sequence[str] | None = None, limit: int = 100
    ) -> "PassagePool":
        """See `Store.search`."""
        from holdfast.core.index.terms import PassagePool
        from holdfast.stores import index  # late: only a search needs it

        with self._lock:
            self.index(sessions)
            db = self._open_index()
            names = dict(enumerate(self._sessions, start=1))
            wanted = {k: n for k, n in names.items() if sessions is None or n in sessions}
            scope = index.Scope(tuple(wanted), whole=len(wanted) == len(names))
            pool = index.search(db, terms, scope, limit=limit)
            return PassagePool(tuple(index.locate(db, pool.spots, names.__getitem__)), pool.rarity)

    def index(
        self, sessions: Sequence[str] | None = None, *, progress: Progress | None = None
    ) -> None:
        """See `Store.index`."""
        from holdfast.stores import index

        with self._lock:
            db = self._open_index()
            for key, name in enumerate(self._sessions, start=1):
                if sessions is not None and name not in sessions:
                    continue
                while entries := self._sessions[name].entries[index.read_mark(db, key).seq :]:
                    index.write(db, key, index.prepare_rows(index.read_mark(db, key), entries))
                    if progress is not None:
                        progress(index.read_mark(db, key).seq, len(self._sessions[name].entries))

    def _open_index(self) -> "Database":
        if self._index is None:
            from holdfast.stores import index
            from holdfast.stores.migrations import create_index

            self._index = index.open_in_memory()
            create_index(self._index)
        return self._index

    def stores_of_all_projects(self) -> "Iterable[MemoryStore]":
        """See `Store.stores_of_all_projects`."""
        return (self,)

    def check(self) -> Iterator[Damage]:
        """See `Store.check`."""
        for info in self.sessions():
            yield from check_session(self, info)

    def close(self) -> None:
        """See `Store.close`."""

    def _data_of(self, session: str) -> _SessionData:
        return self._sessions.get(session) or _SessionData()
