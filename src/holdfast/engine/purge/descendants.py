"""Purge propagation: remove text that resumed sessions copied from a purged session.

A fresh session starts with a summary of the old one, and carries its rows into its own summaries.
Purging the old session removes these too, before the old session itself is erased: so an
interrupted purge can be repeated.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.append import derived_entry
from holdfast.core.ledger.entry import Derived, Entry, EntryId, Resumed, Said, is_ours
from holdfast.core.ledger.erased import purge_notice
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.inherited import find_resumed
from holdfast.core.ledger.notes import Purged, encode
from holdfast.core.ledger.replay import replay_ledger
from holdfast.core.measure.recount import CompressionRecount
from holdfast.core.shrink.unquote import purge_quotes, words_only_in
from holdfast.engine.purge.rewrite import rewritten_sightings, text_bytes
from holdfast.models.tokenizers import counter
from holdfast.stores.store import REWRITTEN, Erasure, Store, Tombstone, retry_on_conflict


class PurgedEntries(Struct, frozen=True):
    """The entries of a session that are purged: some of them, or all."""

    session: str
    entries: tuple[Entry, ...]
    rest: tuple[Entry, ...] = ()
    """The entries that remain."""
    whole: bool = False
    """Whether none remain."""


def resume_links(store: Store) -> dict[str, Resumed]:
    """Return, by session, the session that it continues, if it continues any."""
    # The first entry of a resumed session is its link.
    first_links = {
        session.name: find_resumed(store.read(session.name, numbers=(1,)))
        for session in store.sessions()
    }
    return {name: link for name, link in first_links.items() if link is not None}


def descendants_of(store: Store, purged: PurgedEntries) -> list[str]:
    """Return the sessions that continue a session, directly or not, and those that quote it."""
    names = {entry.id for entry in purged.entries}
    linked = resume_links(store)
    quoting = {name for name, link in linked.items() if names & _inherited_entries(link)}
    reached = {purged.session}
    while grown := {name for name, link in linked.items() if link.session in reached} - reached:
        reached |= grown
    return sorted((quoting | reached) - {purged.session})


def _inherited_entries(link: Resumed) -> set[str]:
    """Return the entries that a session's inherited summary was read from."""
    return set(_entry_names(msgspec.to_builtins(link.summary)))


def _entry_names(value: object) -> Iterable[str]:
    if isinstance(value, dict):
        rows = cast(Mapping[str, object], value)
        yield str(rows.get("entry", ""))
        for member in rows.values():
            yield from _entry_names(member)
    elif isinstance(value, list | tuple):
        for member in cast(Sequence[object], value):
            yield from _entry_names(member)


def remove_quotes(
    store: Store, descendant: str, purged: PurgedEntries, others: Iterable[str], *, at: str
) -> None:
    """Remove from a session the text that it quotes from another one.

    `others` are sessions with words of their own: text that they contain too may remain.
    """
    other_entries = [entry for name in others for entry in store.read(name)]

    def attempt() -> None:
        erasure = _build_erasure(store, descendant, purged, other_entries, at)
        if erasure.entries:
            store.erase(descendant, erasure)

    retry_on_conflict(descendant, attempt)


def _build_erasure(
    store: Store, descendant: str, purged: PurgedEntries, other_entries: Sequence[Entry], at: str
) -> Erasure:
    head = store.head(descendant) or Head()
    entries = list(store.read(descendant))
    lost = words_only_in(purged.entries, (*purged.rest, *entries, *other_entries))
    notice = purge_notice(text_bytes(purged.entries))
    names = {entry.id for entry in purged.entries}
    rewritten = {item.id: _without_quotes(item, purged, names, lost, notice) for item in entries}
    if purged.whole:
        rewritten |= _without_beginning(entries, purged, notice)
    ours = [item for item in entries if is_ours(item.body)]
    tally = CompressionRecount(counter(head.vocabulary), ours, rewritten)
    now = [tally.recount(item, rewritten[item.id]) for item in entries]
    changed = [new for old, new in zip(entries, now, strict=True) if new is not old]
    note = encode(Purged(session=purged.session))
    end = head.lane("").end
    added = (derived_entry(head.seq + 1, note, parent=end, at=at),) if changed else ()
    return Erasure(
        seq=head.seq,
        tombstones=tuple(
            Tombstone(descendant, item.seq, item.id, 0, REWRITTEN, at) for item in changed
        ),
        entries=tuple(changed),
        sightings=tuple(rewritten_sightings(store, descendant, changed)),
        head=replace(replay_ledger([*now, *added], {}, head), stale=True),
        added=added,
    )


def _without_quotes(
    entry: Entry, purged: PurgedEntries, names: set[EntryId], lost: frozenset[str], notice: str
) -> Entry:
    """Return an entry without quotes; a note that names the whole session remains."""
    if isinstance(entry.body, Derived) or is_ours(entry.body):
        return purge_quotes(entry, names, lost - {purged.session}, notice)
    return entry


def _without_beginning(
    entries: Sequence[Entry], purged: PurgedEntries, notice: str
) -> dict[EntryId, Entry]:
    """Return the emptied first message of a session that continues an entirely purged one."""
    link = find_resumed(entries)
    first = next((entry for entry in entries if is_ours(entry.body)), None)
    if link is None or link.session != purged.session or first is None:
        return {}
    assert isinstance(first.body, Said)
    return {first.id: replace(first, body=replace(first.body, text=notice))}
