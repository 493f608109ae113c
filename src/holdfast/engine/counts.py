"""Bringing a session's counts up to date: what was left uncounted, and what a rewind made wrong.

Appending never waits for a tokenizer. Whoever needs exact sums asks here first.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from holdfast.core.ledger.append import Batch
from holdfast.core.ledger.entry import Compacted, Compressed, Derived, Entry, Restored
from holdfast.core.ledger.head import STAMP, Head, settled
from holdfast.core.ledger.replay import replay
from holdfast.core.measure.models import Model, counted_as, find
from holdfast.core.measure.tokens import count_body
from holdfast.errors import Conflict
from holdfast.models.tokenizers import counter
from holdfast.stores.store import Build, Store, retried


def settle(store: Store, session: str, model: Model | None = None) -> Head:
    """The session's head, all counted that was there when asked, in its model's vocabulary."""

    def attempt() -> Head:
        head = store.head(session) or Head()
        vocabulary = counted_as(model or find(head.model), head).vocabulary
        if not _is_behind(head, vocabulary):
            return head
        return store.append(session, _caught_up(store, session, head, vocabulary)).head

    return retried(session, attempt)


def _is_behind(head: Head, vocabulary: str) -> bool:
    if head.seq == 0:
        return False
    if head.stale or head.stamp != STAMP:
        return True
    return head.counted < head.seq or head.vocabulary != vocabulary


def _caught_up(store: Store, session: str, base: Head, vocabulary: str) -> Build:
    """What brings a head up to date, worked out beforehand: written if nobody wrote in between."""
    anew = base.stale or base.stamp != STAMP or base.vocabulary != vocabulary
    known = store.counts(session, vocabulary)
    since = _up_to(base, store.read(session, since=0 if anew else base.counted))
    fresh = counted(since, vocabulary, known)
    turned = anew or _turns(since)
    renewed = replace(base, vocabulary=vocabulary)
    if turned:
        every = since if anew else _up_to(base, store.read(session))
        head = replay(every, {**known, **fresh}, renewed)
    else:
        head = settled(renewed, fresh, since, known)

    def build(found: Head) -> Batch:
        pairs = tuple(sorted(fresh.items()))
        if found == base:
            return Batch(head, counts=pairs)
        if not _only_grew(base, found):
            raise Conflict(session, expected=base.seq, found=found.seq)
        # Beside a busy writer every try has to get somewhere.
        told = store.counts(session, vocabulary)
        if turned:
            later = replace(found, vocabulary=vocabulary)
            return Batch(replay(store.read(session), {**told, **fresh}, later), counts=pairs)
        grown = list(store.read(session, since=found.counted))
        return Batch(settled(found, fresh, grown, told), counts=pairs)

    return build


def _up_to(base: Head, entries: Iterable[Entry]) -> list[Entry]:
    """The entries that a head knows of: more may have come since it was read."""
    return [entry for entry in entries if entry.seq <= base.seq]


def _only_grew(base: Head, found: Head) -> bool:
    """Whether nothing happened since but appends."""
    same = found.counted == base.counted and found.vocabulary == base.vocabulary
    turned = any(
        found.lane(name).generation != lane.generation for name, lane in base.lanes.items()
    )
    return same and not turned and found.stale == base.stale


def _turns(entries: Sequence[Entry]) -> bool:
    """Whether something among the entries changed what is in sight of earlier ones."""
    return any(isinstance(entry.body, Compressed | Restored | Compacted) for entry in entries)


def counted(
    entries: Iterable[Entry], vocabulary: str, known: dict[int, int] | None = None
) -> dict[int, int]:
    """Raw tokens of those source entries that nobody has counted yet."""
    count = counter(vocabulary)
    return {
        entry.seq: count_body(entry.body, count)
        for entry in entries
        if not isinstance(entry.body, Derived) and entry.seq not in (known or {})
    }
