"""Sync a client's whole history with the ledger: match known messages, append new ones."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.append import Arrival, Batch, Draft, append_arrivals, derived_entry
from holdfast.core.ledger.chain import meaning
from holdfast.core.ledger.entry import (
    Compressed,
    Derived,
    Entry,
    EntryId,
    Sighting,
    Source,
    Step,
    ToolReturned,
    is_ours,
)
from holdfast.core.ledger.erased import is_erased_form
from holdfast.core.ledger.head import Head, advance_head, rewind_lane
from holdfast.core.ledger.notes import Switched, encode
from holdfast.core.ledger.resend import ResendMatch, match_resent, results_without_call
from holdfast.core.ledger.window import Window, arrival_of
from holdfast.core.measure.models import Model
from holdfast.core.measure.tokens import CountTokens, count_body
from holdfast.engine.counts import update_counts
from holdfast.engine.live_window import LiveWindow
from holdfast.errors import Conflict
from holdfast.models.tokenizers import counter
from holdfast.stores.store import Build, Store, retry_on_conflict

StampHead: TypeAlias = Callable[[Head], Head]


class Synced(Struct, frozen=True):
    """The result of reading a resent history."""

    added: int
    """Number of messages that were not known."""
    branched: bool
    """Whether the history left the path that the session was on."""


class HistoryAlignment(Struct, frozen=True):
    """A resent history matched with a window: what has to be written."""

    match: ResendMatch
    new: tuple[Arrival, ...]
    """The messages from the first unknown one on."""
    known_names: Mapping[EntryId, int]
    """Numbers by entry name, if the history leaves the path: messages may be on another path."""
    sightings: tuple[Sighting, ...]
    """Known messages that came in other bytes this time."""
    replaced_results: Mapping[str, Source]
    """By call id: the client's version of a result that was recorded before its call."""


class SyncResult(Struct, frozen=True):
    """What a sync wrote."""

    synced: Synced
    batch: Batch
    firsts: tuple[int, ...]
    """For each known message, in order: the number of its first entry, or 0."""


def sync(
    store: Store,
    session: str,
    live_window: LiveWindow,
    arrivals: Sequence[Arrival],
    *,
    model: Model,
    stamp: StampHead,
) -> SyncResult:
    """Match a resent history with a session's lane, and write what is new.

    Raises:
        Conflict: others kept writing to the session.
    """
    with_meanings = [_with_meaning(arrival) for arrival in arrivals]

    def attempt() -> SyncResult:
        # First the head, then the window: a write in between then causes a conflict.
        base = store.head(session) or Head()
        window = live_window.window(whole=True)
        alignment = _align(store, session, window, with_meanings)
        if alignment.match.replaced or alignment.replaced_results:
            seq, base = base.seq, update_counts(store, session, model)
            if base.seq != seq:
                raise Conflict(session, expected=seq, found=base.seq)
        elif not alignment.new and not alignment.sightings and not _leaves_path(alignment):
            return SyncResult(
                Synced(0, branched=False), Batch(base), _first_entries(arrivals, alignment.match)
            )
        batch = store.append(session, _builder(session, base, stamp, window, alignment))
        added = {entry.message for entry in batch.entries if not isinstance(entry.body, Derived)}
        synced = Synced(len(added), _leaves_path(alignment))
        return SyncResult(synced, batch, _first_entries(arrivals, alignment.match))

    return retry_on_conflict(session, attempt)


def _builder(
    session: str, base: Head, stamp: StampHead, window: Window, alignment: HistoryAlignment
) -> Build:
    def build(head: Head) -> Batch:
        if head != base:
            raise Conflict(session, expected=base.seq, found=head.seq)
        return _build_batch(stamp(head), window, alignment)

    return build


def _with_meaning(arrival: Arrival) -> Arrival:
    drafts = (replace(draft, meant=meaning(_source(draft))) for draft in arrival.drafts)
    return replace(arrival, drafts=tuple(drafts))


def _source(draft: Draft) -> Source:
    assert not isinstance(draft.body, Derived)
    return draft.body


def _align(
    store: Store, session: str, window: Window, arrivals: Sequence[Arrival]
) -> HistoryAlignment:
    drafts = [draft for arrival in arrivals for draft in arrival.drafts]
    matched = _match_drafts(window, drafts)
    whole, used = _whole_arrivals(arrivals, matched, _visible_parts(window))
    if used < matched.known:
        # A message that is only partly known counts as new.
        matched = _match_drafts(window, drafts[:used])
    rest, instead = _with_originals(window, arrivals[whole:])
    return HistoryAlignment(
        match=matched,
        new=rest,
        known_names=store.names(session) if matched.left else {},
        sightings=tuple(_changed_sightings(store, session, arrivals[:whole], matched)),
        replaced_results=instead,
    )


def _match_drafts(window: Window, drafts: Sequence[Draft]) -> ResendMatch:
    return match_resent(
        window, [_source(draft) for draft in drafts], [draft.meant for draft in drafts]
    )


def _whole_arrivals(
    arrivals: Sequence[Arrival], matched: ResendMatch, parts: Mapping[int, int]
) -> tuple[int, int]:
    """Count the arrivals whose drafts are all known, and their drafts."""
    used = 0
    for index, arrival in enumerate(arrivals):
        end = used + len(arrival.drafts)
        known = matched.firsts[used:end]
        # If a visible part is missing, it is another message with the same beginning.
        if len(known) < len(arrival.drafts) or (known and len(known) < parts.get(known[0], 0)):
            return index, used
        used = end
    return len(arrivals), used


def _visible_parts(window: Window) -> dict[int, int]:
    """Count the adjacent visible parts of each arrival, by the number of the first one."""
    parts: dict[int, int] = {}
    for arrival, run in groupby(window.items, key=arrival_of):
        items = list(run)
        if arrival:
            parts[items[0].entry.seq] = len(items)
    return parts


def _with_originals(
    window: Window, arrivals: Sequence[Arrival]
) -> tuple[tuple[Arrival, ...], dict[str, Source]]:
    """Return new arrivals, with results that were recorded before their call restored."""
    originals = results_without_call(window.ledger) if arrivals else {}
    replaced_results: dict[str, Source] = {}
    if not originals:
        return tuple(arrivals), replaced_results
    restored: list[Arrival] = []
    for arrival in arrivals:
        drafts: list[Draft] = []
        for draft in arrival.drafts:
            body = draft.body
            original = originals.get(body.call) if isinstance(body, ToolReturned) else None
            if original is None or meaning(original) == draft.meant:
                drafts.append(draft)
                continue
            replaced_results[original.call] = _source(draft)
            drafts.append(replace(draft, body=original, meant=meaning(original)))
        restored.append(replace(arrival, drafts=tuple(drafts)))
    return tuple(restored), replaced_results


def _changed_sightings(
    store: Store, session: str, arrivals: Sequence[Arrival], matched: ResendMatch
) -> list[Sighting]:
    firsts = zip(_first_entries(arrivals, matched), arrivals, strict=True)
    resent = {first: arrival for first, arrival in firsts if first}
    known = store.arrivals(session, resent)
    return [
        replace(sighting, raw=resent[first].raw, version=sighting.version + 1)
        for first, sighting in known.items()
        # A message without some parts is our own window sent back, not another sighting.
        if sighting.raw != resent[first].raw
        and sighting.parts == len(resent[first].drafts)
        # Purged text is not restored by a client that still has it.
        and not is_erased_form(sighting.raw, resent[first].raw)
    ]


def _first_entries(arrivals: Sequence[Arrival], matched: ResendMatch) -> tuple[int, ...]:
    """Return the first entry of each known arrival; 0 for a stand-in or a text of the host."""
    replaced = {entry.seq for entry, _ in matched.replaced}
    firsts: list[int] = []
    position = 0
    for arrival in arrivals:
        numbers = matched.firsts[position : position + len(arrival.drafts)]
        position += len(arrival.drafts)
        if len(numbers) < len(arrival.drafts):
            break
        whole = all(numbers) and replaced.isdisjoint(numbers)
        firsts.append(min(numbers) if whole else 0)
    return tuple(firsts)


def _leaves_path(alignment: HistoryAlignment) -> bool:
    """Return whether the client no longer has all of the path that the session was on."""
    return alignment.match.left > 0


def _build_batch(head: Head, window: Window, alignment: HistoryAlignment) -> Batch:
    if _leaves_path(alignment):
        lane = rewind_lane(head.lane(window.lane), alignment.match.end)
        head = replace(head, stale=True, lanes={**head.lanes, window.lane: lane})
    ours = {
        known.parent: known.id for known in window.ledger if known.parent and is_ours(known.body)
    }
    batch = append_arrivals(
        head, alignment.new, find_seq=lambda name: alignment.known_names.get(name, 0), inserted=ours
    )
    for body in _derived_bodies(batch, window, alignment):
        end = batch.head.lane(window.lane).end
        entry = derived_entry(batch.head.seq + 1, body, parent=end, lane=window.lane)
        batch = replace(
            batch, head=advance_head(batch.head, entry), entries=(*batch.entries, entry)
        )
    return _with_sightings(batch, alignment.sightings)


def _with_sightings(batch: Batch, seen: Sequence[Sighting]) -> Batch:
    documents = dict(batch.head.documents)
    for sighting in seen:
        document = documents[sighting.source]
        documents[sighting.source] = replace(document, seen=document.seen + 1)
    head = replace(batch.head, documents=documents)
    return replace(batch, head=head, sightings=(*batch.sightings, *seen))


def _derived_bodies(batch: Batch, window: Window, alignment: HistoryAlignment) -> list[Derived]:
    """Return the derived entries that record what the resent history changed."""
    bodies: list[Derived] = []
    sources = [entry for entry in batch.entries if not isinstance(entry.body, Derived)]
    if _leaves_path(alignment) and not batch.entries:
        bodies.append(encode(Switched()))
    if alignment.match.replaced or alignment.replaced_results:
        steps = _host_steps(window, alignment, sources, counter(batch.head.vocabulary))
        generation = batch.head.lane(window.lane).generation
        bodies.append(Compressed(tuple(steps), generation, batch.head.seq, by="host"))
    return bodies


def _host_steps(
    window: Window, alignment: HistoryAlignment, sources: Sequence[Entry], count: CountTokens
) -> list[Step]:
    # The host cannot restore entries that a compression removed or merged into a larger stand-in.
    visible = {item.entry.id: item.body for item in window.items if item.shows == (item.entry.id,)}
    pairs = [(entry, visible.get(entry.id), body) for entry, body in alignment.match.replaced]
    for entry in sources:
        if isinstance(entry.body, ToolReturned) and entry.body.call in alignment.replaced_results:
            pairs.append((entry, entry.body, alignment.replaced_results[entry.body.call]))
    return [
        Step(
            hides=(entry.id,),
            reason="the host shows something else here",
            stand_in=body,
            before=count_body(visible_body, count) if visible_body else 0,
            after=count_body(body, count) if visible_body else 0,
        )
        for entry, visible_body, body in pairs
    ]
