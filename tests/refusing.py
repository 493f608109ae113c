"""A store that has no room left for one kind of entry: everything else it takes."""

from holdfast.core.ledger.append import Batch
from holdfast.core.ledger.entry import Derived
from holdfast.core.ledger.head import Head
from holdfast.errors import StoreFull
from holdfast.stores.memory import MemoryStore
from holdfast.stores.store import Build


class RefusingStore(MemoryStore):
    """Refuses what holds a body of that kind, for as long as it is full."""

    def __init__(self, kind: type[Derived], *, full: bool = True) -> None:
        super().__init__()
        self.full, self._kind = full, kind

    def append(self, session: str, build: Build) -> Batch:
        """See `Store.append`."""

        def checked(head: Head) -> Batch:
            batch = build(head)
            if self.full and any(isinstance(entry.body, self._kind) for entry in batch.entries):
                raise StoreFull("memory", "no room")
            return batch

        return super().append(session, checked)
