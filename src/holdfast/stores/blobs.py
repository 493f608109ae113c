"""What is too large for a row: compressed under its hash, some of it told against an older version.

A session's summary is carried by every compression and every checkpoint, and most of it is what it
was before. Laid down whole each time, a store would grow with the square of a session's length.
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
TOLD_AFTER = "select hash from blobs where project = ? and base = ?"
DROP = "delete from blobs where project = ? and hash = ?"
LAY_WHOLE = "update blobs set data = ?, base = null where project = ? and hash = ?"
OLDER = """
select body from entries where session = ? and lane = ? and derived = 1 and stored = 1
order by seq desc limit 4
"""
LARGE = 1024 * 1024
"""Bytes of squeezed content from which on it is written in pieces."""
WORTH = 16 * 1024
"""Bytes from which on an older version is looked for."""
DEEPEST = 16
"""Versions told one after the other; then one is whole again, so that reading stays quick."""
KIND = 16
"""Bytes at the beginning of a body that tell its kind."""
HELD = 4
"""Contents that are remembered: versions are read in their order, two kinds in turn."""


class Contents:
    """The blobs of a store file."""

    def __init__(self, db: Database, path: str) -> None:
        self._db, self._path = db, path
        self._held: tuple[tuple[bytes, bytes], ...] = ()

    def write(
        self, project: str, blobs: Mapping[bytes, bytes], bases: Mapping[bytes, bytes]
    ) -> None:
        """Lay contents down under their names; inside a transaction."""
        rows = self._rows(project, blobs, bases)
        self._db.executemany(ADD, [row for row in rows if len(row[2]) < LARGE])
        for row in rows:
            if len(row[2]) >= LARGE:
                self._write_large(*row)

    def _rows(
        self, project: str, blobs: Mapping[bytes, bytes], bases: Mapping[bytes, bytes]
    ) -> list[Row]:
        # Large content that is there already is not squeezed again; asking for small costs more.
        new = [n for n, d in blobs.items() if len(d) < LARGE or not self._has(project, n)]
        alone = [name for name in new if name not in bases]
        laid = dict(zip(alone, packing.squeezed([blobs[name] for name in alone]), strict=True))
        for name in new:
            if name in bases:
                older = self.take_up(project, bases[name])
                laid[name] = packing.squeezed_after(blobs[name], older)
        return [(project, name, laid[name], bases.get(name)) for name in new]

    def _write_large(self, project: str, name: bytes, data: bytes, base: bytes | None) -> None:
        """Write content in pieces: in one, the engine would hold a second copy of it."""
        self._db.execute(ADD_LARGE, (project, name, len(data), base))
        blob = self._db.blob_open("main", "blobs", "data", self._db.last_insert_rowid(), True)
        try:
            for start in range(0, len(data), LARGE):
                blob.write(data[start : start + LARGE])
        finally:
            blob.close()

    def _has(self, project: str, name: bytes) -> bool:
        return self._db.execute(HAS, (project, name)).fetchone() is not None

    def older(self, project: str, key: int, lane: str, data: bytes) -> bytes | None:
        """The name of an older version of a derived body, if it is worth telling it against one."""
        if len(data) < WORTH:
            return None
        for (name,) in self._db.execute(OLDER, (key, lane)).fetchall():
            if self._depth(project, name) < DEEPEST and self._is_kin(project, name, data):
                return name if name != packing.digest(data) else None
        return None

    def _is_kin(self, project: str, name: bytes, data: bytes) -> bool:
        try:
            older = self.take_up(project, name)
        except StoreDamaged:
            return False  # what is new is laid down whole then, and lost with nothing
        return len(older) >= WORTH and older[:KIND] == data[:KIND]

    def _depth(self, project: str, name: bytes) -> int:
        return sum(1 for _ in self._chain(project, name))

    def _chain(self, project: str, name: bytes) -> Iterator[bytes]:
        """The versions that a content is told against, newest first."""
        for _ in range(DEEPEST):
            found = self._db.execute(BASE, (project, name)).fetchone()
            if found is None or found[0] is None:
                return
            name = found[0]
            yield name

    def take_up(self, project: str, name: bytes) -> bytes:
        """The content of a name.

        Raises:
            StoreDamaged: it is missing, or is not what it was.
        """
        held = self._recall(name)
        if held:
            return held
        chain = list(self._chain(project, name))
        content = self._from_disk(project, name, chain)
        if chain or len(content) >= WORTH:
            # One assignment: whoever reads meanwhile sees the old ones or the new.
            self._held = ((name, content), *self._held[: HELD - 1])
        return content

    def _recall(self, name: bytes) -> bytes:
        return next((content for known, content in self._held if known == name), b"")

    def _from_disk(self, project: str, name: bytes, chain: Sequence[bytes]) -> bytes:
        base = b""
        for part in reversed(chain):
            base = self._recall(part) or self._unpacked(project, part, base)
        content = self._unpacked(project, name, base)
        if packing.digest(content) != name:
            raise StoreDamaged(self._path, f"content {name.hex()[:12]} is not what it was")
        return content

    def _unpacked(self, project: str, name: bytes, base: bytes) -> bytes:
        found = self._db.execute(GET, (project, name)).fetchone()
        if found is None:
            raise StoreDamaged(self._path, f"content {name.hex()[:12]} is missing")
        try:
            return packing.unsqueeze(found[0], base)
        except ValueError:
            return b""

    def forget(self) -> None:
        """Let go of what is remembered, so that only what lies on disk answers."""
        self._held = ()

    def is_whole(self, project: str, name: bytes) -> bool:
        """Whether a content lies on disk as it was given, whatever is remembered of it."""
        try:
            self._from_disk(project, name, list(self._chain(project, name)))
        except StoreDamaged:
            return False
        return True

    def drop(self, project: str, names: Collection[bytes]) -> None:
        """Delete contents; what is told against them is laid down whole first."""
        for name in names:
            for (later,) in self._db.execute(TOLD_AFTER, (project, name)).fetchall():
                if later not in names:
                    data = packing.squeezed([self.take_up(project, later)])[0]
                    self._db.execute(LAY_WHOLE, (data, project, later))
        self._db.executemany(DROP, [(project, name) for name in names])
        self.forget()
