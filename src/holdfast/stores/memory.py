"""Store sessions in memory, for stateless compression and for tests."""

from typing import cast

import apsw

from holdfast.stores.connection import Database
from holdfast.stores.migrations import migrate
from holdfast.stores.sqlite import SqliteStore


class MemoryStore(SqliteStore):
    """A `Store` that lives as long as its process."""

    RECENT_ENTRIES = None

    def __init__(self) -> None:
        super().__init__(":memory:")

    def _open(self, path: str, engine: str | None) -> tuple[str, Database, bool]:
        del engine
        db = cast(Database, apsw.Connection(path))
        migrate(db, path)
        return path, db, False
