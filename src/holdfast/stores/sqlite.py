"""Store sessions in one SQLite file inside the project.

The SQLite settings are in `connection.py`. Every write is one `begin immediate` transaction; no
read transaction outlives the call that opened it.
"""

from collections.abc import Callable, Collection, Container, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from threading import Lock, RLock
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakMethod

import apsw
import msgspec
from msgspec.structs import replace

from holdfast.core.ledger.append import Batch
from holdfast.core.ledger.entry import (
    Body,
    Compressed,
    Derived,
    Entry,
    EntryId,
    Sighting,
    kind_of,
    may_be_of,
    pack,
    unpack,
)
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.snapshot import WindowSnapshot
from holdfast.errors import StoreBusy, StoreDamaged, StoreFull, StoreRefused
from holdfast.stores import packing
from holdfast.stores.blobs import KIND_PREFIX_BYTES, BlobTable
from holdfast.stores.connection import (
    Database,
    Row,
    connect,
    make_durable,
    make_private,
    prepare_place,
    refuse_log_in_use,
)
from holdfast.stores.encoding import (
    LaneOrder,
    decode_references,
    encode_references,
    has_spans,
    hides_many,
    names_to_spans,
    spans_to_names,
)
from holdfast.stores.migrations import migrate, refuse_foreign
from holdfast.stores.store import (
    Build,
    Damage,
    Erasure,
    Progress,
    RetentionCheck,
    SessionInfo,
    Tombstone,
)

if TYPE_CHECKING:
    from holdfast.core.index.passages import IndexRows
    from holdfast.core.index.terms import PassagePool, Term

FIND = "select key, head from sessions where project = ? and name = ?"
MAKE = "insert into sessions(project, name, touched, head) values (?, ?, 0, x'') returning key"
TOUCH = """
update sessions set head = ?,
    touched = (select coalesce(max(touched), 0) + 1 from sessions where project = ?)
where key = ?
"""
SET_HEAD = "update sessions set head = ? where key = ?"
ADD_ENTRY = "insert into entries values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
ADD_SIGHTING = "insert or replace into sightings values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
ADD_COUNTS = "insert or replace into counts values (?, ?, ?, ?)"
ADD_WINDOW = "insert or replace into windows values (?, ?, ?)"
READING = "select data from readings where session = ? and name = ?"
ADD_READING = "insert or replace into readings values (?, ?, ?)"
ENTRY_COLUMNS = (
    "seq, id, parent, lane, message, part, fork, grouped, at, derived, stored, body, sum"
)
READ_SINCE = f"select {ENTRY_COLUMNS} from entries where session = ? and seq > ? order by seq"
EVENTS = f"""
select {ENTRY_COLUMNS} from entries where session = ? and seq > ? and derived = 1 order by seq
"""
READ_SOME = f"{READ_SINCE} limit ?"
READ_RUN = f"""
select {ENTRY_COLUMNS} from entries where session = ? and seq between ? and ? order by seq
"""
BODIES = "select stored, body from entries where session = ? and seq >= ? and seq < ? order by seq"
NAMES = "select id, seq from entries where session = ? and derived = 0"
NAMES_OF_LANE = """
select seq, id from entries where session = ? and lane = ? and seq > ? and derived = 0 order by seq
"""
NAME_AT = "select id from entries where session = ? and seq = ?"
NAME = "select seq from entries where session = ? and id = ? and derived = 0"
COUNTS = """
select data from counts where session = ? and vocabulary = ? and last > ? order by last
"""
SIGHTING_COLUMNS = "source, pos, version, first, parts, lead, stored, raw, sum"
NEWEST = f"""
select {SIGHTING_COLUMNS} from sightings as s
where session = ? and source = ? and pos < ? and version =
    (select max(version) from sightings
     where session = s.session and source = s.source and pos = s.pos)
order by pos
"""
PIECES = f"select {SIGHTING_COLUMNS} from sightings where session = ? order by source, pos, version"
NEWEST_OF_FIRST = f"""
select {SIGHTING_COLUMNS} from sightings where session = ? and first = ? and first > 0
order by version desc limit 1
"""
WINDOW = "select data from windows where session = ? and lane = ?"
RETENTION_CHECKS = "select touched, lived, clock from looks where project = ? order by rowid"
ADD_RETENTION_CHECK = "insert into looks values (?, ?, ?, ?)"
SIZE = """
select (page_count - freelist_count) * page_size
from pragma_page_count, pragma_freelist_count, pragma_page_size
"""
PROJECTS = "select distinct project from sessions order by project"
KEYS = "select key, name, project from sessions"
UNINDEXED = """
select * from
    (select s.key, (select coalesce(max(seq), 0) from entries where session = s.key)
        - coalesce(i.seq, 0) as missing
     from sessions as s left join indexed as i on i.session = s.key and i.version = ?)
where missing > 0
"""
LIST = "select name, touched, head from sessions where project = ? order by touched desc"

T = TypeVar("T")

OPEN_LOCK = Lock()


class SqliteStore:
    """A `Store` that keeps the sessions of one project in a SQLite file."""

    RECENT_ENTRIES: int | None = 128
    """Decoded entries that are kept: several readers of a session ask for each new one in turn."""

    def __init__(self, path: str, *, project: str = "", engine: str | None = None) -> None:
        """Open a store; create it if it does not exist.

        Raises:
            StoreRefused: the place or the SQLite version is not safe.
            StoreDamaged: the file is not a database.
        """
        self.project = project
        self._lock = RLock()
        self._orders: dict[tuple[int, str], LaneOrder] = {}
        self.path, self._db, self._unsafe = self._open(path, engine)
        self.blobs = BlobTable(self._db, self.path)
        # The same row is the same entry, so its readers share one object.
        # A reference to the store from its own cache would keep a dropped store's file open.
        decode = WeakMethod(self._decode_entry)

        def read(key: int, row: Row) -> Entry:
            method = decode()
            assert method is not None
            return method(key, row)

        self._entry = lru_cache(maxsize=self.RECENT_ENTRIES)(read)

    def __enter__(self) -> "SqliteStore":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _open(self, path: str, engine: str | None) -> tuple[str, Database, bool]:
        """Open the file; return its real path, and whether the write-ahead log is not safe."""
        # One thread at a time: closing a file drops the POSIX locks that other threads have on it.
        with OPEN_LOCK:
            path = prepare_place(path)
            with translate_errors(path):
                db = connect(path)
                try:
                    refuse_foreign(db, path)
                    make_private(path)
                    unsafe = make_durable(db, path, engine)
                    migrate(db, path)
                except BaseException:
                    db.close()
                    raise
        return path, db, unsafe

    def append(self, session: str, build: Build) -> Batch:
        """See `Store.append`."""
        with self._lock, translate_errors(self.path):
            with self._transaction():
                if self._unsafe:
                    refuse_log_in_use(self._db, self.path)
                key, head = self._find_or_make_session(session)
                batch = build(head)
                self.write(key, batch)
            return batch

    @contextmanager
    def _transaction(self) -> Generator[None]:
        """Run the body in a write transaction; roll it back on any exception."""
        self._db.execute("begin immediate")
        try:
            yield
            self._db.execute("commit")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        # On a full disk SQLite has rolled back already; a second rollback would hide the error.
        if self._db.in_transaction:
            self._db.execute("rollback")

    def _find_or_make_session(self, session: str) -> tuple[int, Head]:
        row = self._db.execute(FIND, (self.project, session)).fetchone()
        if row is not None:
            return row[0], self._decode_head(row[1])
        made = self._db.execute(MAKE, (self.project, session)).fetchone()
        assert made is not None
        return made[0], Head()

    def write(self, key: int, batch: Batch, contents: dict[bytes, bytes] | None = None) -> None:
        """Write a batch, and `contents` that existing rows refer to; inside a transaction."""
        blobs = contents or {}
        rows = [entry_row(key, self.entry_to_store(key, entry), blobs) for entry in batch.entries]
        bases = self._find_bases(key, batch.entries, rows, blobs)
        self._db.executemany(ADD_ENTRY, rows)
        bodies_of = self._body_lookup(key, batch)
        self._db.executemany(
            ADD_SIGHTING,
            [
                sighting_row(key, sighting, blobs, bodies_of(sighting))
                for sighting in batch.sightings
            ],
        )
        self.blobs.write(self.project, blobs, bases)
        if batch.counts:
            last = batch.counts[-1][0]
            data = packing.add_checksum(msgspec.msgpack.encode(batch.counts))
            self._db.execute(ADD_COUNTS, (key, batch.head.vocabulary, last, data))
        head = packing.add_checksum(msgspec.msgpack.encode(batch.head))
        if batch.entries or batch.sightings:
            self._db.execute(TOUCH, (head, self.project, key))
        else:
            self._db.execute(SET_HEAD, (head, key))

    def _body_lookup(self, key: int, batch: Batch) -> Callable[[Sighting], Sequence[Body]]:
        """Return a function that finds the bodies of a sighting, in the batch or in the store."""
        new = {entry.seq: entry.body for entry in batch.entries}

        def bodies_of(sighting: Sighting) -> Sequence[Body]:
            numbers = range(sighting.first, sighting.first + sighting.parts)
            if all(number in new for number in numbers):
                return [new[number] for number in numbers]
            try:
                return self._read_bodies(key, sighting.first, sighting.parts)
            except StoreDamaged:
                return ()  # the bytes are then stored whole, without references to lost entries

        return bodies_of

    def _read_bodies(self, key: int, first: int, parts: int) -> list[Body]:
        """Read the bodies of the entries of a message."""
        rows = self._db.execute(BODIES, (key, first, first + parts)).fetchall()
        return [unpack(self._read_content(stored, body)) for stored, body in rows]

    def _find_bases(
        self, key: int, entries: Sequence[Entry], rows: Sequence[Row], blobs: dict[bytes, bytes]
    ) -> dict[bytes, bytes]:
        """Find the older content for each content that is stored as a delta."""
        bases: dict[bytes, bytes] = {}
        for entry, row in zip(entries, rows, strict=True):
            stored, name = row[-3:-1]
            if stored == packing.BY_HASH and isinstance(entry.body, Derived):
                base = self.blobs.find_base(self.project, key, entry.lane, blobs[name])
                if base is not None:
                    bases[name] = base
        return bases

    def _read_content(self, stored: int, data: bytes) -> bytes:
        if stored == packing.BY_HASH:
            return self.blobs.read(self.project, data)
        try:
            return packing.unpack_inline(stored, data)
        except ValueError as error:
            raise StoreDamaged(self.path, f"a row is damaged: {error}") from None

    def entry_to_store(self, key: int, entry: Entry) -> Entry:
        """Return an entry in its stored form: long lists of hidden names become spans."""
        body = entry.body
        if not isinstance(body, Compressed) or not hides_many(body):
            return entry
        return replace(entry, body=names_to_spans(body, self._lane_order(key, entry.lane)))

    def _body_as_given(self, key: int, lane: str, body: Body) -> Body:
        """Return the original of a stored body: spans become names."""
        if not isinstance(body, Compressed) or not has_spans(body):
            return body
        return spans_to_names(body, self._lane_order(key, lane))

    def _lane_order(self, key: int, lane: str) -> LaneOrder:
        """Return the entries of a lane in order; reads only those that are not cached."""
        with self._lock, translate_errors(self.path):
            order = self._orders.setdefault((key, lane), LaneOrder())
            known = self._db.execute(NAME_AT, (key, order.last)).fetchone()
            if order.last and (known is None or known[0].hex() != order.names[-1]):
                order = self._orders[key, lane] = LaneOrder()  # the session was erased meanwhile
            for seq, name in self._db.execute(NAMES_OF_LANE, (key, lane, order.last)):
                order.add(seq, name.hex())
        return order

    def _decode_entry(self, key: int, row: Row) -> Entry:
        seq, name, parent, lane, message, part, fork, group, at, _, stored, body, total = row
        if total != packing.checksum(*row[:-1]):
            raise StoreDamaged(self.path, f"the row of entry {seq} does not match its checksum")
        return Entry(
            id=name.hex(),
            parent=parent.hex() if parent else None,
            body=self._body_as_given(key, lane, unpack(self._read_content(stored, body))),
            seq=seq,
            lane=lane,
            message=message,
            part=part,
            fork=fork,
            group=group,
            at=at,
        )

    def _sighting(self, key: int, row: Row) -> Sighting:
        source, pos, version, first, parts, lead, stored, raw, total = row
        if total != packing.checksum(*row[:-1]):
            raise StoreDamaged(self.path, f"the row of piece {pos + 1} does not match its checksum")
        content = self._read_content(stored & ~packing.REFERENCES, raw)
        if stored & packing.REFERENCES:
            content = self._decode_references(content, self._read_bodies(key, first, parts))
        return Sighting(source, pos, version, content, lead, first, parts)

    def _decode_references(self, data: bytes, bodies: Sequence[Body]) -> bytes:
        try:
            return decode_references(data, bodies)
        except ValueError as error:
            raise StoreDamaged(self.path, f"a message is damaged: {error}") from None

    def head(self, session: str) -> Head | None:
        """See `Store.head`."""
        row = self._fetch_one(FIND, (self.project, session))
        return self._decode_head(row[1]) if row else None

    def read(
        self, session: str, *, since: int = 0, numbers: Iterable[int] | None = None
    ) -> Iterator[Entry]:
        """See `Store.read`."""
        key = self._session_key(session)
        if numbers is None:
            yield from self._fetch_each(READ_SINCE, (key, since), partial(self._entry, key))
            return
        for first, last in group_runs(sorted(set(numbers))):
            yield from self._fetch_each(READ_RUN, (key, first, last), partial(self._entry, key))

    def events(
        self, session: str, *, since: int = 0, kinds: Collection[str] | None = None
    ) -> Iterator[Entry]:
        """See `Store.events`."""
        key = self._session_key(session)
        for row in self._fetch_each(EVENTS, (key, since), _unchanged):
            if kinds is None or may_be_of(self._start_of(*row[-3:-1]), kinds):
                entry = self._entry(key, row)
                if kinds is None or kind_of(entry.body) in kinds:
                    yield entry

    def _start_of(self, stored: int, data: bytes) -> bytes:
        """Return the first bytes of a content, which say its kind."""
        if stored == packing.BY_HASH:
            return self.blobs.start(self.project, data)
        return self._read_content(stored, data)[:KIND_PREFIX_BYTES]

    def names(self, session: str, ids: Iterable[EntryId] | None = None) -> dict[EntryId, int]:
        """See `Store.names`."""
        key = self._session_key(session)
        if ids is None:
            return dict(self._fetch_each(NAMES, (key,), lambda row: (row[0].hex(), row[1])))
        rows = ((name, self._fetch_one(NAME, (key, bytes.fromhex(name)))) for name in ids)
        return {name: row[0] for name, row in rows if row}

    def counts(self, session: str, vocabulary: str, *, since: int = 0) -> dict[int, int]:
        """See `Store.counts`."""
        pairs: dict[int, int] = {}
        values = (self._session_key(session), vocabulary, since)
        for row in self._fetch_each(COUNTS, values, _unchanged):
            data = packing.verify_checksum(row[0])
            if data is not None:
                pairs.update(msgspec.msgpack.decode(data, type=list[tuple[int, int]]))
        return pairs

    def sightings(self, session: str, source: str = "") -> Iterator[Sighting]:
        """See `Store.sightings`."""
        row = self._fetch_one(FIND, (self.project, session))
        if row is None:
            return iter(())
        document = self._decode_head(row[1]).documents.get(source)
        length = document.length if document else 0
        return self._fetch_each(NEWEST, (row[0], source, length), partial(self._sighting, row[0]))

    def arrivals(self, session: str, firsts: Iterable[int]) -> dict[int, Sighting]:
        """See `Store.arrivals`."""
        key = self._session_key(session)
        rows = ((first, self._fetch_one(NEWEST_OF_FIRST, (key, first))) for first in firsts)
        return {first: self._sighting(key, row) for first, row in rows if row}

    def window(self, session: str, lane: str = "") -> WindowSnapshot | None:
        """See `Store.window`."""
        row = self._fetch_one(WINDOW, (self._session_key(session), lane))
        data = packing.verify_checksum(row[0]) if row else None
        return msgspec.msgpack.decode(data, type=WindowSnapshot) if data else None

    def save_window(self, session: str, window: WindowSnapshot) -> None:
        """See `Store.save_window`."""
        key = self._session_key(session)
        if not key:
            return
        with self._lock, translate_errors(self.path):
            data = packing.add_checksum(msgspec.msgpack.encode(window))
            self._db.execute(ADD_WINDOW, (key, window.lane, data))

    def read_cache(self, session: str, name: str) -> bytes | None:
        """See `Store.read_cache`."""
        row = self._fetch_one(READING, (self._session_key(session), name))
        return packing.verify_checksum(row[0]) if row else None

    def write_cache(self, session: str, name: str, head: Head, data: bytes) -> None:
        """See `Store.write_cache`."""
        with self._lock, translate_errors(self.path), self._transaction():
            row = self._db.execute(FIND, (self.project, session)).fetchone()
            # If something was erased in the meantime, the head has changed.
            if row is not None and self._decode_head(row[1]) == head:
                self._db.execute(ADD_READING, (row[0], name, packing.add_checksum(data)))

    def clear_cache(self, session: str) -> None:
        """Delete the cached values of a session; they are computed again when needed."""
        with self._lock, translate_errors(self.path):
            self._db.execute(
                "delete from readings where session = ?", (self._session_key(session),)
            )

    def projects(self) -> list[str]:
        """Return the names of the projects that have sessions in this file."""
        return list(self._fetch_each(PROJECTS, (), lambda row: str(row[0])))

    def sessions(self) -> list[SessionInfo]:
        """See `Store.sessions`."""
        rows = self._fetch_each(LIST, (self.project,), _unchanged)
        return [SessionInfo(name, self._decode_head(head), touched) for name, touched, head in rows]

    def all_sightings(self, session: str) -> Iterator[Sighting]:
        """See `Store.all_sightings`."""
        key = self._session_key(session)
        return self._fetch_each(PIECES, (key,), partial(self._sighting, key))

    def erase(self, session: str, erasure: Erasure) -> None:
        """See `Store.erase`."""
        from holdfast.stores.erase import erase_rows, scrub_file  # late: erasing is rare

        self._entry.cache_clear()
        with self._lock, translate_errors(self.path):
            # Overwrite deleted content with zeros.
            self._db.pragma("secure_delete", "on")
            with self._transaction():
                erase_rows(self, self._db, session, erasure)
            scrub_file(self._db, self.path)

    def tombstones(self, session: str | None = None, ref: str = "") -> list[Tombstone]:
        """See `Store.tombstones`."""
        from holdfast.stores.erase import read_tombstones  # late: only needed for a missing entry

        with self._lock, translate_errors(self.path):
            return list(read_tombstones(self._db, self.project, session, ref))

    def retention_checks(self) -> list[RetentionCheck]:
        """See `Store.retention_checks`."""
        return list(
            self._fetch_each(RETENTION_CHECKS, (self.project,), lambda row: RetentionCheck(*row))
        )

    def add_retention_check(self, check: RetentionCheck) -> None:
        """See `Store.add_retention_check`."""
        with self._lock, translate_errors(self.path):
            row = (self.project, check.touched, check.lived, check.clock)
            self._db.execute(ADD_RETENTION_CHECK, row)

    def size(self) -> int:
        """See `Store.size`."""
        row = self._fetch_one(SIZE, ())
        return row[0] if row else 0

    def copy_to(self, path: str) -> int:
        """Write a consistent copy of the whole file to a new file; return its size in bytes.

        Raises:
            StoreRefused: the file exists already, or cannot be created.
        """
        from holdfast.stores.backup import copy_to  # late: copying is rare

        with self._lock, translate_errors(path):
            return copy_to(self._db, path)

    def search(
        self, terms: "Sequence[Term]", *, sessions: Sequence[str] | None = None, limit: int = 100
    ) -> "PassagePool":
        """See `Store.search`."""
        from holdfast.core.index.terms import PassagePool
        from holdfast.stores import index  # late: only a search needs it

        self.index(sessions)
        with self._lock, translate_errors(self.path):
            # One read transaction: other processes may add and index sessions meanwhile.
            self._db.execute("begin")
            try:
                names, whole = self._sessions_in_scope(sessions)
                scope = index.Scope(tuple(names), whole=whole)
                pool = index.search(self._db, terms, scope, limit=limit)
                places = index.locate(self._db, pool.spots, names.__getitem__)
            finally:
                self._roll_back()
        return PassagePool(tuple(places), pool.rarity)

    def _sessions_in_scope(self, sessions: Sequence[str] | None) -> tuple[dict[int, str], bool]:
        """Return the wanted sessions of the project by key, and whether the file has no others."""
        rows = list(self._fetch_each(KEYS, (), _unchanged))
        wanted = None if sessions is None else set(sessions)
        names: dict[int, str] = {
            key: name
            for key, name, project in rows
            if project == self.project and (wanted is None or name in wanted)
        }
        return names, len(names) == len(rows)

    def index(
        self, sessions: Sequence[str] | None = None, *, progress: Progress | None = None
    ) -> None:
        """See `Store.index`."""
        keys = self._sessions_in_scope(sessions)[0]
        while not self._index_new_entries(keys, progress or (lambda _, __: None)):
            pass  # another process indexed some of it as well: look for what is still missing

    def _index_new_entries(self, keys: Container[int], progress: Progress) -> bool:
        """Index the entries that are not indexed; return False if another process did some."""
        from holdfast.core.index.passages import INDEX_VERSION
        from holdfast.stores import index

        unindexed = list(self._fetch_each(UNINDEXED, (INDEX_VERSION,), _unchanged))
        missing_by_key = {key: missing for key, missing in unindexed if key in keys}
        total, done, ours = sum(missing_by_key.values()), 0, True
        batch: list[tuple[int, IndexRows]] = []
        for key in sorted(missing_by_key):
            for rows in self._rows_to_index(key):
                batch.append((key, rows))
                if sum(rows.size for _, rows in batch) < index.BATCH_CHARS:
                    continue
                ours = self._add_to_index(batch) and ours
                done += sum(rows.after.seq - rows.before.seq for _, rows in batch)
                batch.clear()
                progress(min(done, total), total)
        if done:
            progress(total, total)
        return self._add_to_index(batch) and ours

    def _rows_to_index(self, key: int) -> "Iterator[IndexRows]":
        """Yield batches of index rows for the entries of a session that are not indexed."""
        from holdfast.stores import index

        with self._lock, translate_errors(self.path):
            mark = index.read_mark(self._db, key)
        entry = partial(self._entry, key)
        while entries := list(
            self._fetch_each(READ_SOME, (key, mark.seq, index.BATCH_ENTRIES), entry)
        ):
            rows = index.prepare_rows(mark, entries)
            mark = rows.after
            yield rows

    def _add_to_index(self, batch: "Sequence[tuple[int, IndexRows]]") -> bool:
        """Write a batch; return False if another process has written some of it meanwhile."""
        from holdfast.stores import index

        if not batch:
            return True
        with self._lock, translate_errors(self.path), self._transaction():
            new = [index.write(self._db, key, rows) for key, rows in batch]
        return all(new)

    def drop_index(self) -> None:
        """Replace a damaged index by an empty one; the next search fills it."""
        from holdfast.stores import index

        with self._lock, translate_errors(self.path), self._transaction():
            index.recreate(self._db)

    def stores_of_all_projects(self) -> "Iterator[SqliteStore]":
        """See `Store.stores_of_all_projects`."""
        for project in self.projects():
            if project == self.project:
                yield self
                continue
            with SqliteStore(self.path, project=project) as other:
                yield other

    def check(self) -> Iterator[Damage]:
        """See `Store.check`."""
        from holdfast.stores.fsck import check_file  # late: only `fsck` needs it

        return check_file(self, self._db)

    def repair(self) -> list[str]:
        """Rebuild damaged caches and the index, and return what was done. Content stays as is."""
        from holdfast.stores.fsck import repair  # late: only `fsck` needs it

        return repair(self)

    def close(self) -> None:
        """See `Store.close`."""
        with self._lock:
            self._db.close()

    def _decode_head(self, data: bytes) -> Head:
        packed = packing.verify_checksum(data) if data else None
        if data and packed is None:
            raise StoreDamaged(self.path, "the head of a session cannot be read")
        return msgspec.msgpack.decode(packed, type=Head) if packed else Head()

    def _session_key(self, session: str) -> int:
        row = self._fetch_one(FIND, (self.project, session))
        return row[0] if row else 0

    def _fetch_one(self, sql: str, values: Row) -> Row | None:
        with self._lock, translate_errors(self.path):
            return self._db.execute(sql, values).fetchone()

    def _fetch_each(self, sql: str, values: Row, make: Callable[[Row], T]) -> Iterator[T]:
        """Fetch all rows, then yield them converted: a slow reader keeps no transaction open."""
        with self._lock, translate_errors(self.path):
            rows = self._db.execute(sql, values).fetchall()
        for row in rows:
            yield make(row)


def entry_row(key: int, entry: Entry, blobs: dict[bytes, bytes]) -> Row:
    """Return the table row of an entry; large content is added to `blobs`."""
    stored, body = _place_content(pack(entry.body), blobs)
    columns = (
        entry.seq,
        bytes.fromhex(entry.id),
        bytes.fromhex(entry.parent) if entry.parent else None,
        entry.lane,
        entry.message,
        entry.part,
        entry.fork,
        entry.group,
        entry.at,
        int(isinstance(entry.body, Derived)),
        stored,
        body,
    )
    return (key, *columns, packing.checksum(*columns))


def sighting_row(
    key: int, sighting: Sighting, blobs: dict[bytes, bytes], bodies: Sequence[Body] = ()
) -> Row:
    """Return the table row of a sighting, with references to `bodies` if that is shorter."""
    encoded = encode_references(sighting.raw, bodies) if bodies else None
    stored, raw = _place_content(sighting.raw if encoded is None else encoded, blobs)
    stored |= 0 if encoded is None else packing.REFERENCES
    columns = (
        sighting.source,
        sighting.pos,
        sighting.version,
        sighting.first,
        sighting.parts,
        sighting.lead,
        stored,
        raw,
    )
    return (key, *columns, packing.checksum(*columns))


def _place_content(data: bytes, blobs: dict[bytes, bytes]) -> tuple[int, bytes]:
    """Return how content is stored and the value for its row; large content goes to `blobs`."""
    if len(data) <= packing.MAX_INLINE_BYTES:
        return packing.pack_inline(data)
    name = packing.digest(data)
    blobs[name] = data
    return packing.BY_HASH, name


def group_runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Group sorted numbers into runs (first, last), so that one query reads a whole run."""
    start = 0
    while start < len(numbers):
        end = start
        while end + 1 < len(numbers) and numbers[end + 1] == numbers[end] + 1:
            end += 1
        yield numbers[start], numbers[end]
        start = end + 1


def _unchanged(row: Row) -> Row:
    return row


@contextmanager
def translate_errors(path: str) -> Generator[None]:
    """Translate SQLite errors into `HoldfastError`s."""
    try:
        yield
    except apsw.BusyError:
        raise StoreBusy(path) from None
    except (apsw.FullError, apsw.IOError) as error:
        raise StoreFull(path, str(error)) from None
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, UnicodeDecodeError) as error:
        raise StoreDamaged(path, str(error)) from None
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise StoreRefused(path, str(error)) from None
    except apsw.ConnectionClosedError:
        raise StoreRefused(path, "the session was closed; open it again") from None
