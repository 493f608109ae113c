"""The Store protocol: keeps sessions, and never changes what it was given.

A store knows nothing of tokens, formats or policy. The one clever thing it does is to run `build`
while it holds the write lock, so that whoever appends sees the head as it really is.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from holdfast.core.ledger.append import Batch
from holdfast.core.ledger.entry import Entry, EntryId, Sighting
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.snapshot import Kept
from holdfast.errors import Conflict

if TYPE_CHECKING:
    from holdfast.core.index.terms import Pooled, Term

T = TypeVar("T")

Build: TypeAlias = Callable[[Head], Batch]
"""What to write, given where the session stands. Must be quick and may refuse by raising."""
Progress: TypeAlias = Callable[[int, int], None]
"""Told how much is done, of how much."""


TRIES = 20
NEAR, FURTHER = 1_000, 10
"""Entries at the end that are looked at first, and times as many as that each time after."""


def retried(session: str, attempt: Callable[[], T]) -> T:
    """What `attempt` gives once nobody else writes in between: it reads afresh every time.

    Raises:
        Conflict: others kept writing to the session.
    """
    for _ in range(TRIES):
        try:
            return attempt()
        except Conflict:
            continue
    raise Conflict(session, expected="a quiet moment", found="too many writers")


class Listed(Struct, frozen=True):
    """A session as a list of sessions shows it."""

    name: str
    head: Head
    touched: int
    """Grows with every append to any session: the newest has the largest."""


class Damage(Struct, frozen=True):
    """Something `fsck` found."""

    kind: str
    """`lost` when content cannot be given back, `cache` when it can be rebuilt, `waste`."""
    where: str
    what: str


class Look(Struct, frozen=True):
    """Where a ledger stood when it was last looked through for what is old."""

    touched: int
    """The session added to last, as `Listed.touched` has it."""
    lived: int
    """Seconds that the ledger has surely lived up to then."""
    clock: int
    """What the clock said, right or wrong."""


REWRITTEN = "rewritten"
"""Why an entry is not as its name says that only quoted what was erased."""


class Tombstone(Struct, frozen=True):
    """What is left of an entry that was erased."""

    session: str
    seq: int
    id: EntryId
    size: int
    """Bytes of its words."""
    reason: str
    """`purged` when the user asked for it, `expired` when it was kept long enough, `rewritten`
    when it only quoted what was erased."""
    at: str = ""
    again: str = ""
    """The call that brought it, to be made again by whoever needs it."""


class Erasure(Struct, frozen=True):
    """What takes the place of what is erased in a session."""

    seq: int
    """The session's last entry when this was worked out."""
    tombstones: tuple[Tombstone, ...]
    whole: bool = False
    """Whether all of the session goes; then nothing takes its place."""
    entries: tuple[Entry, ...] = ()
    """Entries under their old names, without what they said."""
    sightings: tuple[Sighting, ...] = ()
    head: Head = Head()
    added: tuple[Entry, ...] = ()


def newest_first(store: "Store") -> list[Listed]:
    """All sessions, the one in which something was said last first.

    Sessions that tell no time follow, the last read first: a folder of transcripts is read in the
    order of their names, which says nothing.
    """
    return sorted(store.sessions(), key=lambda one: (one.head.at, one.touched), reverse=True)


def latest_first(store: "Store", session: str) -> Iterator[Entry]:
    """The derived entries, the newest first: no more are read than somebody looks at, or so."""
    head = store.head(session)
    upto, span = (head.seq if head is not None else 0), NEAR
    while upto > 0:
        since = max(upto - span, 0)
        part = [entry for entry in store.events(session, since=since) if entry.seq <= upto]
        yield from reversed(part)
        # What was looked at is read again: each time so much more that this counts for little.
        upto, span = since, span * FURTHER


def newest_in(store: "Store") -> str:
    """The first of these; empty when there is no session."""
    rows = newest_first(store)
    return rows[0].name if rows else ""


class Store(AbstractContextManager["Store"], Protocol):
    """Keeps sessions. Every implementation passes `tests/contracts/test_store.py`."""

    def append(self, session: str, build: Build) -> Batch:
        """Write what `build` makes of the session's head, all or none, and return it.

        Raises:
            Conflict: `build` found the session elsewhere than it had to be.
        """
        ...

    def head(self, session: str) -> Head | None:
        """Where a session stands; None when there is none of that name."""
        ...

    def read(
        self, session: str, *, since: int = 0, numbers: Iterable[int] | None = None
    ) -> Iterator[Entry]:
        """Entries in order: all after `since`, or those with the numbers given."""
        ...

    def events(self, session: str, *, since: int = 0) -> Iterator[Entry]:
        """The derived entries after `since` in order: what was done, without what was said."""
        ...

    def names(self, session: str, ids: Iterable[EntryId] | None = None) -> dict[EntryId, int]:
        """The numbers of entries by name: of all source entries, or of those asked for."""
        ...

    def counts(self, session: str, vocabulary: str) -> dict[int, int]:
        """Raw tokens of entries by number, as far as they were counted."""
        ...

    def sightings(self, session: str, source: str = "") -> Iterator[Sighting]:
        """A source's pieces in order, each in its newest version."""
        ...

    def arrivals(self, session: str, firsts: Iterable[int]) -> dict[int, Sighting]:
        """The newest sightings of arrivals, by the number of their first entry."""
        ...

    def window(self, session: str, lane: str = "") -> Kept | None:
        """The window last kept for a lane."""
        ...

    def keep(self, session: str, window: Kept) -> None:
        """Keep a folded window in place of the one kept before; it is a cache and no event."""
        ...

    def reading(self, session: str, name: str) -> bytes | None:
        """What was last kept under a name of what was read off a session."""
        ...

    def keep_reading(self, session: str, name: str, head: Head, data: bytes) -> None:
        """Keep what was read, unless the session no longer stands where it was read.

        It is a cache and no event, and goes with whatever is erased.
        """
        ...

    def sessions(self) -> list[Listed]:
        """All sessions, the newest first."""
        ...

    def pieces(self, session: str) -> Iterator[Sighting]:
        """Every sighting of a session, in every version that is kept."""
        ...

    def erase(self, session: str, erasure: Erasure) -> None:
        """Put in the place of what is erased what is left of it, and keep no other trace.

        Raises:
            Conflict: somebody wrote to the session since this was worked out.
            StoreBusy: it is erased, but others kept reading and its bytes are still in the log.
        """
        ...

    def tombstones(self, session: str | None = None, ref: str = "") -> list[Tombstone]:
        """What was erased: of one session or of all, whose name begins with `ref`."""
        ...

    def looks(self) -> list[Look]:
        """When the ledger was looked through for what is old, the first look first."""
        ...

    def looked(self, look: Look) -> None:
        """Note that it was looked through."""
        ...

    def size(self) -> int:
        """Bytes that everything takes."""
        ...

    def search(
        self, terms: "Sequence[Term]", *, sessions: Sequence[str] | None = None, limit: int = 100
    ) -> "Pooled":
        """The passages that hold the terms or stand beside one that does, most promising first.

        In the sessions named, else in all of the project. Whatever was appended before the call,
        by anyone, is found.
        """
        ...

    def index(
        self, sessions: Sequence[str] | None = None, *, progress: Progress | None = None
    ) -> None:
        """Do now what the next search would do first: look at what was appended since the last.

        `progress` is told how many entries are done, of how many. Whoever stops it loses nothing
        but what was being looked at.
        """
        ...

    def forget_index(self, session: str) -> None:
        """Leave nothing of a session's words in the index; it is made again when searched."""
        ...

    def shelves(self) -> "Iterable[Store]":
        """The stores of every project that is kept in the same place, this one among them."""
        ...

    def check(self) -> Iterator[Damage]:
        """Everything that is not as it was given, found by reading all of it."""
        ...

    def close(self) -> None:
        """Let go of what the store holds open."""
        ...
