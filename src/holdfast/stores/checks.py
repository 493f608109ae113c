"""What must be true of a session in any store: names follow from content, references resolve."""

from collections.abc import Iterator
from typing import Protocol

from msgspec.structs import replace

from holdfast.core.ledger.chain import is_true
from holdfast.core.ledger.entry import Compressed, Entry, EntryId, Sighting
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.replay import replay
from holdfast.stores.store import Damage, Listed, Tombstone


class Readable(Protocol):
    """As much of a store as checking needs."""

    def read(self, session: str, *, since: int = 0) -> Iterator[Entry]:
        """See `Store.read`."""
        ...

    def counts(self, session: str, vocabulary: str) -> dict[int, int]:
        """See `Store.counts`."""
        ...

    def tombstones(self, session: str | None = None, ref: str = "") -> list[Tombstone]:
        """See `Store.tombstones`."""
        ...

    def sightings(self, session: str, source: str = "") -> Iterator[Sighting]:
        """See `Store.sightings`."""
        ...


def check_session(store: Readable, listed: Listed) -> Iterator[Damage]:
    """What is wrong with one session."""
    entries = list(store.read(listed.name))
    names = {entry.id for entry in entries}
    erased = {one.id for one in store.tombstones(listed.name)}
    for number, entry in enumerate(entries, start=1):
        yield from _check_entry(listed.name, entry, number, names, erased)
    yield from _check_sightings(store, listed, {entry.seq for entry in entries})
    if listed.head.seq != len(entries):
        what = f"{listed.head.seq} entries were written and {len(entries)} are there"
        yield Damage("lost", listed.name, what)
    elif not same_fold(listed.head, replayed(store, listed, entries)):
        yield Damage("cache", listed.name, "the head is not what its entries fold to")


def _check_entry(
    session: str, entry: Entry, number: int, names: set[EntryId], erased: set[EntryId]
) -> Iterator[Damage]:
    where = f"{session}, entry {entry.seq}"
    if entry.seq != number:
        yield Damage("lost", f"{session}, entry {number}", "it is missing")
    if entry.parent is not None and entry.parent not in names:
        yield Damage("lost", where, f"it follows {entry.parent}, which is not there")
    if entry.id not in erased and not is_true(entry):
        yield Damage("lost", where, "its content is not what its name says")
    if isinstance(entry.body, Compressed):
        hidden = {name for step in entry.body.steps for name in step.hides}
        if not hidden <= names:
            yield Damage("lost", where, f"it hides {len(hidden - names)} entries not there")


def _check_sightings(store: Readable, listed: Listed, seqs: set[int]) -> Iterator[Damage]:
    for source, document in listed.head.documents.items():
        places = 0
        for place, sighting in enumerate(store.sightings(listed.name, source)):
            places += 1
            where = f"{listed.name}{'/' + source if source else ''}, piece {place + 1}"
            if sighting.pos != place:
                yield Damage("lost", where, "it is missing")
                return
            if sighting.first and sighting.first not in seqs:
                yield Damage("lost", where, f"it holds entry {sighting.first}, which is not there")
        if places != document.length:
            what = f"{document.length} pieces were written and {places} are there"
            yield Damage("lost", listed.name, what)


def replayed(store: Readable, listed: Listed, entries: list[Entry]) -> Head:
    """The head as it has to be."""
    return replay(entries, store.counts(listed.name, listed.head.vocabulary), listed.head)


def same_fold(kept: Head, true: Head) -> bool:
    """Whether a kept head says what a replay says; one that knows it is stale claims nothing."""
    return kept.stale or kept.stamp != true.stamp or replace(kept, stale=False) == true
