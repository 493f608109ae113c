"""Define the `Store` protocol, its data types, and functions that work with any store.

A store knows nothing of tokens, formats or policy, and never changes what was appended. It calls
`build` while it holds the write lock, so that an append always starts from the current head.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from holdfast.core.ledger.append import Batch
from holdfast.core.ledger.entry import Entry, EntryId, Sighting
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.snapshot import WindowSnapshot
from holdfast.errors import Conflict

if TYPE_CHECKING:
    from holdfast.core.index.terms import PassagePool, Term

T = TypeVar("T")

Build: TypeAlias = Callable[[Head], Batch]
"""Makes the batch to write from the current head. Must be quick; may refuse by raising."""
Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of entries that are done, and the total."""


MAX_TRIES = 20
FIRST_SPAN, SPAN_GROWTH = 1_000, 10
"""Entries in the first span that is read from the end, and the factor by which spans grow."""


def retry_on_conflict(session: str, attempt: Callable[[], T]) -> T:
    """Call `attempt` until no other writer interferes, and return its result.

    Raises:
        Conflict: other processes kept writing to the session.
    """
    for _ in range(MAX_TRIES):
        try:
            return attempt()
        except Conflict:
            continue
    raise Conflict(session, expected="no other writers", found=f"one in each of {MAX_TRIES} tries")


class SessionInfo(Struct, frozen=True):
    """The name and head of a session, as `Store.sessions` lists it."""

    name: str
    head: Head
    touched: int
    """A counter over all sessions: the session that was appended to last has the largest."""


class Damage(Struct, frozen=True):
    """One damage that `fsck` found."""

    kind: str
    """`lost`: content is gone; `cache`: it can be rebuilt; `waste`: content that is not used."""
    where: str
    what: str


class RetentionCheck(Struct, frozen=True):
    """The state of a ledger when it was last checked for expired entries."""

    touched: int
    """The largest `SessionInfo.touched` at that time."""
    lived: int
    """The age of the ledger in seconds that was credited up to then."""
    clock: int
    """The wall clock at that time, which may be wrong."""


REWRITTEN = "rewritten"
"""Reason of a tombstone for an entry that was rewritten because it quoted an erased entry."""


class Tombstone(Struct, frozen=True):
    """The record of an erased entry."""

    session: str
    seq: int
    id: EntryId
    size: int
    """Bytes of its text."""
    reason: str
    """`purged`: by the user; `expired`: after the retention time; `rewritten`: the entry only
    quoted an erased one."""
    at: str = ""
    again: str = ""
    """The tool call that produced it and can be repeated."""


class Erasure(Struct, frozen=True):
    """The changes to a session that erase some or all of its entries."""

    seq: int
    """The number of the session's last entry when the erasure was computed."""
    tombstones: tuple[Tombstone, ...]
    whole: bool = False
    """Whether the whole session is deleted."""
    entries: tuple[Entry, ...] = ()
    """Replacements of entries: the same names, without the erased text."""
    sightings: tuple[Sighting, ...] = ()
    head: Head = Head()
    added: tuple[Entry, ...] = ()


def sessions_newest_first(store: "Store") -> list[SessionInfo]:
    """Return all sessions, sorted by the time of their last message, newest first.

    Sessions without times come last, the one appended to last first.
    """
    return sorted(
        store.sessions(), key=lambda session: (session.head.at, session.touched), reverse=True
    )


def events_newest_first(
    store: "Store", session: str, *, kinds: Collection[str] | None = None
) -> Iterator[Entry]:
    """Yield the derived entries, newest first; reads about as many as the caller consumes."""
    head = store.head(session)
    upto, span = (head.seq if head is not None else 0), FIRST_SPAN
    while upto > 0:
        since = max(upto - span, 0)
        later = store.events(session, since=since, kinds=kinds)
        entries = [entry for entry in later if entry.seq <= upto]
        yield from reversed(entries)
        # Each query reads the later entries again; spans grow so fast that this costs little.
        upto, span = since, span * SPAN_GROWTH


def newest_session(store: "Store") -> str:
    """Return the name of the newest session, or an empty string."""
    sessions = sessions_newest_first(store)
    return sessions[0].name if sessions else ""


class Store(AbstractContextManager["Store"], Protocol):
    """Stores sessions. Every implementation passes `tests/contracts/test_store.py`."""

    def append(self, session: str, build: Build) -> Batch:
        """Write the batch that `build` makes from the current head, all or nothing; return it.

        Raises:
            Conflict: `build` refused, as the session has changed.
        """
        ...

    def head(self, session: str) -> Head | None:
        """Return the head of a session, or None if there is no such session."""
        ...

    def read(
        self, session: str, *, since: int = 0, numbers: Iterable[int] | None = None
    ) -> Iterator[Entry]:
        """Read entries in order: all after `since`, or those with the given numbers."""
        ...

    def events(
        self, session: str, *, since: int = 0, kinds: Collection[str] | None = None
    ) -> Iterator[Entry]:
        """Read the derived entries after `since` in order, without the source entries.

        `kinds` are the tags of the bodies to read; the content of others is not decoded.
        """
        ...

    def names(self, session: str, ids: Iterable[EntryId] | None = None) -> dict[EntryId, int]:
        """Return the numbers of entries by name: of all source entries, or of those in `ids`."""
        ...

    def counts(self, session: str, vocabulary: str, *, since: int = 0) -> dict[int, int]:
        """Return the raw token counts of entries by number, without uncounted entries.

        With `since`, at least those of all entries with higher numbers.
        """
        ...

    def sightings(self, session: str, source: str = "") -> Iterator[Sighting]:
        """Read the sightings of a source in order, each in its newest version."""
        ...

    def arrivals(self, session: str, firsts: Iterable[int]) -> dict[int, Sighting]:
        """Return the newest sightings by the number of their first entry, for those in `firsts`."""
        ...

    def window(self, session: str, lane: str = "") -> WindowSnapshot | None:
        """Return the saved window of a lane, or None."""
        ...

    def save_window(self, session: str, window: WindowSnapshot) -> None:
        """Save a folded window, replacing the saved one. This is a cache, not an entry."""
        ...

    def read_cache(self, session: str, name: str) -> bytes | None:
        """Return the cached value of a name that was computed from a session, or None."""
        ...

    def write_cache(self, session: str, name: str, head: Head, data: bytes) -> None:
        """Cache a value computed from a session, unless its head is no longer `head`.

        This is not an entry; erasing anything from the session deletes it.
        """
        ...

    def sessions(self) -> list[SessionInfo]:
        """Return all sessions, the one appended to last first."""
        ...

    def all_sightings(self, session: str) -> Iterator[Sighting]:
        """Read every sighting of a session, in every stored version."""
        ...

    def erase(self, session: str, erasure: Erasure) -> None:
        """Apply an erasure, and leave no other trace of the erased content.

        Raises:
            Conflict: the session has changed since the erasure was computed.
            StoreBusy: the content is erased, but its bytes are still in the log, as other
                processes kept reading.
        """
        ...

    def tombstones(self, session: str | None = None, ref: str = "") -> list[Tombstone]:
        """Return the tombstones of one session or of all whose id begins with `ref`."""
        ...

    def retention_checks(self) -> list[RetentionCheck]:
        """Return the checks for expired entries, oldest first."""
        ...

    def add_retention_check(self, check: RetentionCheck) -> None:
        """Record a check for expired entries."""
        ...

    def size(self) -> int:
        """Return the size of the store in bytes."""
        ...

    def search(
        self, terms: "Sequence[Term]", *, sessions: Sequence[str] | None = None, limit: int = 100
    ) -> "PassagePool":
        """Return the passages that contain the terms and their neighbours, most promising first.

        Searches the given sessions, or all of the project, including everything that any process
        appended before the call.
        """
        ...

    def index(
        self, sessions: Sequence[str] | None = None, *, progress: Progress | None = None
    ) -> None:
        """Index the entries that were appended since the last search, as a search would do.

        `progress` is called with the number of indexed entries and the total. If the process is
        stopped, only the current batch is lost.
        """
        ...

    def stores_of_all_projects(self) -> "Iterable[Store]":
        """Return the stores of all projects in the same file, including this one."""
        ...

    def check(self) -> Iterator[Damage]:
        """Read everything and yield the damage that was found."""
        ...

    def close(self) -> None:
        """Close the store's files."""
        ...
