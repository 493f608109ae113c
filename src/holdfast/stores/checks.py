"""Check the consistency of a session in any store.

Entry names must match their content, references must resolve, and the stored head must be equal to
the head that its entries fold to.
"""

from collections.abc import Iterator
from typing import Protocol

from msgspec.structs import replace

from holdfast.core.ledger.chain import id_matches
from holdfast.core.ledger.entry import Compressed, Entry, EntryId, Sighting
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.replay import replay_ledger
from holdfast.stores.store import Damage, SessionInfo, Tombstone


class ReadableStore(Protocol):
    """The methods of a store that the checks need."""

    def read(self, session: str, *, since: int = 0) -> Iterator[Entry]:
        """See `Store.read`."""
        ...

    def counts(self, session: str, vocabulary: str, *, since: int = 0) -> dict[int, int]:
        """See `Store.counts`."""
        ...

    def tombstones(self, session: str | None = None, ref: str = "") -> list[Tombstone]:
        """See `Store.tombstones`."""
        ...

    def sightings(self, session: str, source: str = "") -> Iterator[Sighting]:
        """See `Store.sightings`."""
        ...


def check_session(store: ReadableStore, info: SessionInfo) -> Iterator[Damage]:
    """Yield the damage found in one session."""
    entries = list(store.read(info.name))
    names = {entry.id for entry in entries}
    erased_ids = {tombstone.id for tombstone in store.tombstones(info.name)}
    for number, entry in enumerate(entries, start=1):
        yield from _check_entry(info.name, entry, number, names, erased_ids)
    yield from _check_sightings(store, info, {entry.seq for entry in entries})
    if info.head.seq != len(entries):
        what = f"{info.head.seq} entries were written and {len(entries)} are present"
        yield Damage("lost", info.name, what)
    elif not is_same_head(info.head, replay_head(store, info, entries)):
        yield Damage("cache", info.name, "the head is not what its entries fold to")


def _check_entry(
    session: str, entry: Entry, number: int, names: set[EntryId], erased: set[EntryId]
) -> Iterator[Damage]:
    where = f"{session}, entry {entry.seq}"
    if entry.seq != number:
        yield Damage("lost", f"{session}, entry {number}", "it is missing")
    if entry.parent is not None and entry.parent not in names:
        yield Damage("lost", where, f"it follows {entry.parent}, which is missing")
    if entry.id not in erased and not id_matches(entry):
        yield Damage("lost", where, "its content does not match its name")
    if isinstance(entry.body, Compressed):
        hidden = {name for step in entry.body.steps for name in step.hides}
        if not hidden <= names:
            yield Damage("lost", where, f"it hides {len(hidden - names)} entries that are missing")


def _check_sightings(store: ReadableStore, info: SessionInfo, seqs: set[int]) -> Iterator[Damage]:
    for source, document in info.head.documents.items():
        count = 0
        for position, sighting in enumerate(store.sightings(info.name, source)):
            count += 1
            where = f"{info.name}{'/' + source if source else ''}, piece {position + 1}"
            if sighting.pos != position:
                yield Damage("lost", where, "it is missing")
                return
            if sighting.first and sighting.first not in seqs:
                yield Damage("lost", where, f"it holds entry {sighting.first}, which is missing")
        if count != document.length:
            what = f"{document.length} pieces were written and {count} are present"
            yield Damage("lost", info.name, what)


def replay_head(store: ReadableStore, info: SessionInfo, entries: list[Entry]) -> Head:
    """Return the head that the entries of a session fold to."""
    return replay_ledger(entries, store.counts(info.name, info.head.vocabulary), info.head)


def is_same_head(stored: Head, replayed: Head) -> bool:
    """Return whether a stored head equals the replayed one; a stale head is always accepted."""
    return (
        stored.stale or stored.stamp != replayed.stamp or replace(stored, stale=False) == replayed
    )
