"""The embedded store: one SQLite file inside the project.

Settings are a contract: see `engine.py`. Every write is one `begin immediate` transaction; no
read transaction outlives the call that opened it.
"""

from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Lock, RLock
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

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
    pack,
    unpack,
)
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.snapshot import Kept
from holdfast.errors import StoreBusy, StoreDamaged, StoreFull, StoreRefused
from holdfast.stores import packing
from holdfast.stores.blobs import Contents
from holdfast.stores.connection import (
    Row,
    close_to_others,
    connect,
    make_durable,
    prepare,
    refuse_log,
)
from holdfast.stores.encoding import Order, is_long, is_spanned, named, spanned, unweave, weave
from holdfast.stores.migrations import migrate, refuse_foreign
from holdfast.stores.store import Build, Damage, Erasure, Listed, Look, Progress, Tombstone

if TYPE_CHECKING:
    from holdfast.core.index.passages import Rows
    from holdfast.core.index.terms import Pooled, Term

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
COUNTS = "select data from counts where session = ? and vocabulary = ? order by last"
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
LOOKS = "select touched, lived, clock from looks where project = ? order by rowid"
ADD_LOOK = "insert into looks values (?, ?, ?, ?)"
SIZE = """
select (page_count - freelist_count) * page_size
from pragma_page_count, pragma_freelist_count, pragma_page_size
"""
PROJECTS = "select distinct project from sessions order by project"
KEYS = "select key, name, project from sessions"
BEHIND = """
select * from
    (select s.key, (select coalesce(max(seq), 0) from entries where session = s.key)
        - coalesce(i.seq, 0) as missing
     from sessions as s left join indexed as i on i.session = s.key and i.version = ?)
where missing > 0
"""
LIST = "select name, touched, head from sessions where project = ? order by touched desc"

T = TypeVar("T")

OPENING = Lock()


class SqliteStore:
    """Keeps the sessions of one project in a file."""

    def __init__(self, path: str, *, project: str = "", engine: str | None = None) -> None:
        """Open a store, making it when it is not there.

        Raises:
            StoreRefused: the place or the engine is not safe.
            StoreDamaged: the file is no longer a database.
        """
        self.project = project
        self._lock = RLock()
        self._orders: dict[tuple[int, str], Order] = {}
        # One at a time: closing the file that one thread makes drops the locks of another's.
        with OPENING:
            self.path = prepare(path)
            with translated(self.path):
                self._db = connect(self.path)
                self._unsafe = self._made_ready(engine)
            self.contents = Contents(self._db, self.path)

    def __enter__(self) -> "SqliteStore":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _made_ready(self, engine: str | None) -> bool:
        try:
            refuse_foreign(self._db, self.path)
            close_to_others(self.path)
            unsafe = make_durable(self._db, self.path, engine)
            migrate(self._db, self.path)
        except BaseException:
            self._db.close()
            raise
        return unsafe

    def append(self, session: str, build: Build) -> Batch:
        """See `Store.append`."""
        with self._lock, translated(self.path):
            with self._writing():
                if self._unsafe:
                    refuse_log(self._db, self.path)
                key, head = self._stand(session)
                batch = build(head)
                self.write(key, batch)
            return batch

    @contextmanager
    def _writing(self) -> Generator[None]:
        """A transaction: all that is written in it is there afterwards, or nothing is."""
        self._db.execute("begin immediate")
        try:
            yield
            self._db.execute("commit")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        # A full disk makes SQLite roll back by itself; a second one would hide the first error.
        if self._db.in_transaction:
            self._db.execute("rollback")

    def _stand(self, session: str) -> tuple[int, Head]:
        found = self._db.execute(FIND, (self.project, session)).fetchone()
        if found is not None:
            return found[0], self._decode_head(found[1])
        made = self._db.execute(MAKE, (self.project, session)).fetchone()
        assert made is not None
        return made[0], Head()

    def write(self, key: int, batch: Batch, held: dict[bytes, bytes] | None = None) -> None:
        """Write a batch, and content that rows refer to already; inside a transaction."""
        blobs = held or {}
        rows = [entry_row(key, self.shorter(key, entry), blobs) for entry in batch.entries]
        bases = self._bases(key, batch.entries, rows, blobs)
        self._db.executemany(ADD_ENTRY, rows)
        told = self._told(key, batch)
        self._db.executemany(
            ADD_SIGHTING, [sighting_row(key, seen, blobs, told(seen)) for seen in batch.sightings]
        )
        self.contents.write(self.project, blobs, bases)
        if batch.counts:
            last = batch.counts[-1][0]
            data = packing.sealed(msgspec.msgpack.encode(batch.counts))
            self._db.execute(ADD_COUNTS, (key, batch.head.vocabulary, last, data))
        head = packing.sealed(msgspec.msgpack.encode(batch.head))
        if batch.entries or batch.sightings:
            self._db.execute(TOUCH, (head, self.project, key))
        else:
            self._db.execute(SET_HEAD, (head, key))

    def _told(self, key: int, batch: Batch) -> Callable[[Sighting], Sequence[Body]]:
        """What the entries of a message say: those of the batch, else those that are there."""
        new = {entry.seq: entry.body for entry in batch.entries}

        def told(seen: Sighting) -> Sequence[Body]:
            numbers = range(seen.first, seen.first + seen.parts)
            if all(number in new for number in numbers):
                return [new[number] for number in numbers]
            try:
                return self._bodies(key, seen.first, seen.parts)
            except StoreDamaged:
                return ()  # the bytes that came are kept as they are, whatever was lost before

        return told

    def _bodies(self, key: int, first: int, parts: int) -> list[Body]:
        """What the entries of a message say."""
        rows = self._db.execute(BODIES, (key, first, first + parts)).fetchall()
        return [unpack(self._take_up(stored, body)) for stored, body in rows]

    def _bases(
        self, key: int, entries: Sequence[Entry], rows: Sequence[Row], blobs: dict[bytes, bytes]
    ) -> dict[bytes, bytes]:
        """Which of the contents are told against an older one."""
        bases: dict[bytes, bytes] = {}
        for entry, row in zip(entries, rows, strict=True):
            stored, name = row[-3:-1]
            if stored == packing.BY_HASH and isinstance(entry.body, Derived):
                older = self.contents.older(self.project, key, entry.lane, blobs[name])
                if older is not None:
                    bases[name] = older
        return bases

    def _take_up(self, stored: int, data: bytes) -> bytes:
        if stored == packing.BY_HASH:
            return self.contents.take_up(self.project, data)
        try:
            return packing.from_row(stored, data)
        except ValueError as error:
            raise StoreDamaged(self.path, f"a row is not what it was: {error}") from None

    def shorter(self, key: int, entry: Entry) -> Entry:
        """An entry as it is laid down: what hides very much tells it in spans."""
        body = entry.body
        if not isinstance(body, Compressed) or not is_long(body):
            return entry
        return replace(entry, body=spanned(body, self._order(key, entry.lane)))

    def _whole(self, key: int, lane: str, body: Body) -> Body:
        """The body that was given, from what was laid down of it."""
        if not isinstance(body, Compressed) or not is_spanned(body):
            return body
        return named(body, self._order(key, lane))

    def _order(self, key: int, lane: str) -> Order:
        """The entries of a lane in their order; what is known already is not read again."""
        with self._lock, translated(self.path):
            order = self._orders.setdefault((key, lane), Order())
            known = self._db.execute(NAME_AT, (key, order.last)).fetchone()
            if order.last and (known is None or known[0].hex() != order.names[-1]):
                order = self._orders[key, lane] = Order()  # it was erased meanwhile
            for seq, name in self._db.execute(NAMES_OF_LANE, (key, lane, order.last)):
                order.add(seq, name.hex())
        return order

    def _entry(self, key: int, row: Row) -> Entry:
        seq, name, parent, lane, message, part, fork, group, at, _, stored, body, total = row
        if total != packing.row_sum(*row[:-1]):
            raise StoreDamaged(self.path, f"the row of entry {seq} is not what it was")
        return Entry(
            id=name.hex(),
            parent=parent.hex() if parent else None,
            body=self._whole(key, lane, unpack(self._take_up(stored, body))),
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
        if total != packing.row_sum(*row[:-1]):
            raise StoreDamaged(self.path, f"the row of piece {pos + 1} is not what it was")
        given = self._take_up(stored & ~packing.WOVEN, raw)
        if stored & packing.WOVEN:
            given = self._unwoven(given, self._bodies(key, first, parts))
        return Sighting(source, pos, version, given, lead, first, parts)

    def _unwoven(self, data: bytes, bodies: Sequence[Body]) -> bytes:
        try:
            return unweave(data, bodies)
        except ValueError as error:
            raise StoreDamaged(self.path, f"a message is not what it was: {error}") from None

    def head(self, session: str) -> Head | None:
        """See `Store.head`."""
        found = self._one(FIND, (self.project, session))
        return self._decode_head(found[1]) if found else None

    def read(
        self, session: str, *, since: int = 0, numbers: Iterable[int] | None = None
    ) -> Iterator[Entry]:
        """See `Store.read`."""
        key = self._key(session)
        if numbers is None:
            yield from self._each(READ_SINCE, (key, since), partial(self._entry, key))
            return
        for first, last in runs(sorted(set(numbers))):
            yield from self._each(READ_RUN, (key, first, last), partial(self._entry, key))

    def events(self, session: str, *, since: int = 0) -> Iterator[Entry]:
        """See `Store.events`."""
        key = self._key(session)
        return self._each(EVENTS, (key, since), partial(self._entry, key))

    def names(self, session: str, ids: Iterable[EntryId] | None = None) -> dict[EntryId, int]:
        """See `Store.names`."""
        key = self._key(session)
        if ids is None:
            return dict(self._each(NAMES, (key,), lambda row: (row[0].hex(), row[1])))
        found = ((name, self._one(NAME, (key, bytes.fromhex(name)))) for name in ids)
        return {name: row[0] for name, row in found if row}

    def counts(self, session: str, vocabulary: str) -> dict[int, int]:
        """See `Store.counts`."""
        pairs: dict[int, int] = {}
        for row in self._each(COUNTS, (self._key(session), vocabulary), _as_it_is):
            data = packing.unsealed(row[0])
            if data is not None:
                pairs.update(msgspec.msgpack.decode(data, type=list[tuple[int, int]]))
        return pairs

    def sightings(self, session: str, source: str = "") -> Iterator[Sighting]:
        """See `Store.sightings`."""
        found = self._one(FIND, (self.project, session))
        if found is None:
            return iter(())
        document = self._decode_head(found[1]).documents.get(source)
        length = document.length if document else 0
        return self._each(NEWEST, (found[0], source, length), partial(self._sighting, found[0]))

    def arrivals(self, session: str, firsts: Iterable[int]) -> dict[int, Sighting]:
        """See `Store.arrivals`."""
        key = self._key(session)
        found = ((first, self._one(NEWEST_OF_FIRST, (key, first))) for first in firsts)
        return {first: self._sighting(key, row) for first, row in found if row}

    def window(self, session: str, lane: str = "") -> Kept | None:
        """See `Store.window`."""
        found = self._one(WINDOW, (self._key(session), lane))
        data = packing.unsealed(found[0]) if found else None
        return msgspec.msgpack.decode(data, type=Kept) if data else None

    def keep(self, session: str, window: Kept) -> None:
        """See `Store.keep`."""
        key = self._key(session)
        if not key:
            return
        with self._lock, translated(self.path):
            data = packing.sealed(msgspec.msgpack.encode(window))
            self._db.execute(ADD_WINDOW, (key, window.lane, data))

    def reading(self, session: str, name: str) -> bytes | None:
        """See `Store.reading`."""
        found = self._one(READING, (self._key(session), name))
        return packing.unsealed(found[0]) if found else None

    def keep_reading(self, session: str, name: str, head: Head, data: bytes) -> None:
        """See `Store.keep_reading`."""
        with self._lock, translated(self.path), self._writing():
            found = self._db.execute(FIND, (self.project, session)).fetchone()
            # Whoever erased something in the meantime moved the session on.
            if found is not None and self._decode_head(found[1]) == head:
                self._db.execute(ADD_READING, (found[0], name, packing.sealed(data)))

    def forget_readings(self, session: str) -> None:
        """Drop what was read off a session: it is made again when it is needed."""
        with self._lock, translated(self.path):
            self._db.execute("delete from readings where session = ?", (self._key(session),))

    def projects(self) -> list[str]:
        """The projects that have sessions in this file."""
        return list(self._each(PROJECTS, (), lambda row: str(row[0])))

    def sessions(self) -> list[Listed]:
        """See `Store.sessions`."""
        rows = self._each(LIST, (self.project,), _as_it_is)
        return [Listed(name, self._decode_head(head), touched) for name, touched, head in rows]

    def pieces(self, session: str) -> Iterator[Sighting]:
        """See `Store.pieces`."""
        key = self._key(session)
        return self._each(PIECES, (key,), partial(self._sighting, key))

    def erase(self, session: str, erasure: Erasure) -> None:
        """See `Store.erase`."""
        from holdfast.stores.erase import erase_rows, scrub  # late: few ever erase

        with self._lock, translated(self.path):
            # What is deleted is overwritten, and not only left for others to write over.
            self._db.pragma("secure_delete", "on")
            with self._writing():
                erase_rows(self, self._db, session, erasure)
            scrub(self._db, self.path)

    def tombstones(self, session: str | None = None, ref: str = "") -> list[Tombstone]:
        """See `Store.tombstones`."""
        from holdfast.stores.erase import tombstones  # late: asked only for what is missing

        with self._lock, translated(self.path):
            return list(tombstones(self._db, self.project, session, ref))

    def looks(self) -> list[Look]:
        """See `Store.looks`."""
        return list(self._each(LOOKS, (self.project,), lambda row: Look(*row)))

    def looked(self, look: Look) -> None:
        """See `Store.looked`."""
        with self._lock, translated(self.path):
            row = (self.project, look.touched, look.lived, look.clock)
            self._db.execute(ADD_LOOK, row)

    def size(self) -> int:
        """See `Store.size`."""
        found = self._one(SIZE, ())
        return found[0] if found else 0

    def copy_to(self, path: str) -> int:
        """Write a copy of the whole file, as it is at one moment; returns its bytes.

        Raises:
            StoreRefused: there is such a file already, or it cannot be made.
        """
        from holdfast.stores.backup import copy_to  # late: few ever copy

        with self._lock, translated(path):
            return copy_to(self._db, path)

    def search(
        self, terms: "Sequence[Term]", *, sessions: Sequence[str] | None = None, limit: int = 100
    ) -> "Pooled":
        """See `Store.search`."""
        from holdfast.core.index.terms import Pooled
        from holdfast.stores import index  # late: only whoever searches pays for it

        self.index(sessions)
        with self._lock, translated(self.path):
            # One look at one moment: others may add sessions and index them meanwhile.
            self._db.execute("begin")
            try:
                names, whole = self._scope(sessions)
                scope = index.Scope(tuple(names), whole=whole)
                pool = index.search(self._db, terms, scope, limit=limit)
                found = index.located(self._db, pool.spots, names.__getitem__)
            finally:
                self._roll_back()
        return Pooled(tuple(found), pool.rarity)

    def _scope(self, sessions: Sequence[str] | None) -> tuple[dict[int, str], bool]:
        """The sessions that are meant, by number, and whether those are all there are."""
        rows = list(self._each(KEYS, (), _as_it_is))
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
        keys = self._scope(sessions)[0]
        while not self._caught_up(keys, progress or (lambda _, __: None)):
            pass  # Another process was at it too: what it has not done yet is looked at again.

    def _caught_up(self, keys: Container[int], progress: Progress) -> bool:
        """Index what was appended since the last search; whether all of it was ours to do."""
        from holdfast.core.index.passages import VERSION
        from holdfast.stores import index

        listed = list(self._each(BEHIND, (VERSION,), _as_it_is))
        behind = {key: missing for key, missing in listed if key in keys}
        total, done, ours = sum(behind.values()), 0, True
        batch: list[tuple[int, Rows]] = []
        for key in sorted(behind):
            for rows in self._unindexed(key):
                batch.append((key, rows))
                if sum(rows.size for _, rows in batch) < index.BATCH_BYTES:
                    continue
                ours = self._add_to_index(batch) and ours
                done += sum(rows.after.seq - rows.before.seq for _, rows in batch)
                batch.clear()
                progress(min(done, total), total)
        if done:
            progress(total, total)
        return self._add_to_index(batch) and ours

    def _unindexed(self, key: int) -> "Iterator[Rows]":
        """What entries of a session add to the index, from where it stands, some at a time."""
        from holdfast.stores import index

        with self._lock, translated(self.path):
            mark = index.mark_of(self._db, key)
        entry = partial(self._entry, key)
        while some := list(self._each(READ_SOME, (key, mark.seq, index.BATCH), entry)):
            rows = index.prepared(mark, some)
            mark = rows.after
            yield rows

    def _add_to_index(self, batch: "Sequence[tuple[int, Rows]]") -> bool:
        """Write a batch; whether nobody had written any of it meanwhile."""
        from holdfast.stores import index

        if not batch:
            return True
        with self._lock, translated(self.path), self._writing():
            new = [index.write(self._db, key, rows) for key, rows in batch]
        return all(new)

    def forget_index(self, session: str) -> None:
        """See `Store.forget_index`."""
        from holdfast.stores import index

        key = self._key(session)
        with self._lock, translated(self.path), self._writing():
            index.forget(self._db, key)
            self._db.execute(index.TIDY)

    def drop_index(self) -> None:
        """Make an empty index of one that cannot be read; the next search fills it."""
        from holdfast.stores import index

        with self._lock, translated(self.path), self._writing():
            index.drop(self._db)

    def shelves(self) -> "Iterator[SqliteStore]":
        """See `Store.shelves`."""
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
        """Rebuild what can be rebuilt, and say what was done. Content is never touched."""
        from holdfast.stores.fsck import repair  # late: only `fsck` needs it

        return repair(self)

    def close(self) -> None:
        """See `Store.close`."""
        with self._lock:
            self._db.close()

    def _decode_head(self, data: bytes) -> Head:
        kept = packing.unsealed(data) if data else None
        if data and kept is None:
            raise StoreDamaged(self.path, "where a session stands cannot be read")
        return msgspec.msgpack.decode(kept, type=Head) if kept else Head()

    def _key(self, session: str) -> int:
        found = self._one(FIND, (self.project, session))
        return found[0] if found else 0

    def _one(self, sql: str, values: Row) -> Row | None:
        with self._lock, translated(self.path):
            return self._db.execute(sql, values).fetchone()

    def _each(self, sql: str, values: Row, make: Callable[[Row], T]) -> Iterator[T]:
        """Rows, all fetched before the first is given: a slow reader holds no transaction open."""
        with self._lock, translated(self.path):
            rows = self._db.execute(sql, values).fetchall()
        for row in rows:
            yield make(row)


def entry_row(key: int, entry: Entry, blobs: dict[bytes, bytes]) -> Row:
    """An entry as its table has it; what is large goes among the blobs."""
    stored, body = _laid_down(pack(entry.body), blobs)
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
    return (key, *columns, packing.row_sum(*columns))


def sighting_row(
    key: int, seen: Sighting, blobs: dict[bytes, bytes], bodies: Sequence[Body] = ()
) -> Row:
    """A sighting as its table has it: told by the bodies of its entries where that is shorter."""
    woven = weave(seen.raw, bodies) if bodies else None
    stored, raw = _laid_down(seen.raw if woven is None else woven, blobs)
    stored |= 0 if woven is None else packing.WOVEN
    columns = (
        seen.source,
        seen.pos,
        seen.version,
        seen.first,
        seen.parts,
        seen.lead,
        stored,
        raw,
    )
    return (key, *columns, packing.row_sum(*columns))


def _laid_down(data: bytes, blobs: dict[bytes, bytes]) -> tuple[int, bytes]:
    """Where content goes: into its row, or among the blobs under its name."""
    if len(data) <= packing.INLINE:
        return packing.in_row(data)
    name = packing.digest(data)
    blobs[name] = data
    return packing.BY_HASH, name


def runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Numbers in their order as runs, from the first to the last of each: one question for many."""
    at = 0
    while at < len(numbers):
        end = at
        while end + 1 < len(numbers) and numbers[end + 1] == numbers[end] + 1:
            end += 1
        yield numbers[at], numbers[end]
        at = end + 1


def _as_it_is(row: Row) -> Row:
    return row


@contextmanager
def translated(path: str) -> Generator[None]:
    """Let what SQLite complains of be said in our words."""
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
