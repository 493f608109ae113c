"""Update the token counts of a session: count new entries, recount after a rewind.

Appending never waits for a tokenizer. Callers that need exact sums call this module first.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from holdfast.core.ledger.append import Batch
from holdfast.core.ledger.entry import Compacted, Compressed, Derived, Entry, Restored
from holdfast.core.ledger.head import FOLD_VERSION, Head, apply_counts
from holdfast.core.ledger.replay import replay_ledger
from holdfast.core.measure.models import Model, find_model, keep_vocabulary
from holdfast.core.measure.tokens import count_body
from holdfast.errors import Conflict
from holdfast.models.tokenizers import counter
from holdfast.stores.store import Build, Store, retry_on_conflict


def update_counts(store: Store, session: str, model: Model | None = None) -> Head:
    """Return the session's head with every entry counted in its model's vocabulary."""

    def attempt() -> Head:
        head = store.head(session) or Head()
        vocabulary = keep_vocabulary(model or find_model(head.model), head).vocabulary
        if not _is_behind(head, vocabulary):
            return head
        return store.append(session, _build_recount(store, session, head, vocabulary)).head

    return retry_on_conflict(session, attempt)


def _is_behind(head: Head, vocabulary: str) -> bool:
    if head.seq == 0:
        return False
    if head.stale or head.stamp != FOLD_VERSION:
        return True
    return head.counted < head.seq or head.vocabulary != vocabulary


def _build_recount(store: Store, session: str, base: Head, vocabulary: str) -> Build:
    """Return a `Build` that recounts the head, or raises Conflict if the window changed since."""
    from_start = base.stale or base.stamp != FOLD_VERSION or base.vocabulary != vocabulary
    known = store.counts(session, vocabulary, since=0 if from_start else base.counted)
    since = _known_to(base, store.read(session, since=0 if from_start else base.counted))
    new_counts = count_entries(since, vocabulary, known)
    must_replay = from_start or _changes_window(since)
    base_now = replace(base, vocabulary=vocabulary)
    if must_replay:
        entries = since if from_start else _known_to(base, store.read(session))
        known = known if from_start else store.counts(session, vocabulary)
        head = replay_ledger(entries, {**known, **new_counts}, base_now)
    else:
        head = apply_counts(base_now, new_counts, since, known)

    def build(found: Head) -> Batch:
        pairs = tuple(sorted(new_counts.items()))
        if found == base:
            return Batch(head, counts=pairs)
        if not _only_grew(base, found):
            raise Conflict(session, expected=base.seq, found=found.seq)
        # Others may append all the time, so each try must make progress.
        counted = 0 if must_replay else found.counted
        known_now = store.counts(session, vocabulary, since=counted)
        if must_replay:
            later = replace(found, vocabulary=vocabulary)
            return Batch(
                replay_ledger(store.read(session), {**known_now, **new_counts}, later), counts=pairs
            )
        new_entries = list(store.read(session, since=found.counted))
        return Batch(apply_counts(found, new_counts, new_entries, known_now), counts=pairs)

    return build


def _known_to(base: Head, entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries that a head covers: more may have been appended since it was read."""
    return [entry for entry in entries if entry.seq <= base.seq]


def _only_grew(base: Head, found: Head) -> bool:
    """Return whether entries were only appended since."""
    same = found.counted == base.counted and found.vocabulary == base.vocabulary
    changed = any(
        found.lane(name).generation != lane.generation for name, lane in base.lanes.items()
    )
    return same and not changed and found.stale == base.stale


def _changes_window(entries: Sequence[Entry]) -> bool:
    """Return whether an entry changed the visibility of earlier ones."""
    return any(isinstance(entry.body, Compressed | Restored | Compacted) for entry in entries)


def count_entries(
    entries: Iterable[Entry], vocabulary: str, known: dict[int, int] | None = None
) -> dict[int, int]:
    """Count the raw tokens of the source entries that are not counted yet."""
    count = counter(vocabulary)
    return {
        entry.seq: count_body(entry.body, count)
        for entry in entries
        if not isinstance(entry.body, Derived) and entry.seq not in (known or {})
    }
