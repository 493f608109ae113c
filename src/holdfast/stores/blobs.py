"""Read, write and delete large content in the `blobs` table of a SQLite store.

Content too large for a row is compressed and stored under its hash. A summary is stored with every
compression and checkpoint and changes little, so it is stored as a delta against an older version:
stored whole each time, the store would grow with the square of a session's length.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from holdfast.errors import StoreDamaged
from holdfast.stores import packing
from holdfast.stores.connection import Database, Row

ADD = "insert or ignore into blobs values (?, ?, ?, ?)"
ADD_LARGE = "insert into blobs values (?, ?, zeroblob(?), ?)"
HAS = "select 1 from blobs where project = ? and hash = ?"
GET = "select data from blobs where project = ? and hash = ?"
BASE = "select base from blobs where project = ? and hash = ?"
DELTAS_OF = "select hash from blobs where project = ? and base = ?"
DROP = "delete from blobs where project = ? and hash = ?"
REPLACE_DELTA = "update blobs set data = ?, base = null where project = ? and hash = ?"
NEWEST_DERIVED = """
select body from entries where session = ? and lane = ? and derived = 1 and stored = 1
order by seq desc limit 4
"""
CHUNK_BYTES = 1024 * 1024
"""Compressed content of this size or more is written in chunks of this size."""
MIN_DELTA_BYTES = 16 * 1024
"""Smallest content that is stored as a delta."""
MAX_DELTA_DEPTH = 16
"""Longest chain of deltas; the next version is stored whole, so that reading stays quick."""
KIND_PREFIX_BYTES = 16
"""Bytes at the start of an encoded body that identify its type."""
MAX_CACHED = 4
"""Contents kept in memory: versions are read in order, those of two types in turn."""


class BlobTable:
    """The `blobs` table of a store file."""

    def __init__(self, db: Database, path: str) -> None:
        self._db, self._path = db, path
        self._cached: tuple[tuple[bytes, bytes], ...] = ()
        self._starts: dict[bytes, bytes] = {}

    def write(
        self, project: str, blobs: Mapping[bytes, bytes], bases: Mapping[bytes, bytes]
    ) -> None:
        """Write contents under their names, those in `bases` as deltas; inside a transaction."""
        rows = self._rows(project, blobs, bases)
        self._db.executemany(ADD, [row for row in rows if len(row[2]) < CHUNK_BYTES])
        for row in rows:
            if len(row[2]) >= CHUNK_BYTES:
                self._write_large(*row)

    def _rows(
        self, project: str, blobs: Mapping[bytes, bytes], bases: Mapping[bytes, bytes]
    ) -> list[Row]:
        # Large content that exists already is not compressed again; for small content the query
        # would cost more than compressing.
        new = [n for n, d in blobs.items() if len(d) < CHUNK_BYTES or not self._has(project, n)]
        without_base = [name for name in new if name not in bases]
        packed = dict(
            zip(
                without_base,
                packing.compress_all([blobs[name] for name in without_base]),
                strict=True,
            )
        )
        for name in new:
            if name in bases:
                base = self.read(project, bases[name])
                packed[name] = packing.compress_delta(blobs[name], base)
        return [(project, name, packed[name], bases.get(name)) for name in new]

    def _write_large(self, project: str, name: bytes, data: bytes, base: bytes | None) -> None:
        """Write content in chunks: in one call, SQLite would hold a second copy in memory."""
        self._db.execute(ADD_LARGE, (project, name, len(data), base))
        blob = self._db.blob_open("main", "blobs", "data", self._db.last_insert_rowid(), True)
        try:
            for start in range(0, len(data), CHUNK_BYTES):
                blob.write(data[start : start + CHUNK_BYTES])
        finally:
            blob.close()

    def _has(self, project: str, name: bytes) -> bool:
        return self._db.execute(HAS, (project, name)).fetchone() is not None

    def find_base(self, project: str, key: int, lane: str, data: bytes) -> bytes | None:
        """Return the name of an older body of the same type to store `data` against, or None."""
        if len(data) < MIN_DELTA_BYTES:
            return None
        for (name,) in self._db.execute(NEWEST_DERIVED, (key, lane)).fetchall():
            if self._depth(project, name) < MAX_DELTA_DEPTH and self._is_similar(
                project, name, data
            ):
                return name if name != packing.digest(data) else None
        return None

    def _is_similar(self, project: str, name: bytes, data: bytes) -> bool:
        try:
            candidate = self.read(project, name)
        except StoreDamaged:
            return False  # the new content is then stored whole and needs no damaged base
        return (
            len(candidate) >= MIN_DELTA_BYTES
            and candidate[:KIND_PREFIX_BYTES] == data[:KIND_PREFIX_BYTES]
        )

    def _depth(self, project: str, name: bytes) -> int:
        return sum(1 for _ in self._base_chain(project, name))

    def _base_chain(self, project: str, name: bytes) -> Iterator[bytes]:
        """Yield the names of the versions that a delta depends on, newest first."""
        for _ in range(MAX_DELTA_DEPTH):
            row = self._db.execute(BASE, (project, name)).fetchone()
            if row is None or row[0] is None:
                return
            name = row[0]
            yield name

    def read(self, project: str, name: bytes) -> bytes:
        """Return the content that is stored under a name.

        Raises:
            StoreDamaged: the content is missing, or does not match its name.
        """
        cached = self._read_cached(name)
        if cached:
            return cached
        chain = list(self._base_chain(project, name))
        content = self._read_from_disk(project, name, chain)
        if chain or len(content) >= MIN_DELTA_BYTES:
            # A single assignment, so that other threads see either the old or the new tuple.
            self._cached = ((name, content), *self._cached[: MAX_CACHED - 1])
        return content

    def start(self, project: str, name: bytes) -> bytes:
        """Return the first bytes of a content; a delta has those of the content it is based on."""
        whole = [name, *self._base_chain(project, name)][-1]
        if whole not in self._starts:
            self._starts[whole] = self._decompress(project, whole, b"")[:KIND_PREFIX_BYTES]
        return self._starts[whole]

    def _read_cached(self, name: bytes) -> bytes:
        return next((content for cached_name, content in self._cached if cached_name == name), b"")

    def _read_from_disk(self, project: str, name: bytes, chain: Sequence[bytes]) -> bytes:
        base = b""
        for base_name in reversed(chain):
            base = self._read_cached(base_name) or self._decompress(project, base_name, base)
        content = self._decompress(project, name, base)
        if packing.digest(content) != name:
            raise StoreDamaged(self._path, f"content {name.hex()[:12]} does not match its hash")
        return content

    def _decompress(self, project: str, name: bytes, base: bytes) -> bytes:
        row = self._db.execute(GET, (project, name)).fetchone()
        if row is None:
            raise StoreDamaged(self._path, f"content {name.hex()[:12]} is missing")
        try:
            return packing.decompress(row[0], base)
        except ValueError:
            return b""

    def clear_cached(self) -> None:
        """Forget the contents kept in memory, so that the next reads come from the disk."""
        self._cached = ()
        self._starts = {}

    def is_whole(self, project: str, name: bytes) -> bool:
        """Return whether the content on disk matches its name, without using the memory cache."""
        try:
            self._read_from_disk(project, name, list(self._base_chain(project, name)))
        except StoreDamaged:
            return False
        return True

    def delete(self, project: str, names: Collection[bytes]) -> None:
        """Delete contents; deltas that depend on them are stored whole first."""
        for name in names:
            for (dependent,) in self._db.execute(DELTAS_OF, (project, name)).fetchall():
                if dependent not in names:
                    data = packing.compress_all([self.read(project, dependent)])[0]
                    self._db.execute(REPLACE_DELTA, (data, project, dependent))
        self._db.executemany(DROP, [(project, name) for name in names])
        self.clear_cached()
