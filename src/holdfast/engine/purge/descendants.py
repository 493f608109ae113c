"""Sessions that go on from another one: what they quote of it goes when it goes.

A fresh session begins with what the old one came to, and carries its rows along into its own
summaries. Purging the old one takes that out of it as well, before the old one itself goes: whoever
is stopped in between can purge it again.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.append import derived
from holdfast.core.ledger.entry import Derived, Entry, EntryId, Noted, Resumed, Said, is_ours
from holdfast.core.ledger.erased import notice_of
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.inherited import resumed_from
from holdfast.core.ledger.replay import replay
from holdfast.core.measure.recount import Tally
from holdfast.core.shrink.unquote import only_in, unquoted
from holdfast.engine.purge.rewrite import PURGED, size_of, told_anew
from holdfast.models.tokenizers import counter
from holdfast.stores.store import REWRITTEN, Erasure, Store, Tombstone, retried


class Gone(Struct, frozen=True):
    """What is purged of a session: some of its entries, or all of it."""

    session: str
    entries: tuple[Entry, ...]
    rest: tuple[Entry, ...] = ()
    """What stays of it."""
    whole: bool = False
    """Whether nothing does."""


def links(store: Store) -> dict[str, Resumed]:
    """By session: what it goes on from, where it goes on from anything."""
    # A session that goes on from another one says so first of all.
    found = {one.name: resumed_from(store.read(one.name, numbers=(1,))) for one in store.sessions()}
    return {name: link for name, link in found.items() if link is not None}


def heirs_of(store: Store, gone: Gone) -> list[str]:
    """The sessions that go on from one, or from one that did; those that quote it among them."""
    names = {entry.id for entry in gone.entries}
    linked = links(store)
    found = {name for name, link in linked.items() if names & _named(link)}
    reached = {gone.session}
    while grown := {name for name, link in linked.items() if link.session in reached} - reached:
        reached |= grown
    return sorted((found | reached) - {gone.session})


def _named(link: Resumed) -> set[str]:
    """The entries that a session's inheritance was read from."""
    return set(_entries_in(msgspec.to_builtins(link.summary)))


def _entries_in(value: object) -> Iterable[str]:
    if isinstance(value, dict):
        rows = cast(Mapping[str, object], value)
        yield str(rows.get("entry", ""))
        for one in rows.values():
            yield from _entries_in(one)
    elif isinstance(value, list | tuple):
        for one in cast(Sequence[object], value):
            yield from _entries_in(one)


def unquote(store: Store, heir: str, gone: Gone, others: Iterable[str], *, at: str) -> None:
    """Take out of a session what it quotes of another one.

    `others` are sessions whose words are their own: what was said there as well may stay.
    """
    said = [entry for name in others for entry in store.read(name)]

    def attempt() -> None:
        erasure = _erasure(store, heir, gone, said, at)
        if erasure.entries:
            store.erase(heir, erasure)

    retried(heir, attempt)


def _erasure(store: Store, heir: str, gone: Gone, said: Sequence[Entry], at: str) -> Erasure:
    head = store.head(heir) or Head()
    entries = list(store.read(heir))
    lost = only_in(gone.entries, (*gone.rest, *entries, *said))
    notice = notice_of(size_of(gone.entries))
    names = {entry.id for entry in gone.entries}
    made = {one.id: _without(one, gone, names, lost, notice) for one in entries}
    if gone.whole:
        made |= _without_beginning(entries, gone, notice)
    ours = [one for one in entries if is_ours(one.body)]
    tally = Tally(counter(head.vocabulary), ours, made)
    now = [tally.take(one, made[one.id]) for one in entries]
    changed = [new for old, new in zip(entries, now, strict=True) if new is not old]
    note = Noted(PURGED, {"session": gone.session})
    end = head.lane("").end
    added = (derived(head.seq + 1, note, parent=end, at=at),) if changed else ()
    return Erasure(
        seq=head.seq,
        tombstones=tuple(Tombstone(heir, one.seq, one.id, 0, REWRITTEN, at) for one in changed),
        entries=tuple(changed),
        sightings=tuple(told_anew(store, heir, changed)),
        head=replace(replay([*now, *added], {}, head), stale=True),
        added=added,
    )


def _without(
    entry: Entry, gone: Gone, names: set[EntryId], lost: frozenset[str], notice: str
) -> Entry:
    """An entry without what it quotes; a note that names the session as a whole stays."""
    if isinstance(entry.body, Derived) or is_ours(entry.body):
        return unquoted(entry, names, lost - {gone.session}, notice)
    return entry


def _without_beginning(entries: Sequence[Entry], gone: Gone, notice: str) -> dict[EntryId, Entry]:
    """What a session begins with that goes on from one of which nothing is left."""
    link = resumed_from(entries)
    first = next((one for one in entries if is_ours(one.body)), None)
    if link is None or link.session != gone.session or first is None:
        return {}
    assert isinstance(first.body, Said)
    return {first.id: replace(first, body=replace(first.body, text=notice))}
