"""A client's whole history, laid on the ledger: what is known stays, what is new is added."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.append import Arrival, Batch, Draft, arrive, derived
from holdfast.core.ledger.chain import meaning
from holdfast.core.ledger.entry import (
    Compressed,
    Derived,
    Entry,
    EntryId,
    Noted,
    Sighting,
    Source,
    Step,
    ToolReturned,
    is_ours,
)
from holdfast.core.ledger.erased import is_emptied
from holdfast.core.ledger.head import Head, advance, led_back
from holdfast.core.ledger.resend import Match, match, orphans
from holdfast.core.ledger.window import Window, arrival_of
from holdfast.core.measure.models import Model
from holdfast.core.measure.tokens import CountTokens, count_body
from holdfast.engine.counts import settle
from holdfast.engine.live_window import Sight
from holdfast.errors import Conflict
from holdfast.models.tokenizers import counter
from holdfast.stores.store import Build, Store, retried

Stamp: TypeAlias = Callable[[Head], Head]


class Synced(Struct, frozen=True):
    """What a resent history brought."""

    added: int
    """Messages that were not known."""
    branched: bool
    """Whether it left the path the session was on."""


class Laid(Struct, frozen=True):
    """A resent history laid on a window: what there is to write."""

    match: Match
    rest: tuple[Arrival, ...]
    """The messages from the first unknown one on."""
    known: Mapping[EntryId, int]
    """Names to look out for among them, when they leave the path: they may be on another."""
    seen: tuple[Sighting, ...]
    """Known messages that came in other bytes this time."""
    instead: Mapping[str, Source]
    """By call id: what the client has in place of a result that was recorded before its call."""


class Done(Struct, frozen=True):
    """What laying a history on the ledger came to."""

    synced: Synced
    batch: Batch
    firsts: tuple[int, ...]
    """For each message that was known, in order: the number of its first entry, or 0."""


def sync(
    store: Store,
    session: str,
    sight: Sight,
    arrivals: Sequence[Arrival],
    *,
    model: Model,
    stamp: Stamp,
) -> Done:
    """Lay a resent history on a session's lane and write what is new.

    Raises:
        Conflict: others kept writing to the session.
    """
    meant = [_with_meaning(arrival) for arrival in arrivals]

    def attempt() -> Done:
        # First the head, then the window: whatever is written in between shows as a conflict.
        base = store.head(session) or Head()
        window = sight.window(whole=True)
        laid = _lay(store, session, window, meant)
        if laid.match.replaced or laid.instead:
            seq, base = base.seq, settle(store, session, model)
            if base.seq != seq:
                raise Conflict(session, expected=seq, found=base.seq)
        elif not laid.rest and not laid.seen and not _leaves(laid):
            return Done(Synced(0, branched=False), Batch(base), _firsts(arrivals, laid.match))
        batch = store.append(session, _builder(session, base, stamp, window, laid))
        added = {entry.message for entry in batch.entries if not isinstance(entry.body, Derived)}
        synced = Synced(len(added), _leaves(laid))
        return Done(synced, batch, _firsts(arrivals, laid.match))

    return retried(session, attempt)


def _builder(session: str, base: Head, stamp: Stamp, window: Window, laid: Laid) -> Build:
    def build(head: Head) -> Batch:
        if head != base:
            raise Conflict(session, expected=base.seq, found=head.seq)
        return _batch(stamp(head), window, laid)

    return build


def _with_meaning(arrival: Arrival) -> Arrival:
    drafts = (replace(draft, meant=meaning(_source(draft))) for draft in arrival.drafts)
    return replace(arrival, drafts=tuple(drafts))


def _source(draft: Draft) -> Source:
    assert not isinstance(draft.body, Derived)
    return draft.body


def _lay(store: Store, session: str, window: Window, arrivals: Sequence[Arrival]) -> Laid:
    drafts = [draft for arrival in arrivals for draft in arrival.drafts]
    laid = _matched(window, drafts)
    whole, used = _whole_arrivals(arrivals, laid, _parts_in_sight(window))
    if used < laid.known:
        # A message of which only a part is known is new as a whole.
        laid = _matched(window, drafts[:used])
    rest, instead = _with_originals(window, arrivals[whole:])
    return Laid(
        match=laid,
        rest=rest,
        known=store.names(session) if laid.left else {},
        seen=tuple(_seen_anew(store, session, arrivals[:whole], laid)),
        instead=instead,
    )


def _matched(window: Window, drafts: Sequence[Draft]) -> Match:
    return match(window, [_source(draft) for draft in drafts], [draft.meant for draft in drafts])


def _whole_arrivals(
    arrivals: Sequence[Arrival], laid: Match, parts: Mapping[int, int]
) -> tuple[int, int]:
    """How many arrivals are known to their last draft, and how many drafts those have."""
    used = 0
    for at, arrival in enumerate(arrivals):
        end = used + len(arrival.drafts)
        known = laid.firsts[used:end]
        # One that lacks a part which is in sight is another message that begins alike.
        if len(known) < len(arrival.drafts) or (known and len(known) < parts.get(known[0], 0)):
            return at, used
        used = end
    return len(arrivals), used


def _parts_in_sight(window: Window) -> dict[int, int]:
    """How many parts stand together in sight of an arrival, by the first of them."""
    parts: dict[int, int] = {}
    for arrival, run in groupby(window.items, key=arrival_of):
        shown = list(run)
        if arrival:
            parts[shown[0].entry.seq] = len(shown)
    return parts


def _with_originals(
    window: Window, arrivals: Sequence[Arrival]
) -> tuple[tuple[Arrival, ...], dict[str, Source]]:
    """New arrivals, with results that were recorded before their call put back as they were."""
    originals = orphans(window.ledger) if arrivals else {}
    instead: dict[str, Source] = {}
    if not originals:
        return tuple(arrivals), instead
    restored: list[Arrival] = []
    for arrival in arrivals:
        drafts: list[Draft] = []
        for draft in arrival.drafts:
            body = draft.body
            original = originals.get(body.call) if isinstance(body, ToolReturned) else None
            if original is None or meaning(original) == draft.meant:
                drafts.append(draft)
                continue
            instead[original.call] = _source(draft)
            drafts.append(replace(draft, body=original, meant=meaning(original)))
        restored.append(replace(arrival, drafts=tuple(drafts)))
    return tuple(restored), instead


def _seen_anew(
    store: Store, session: str, arrivals: Sequence[Arrival], laid: Match
) -> list[Sighting]:
    firsts = zip(_firsts(arrivals, laid), arrivals, strict=True)
    told = {first: arrival for first, arrival in firsts if first}
    known = store.arrivals(session, told)
    return [
        replace(sighting, raw=told[first].raw, version=sighting.version + 1)
        for first, sighting in known.items()
        # A message that lacks a part is our own window sent back, not another sighting.
        if sighting.raw != told[first].raw
        and sighting.parts == len(told[first].drafts)
        # What was purged does not come back with a client that still has it.
        and not is_emptied(sighting.raw, told[first].raw)
    ]


def _firsts(arrivals: Sequence[Arrival], laid: Match) -> tuple[int, ...]:
    """The first entry of each known arrival; 0 where a stand-in or the host's text stands."""
    replaced = {entry.seq for entry, _ in laid.replaced}
    firsts: list[int] = []
    at = 0
    for arrival in arrivals:
        numbers = laid.firsts[at : at + len(arrival.drafts)]
        at += len(arrival.drafts)
        if len(numbers) < len(arrival.drafts):
            break
        whole = all(numbers) and replaced.isdisjoint(numbers)
        firsts.append(min(numbers) if whole else 0)
    return tuple(firsts)


def _leaves(laid: Laid) -> bool:
    """Whether the client no longer has all of the path the session was on."""
    return laid.match.left > 0


def _batch(head: Head, window: Window, laid: Laid) -> Batch:
    if _leaves(laid):
        lane = led_back(head.lane(window.lane), laid.match.end)
        head = replace(head, stale=True, lanes={**head.lanes, window.lane: lane})
    ours = {one.parent: one.id for one in window.ledger if one.parent and is_ours(one.body)}
    batch = arrive(head, laid.rest, find=lambda name: laid.known.get(name, 0), ours=ours)
    for body in _afterwards(batch, window, laid):
        end = batch.head.lane(window.lane).end
        entry = derived(batch.head.seq + 1, body, parent=end, lane=window.lane)
        batch = replace(batch, head=advance(batch.head, entry), entries=(*batch.entries, entry))
    return _with_sightings(batch, laid.seen)


def _with_sightings(batch: Batch, seen: Sequence[Sighting]) -> Batch:
    documents = dict(batch.head.documents)
    for sighting in seen:
        document = documents[sighting.source]
        documents[sighting.source] = replace(document, seen=document.seen + 1)
    head = replace(batch.head, documents=documents)
    return replace(batch, head=head, sightings=(*batch.sightings, *seen))


def _afterwards(batch: Batch, window: Window, laid: Laid) -> list[Derived]:
    """What has to be noted about the resent history."""
    noted: list[Derived] = []
    sources = [entry for entry in batch.entries if not isinstance(entry.body, Derived)]
    if _leaves(laid) and not batch.entries:
        noted.append(Noted("switched"))
    if laid.match.replaced or laid.instead:
        steps = _host_steps(window, laid, sources, counter(batch.head.vocabulary))
        generation = batch.head.lane(window.lane).generation
        noted.append(Compressed(tuple(steps), generation, batch.head.seq, by="host"))
    return noted


def _host_steps(
    window: Window, laid: Laid, sources: Sequence[Entry], count: CountTokens
) -> list[Step]:
    # What a compression took out altogether, or into something larger, the host cannot bring back.
    in_sight = {item.entry.id: item.body for item in window.items if item.shows == (item.entry.id,)}
    pairs = [(entry, in_sight.get(entry.id), body) for entry, body in laid.match.replaced]
    for entry in sources:
        if isinstance(entry.body, ToolReturned) and entry.body.call in laid.instead:
            pairs.append((entry, entry.body, laid.instead[entry.body.call]))
    return [
        Step(
            hides=(entry.id,),
            reason="the host shows something else here",
            stand_in=body,
            before=count_body(shown, count) if shown else 0,
            after=count_body(body, count) if shown else 0,
        )
        for entry, shown, body in pairs
    ]
