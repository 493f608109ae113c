"""The head of a whole ledger, folded from its first entry on.

What `advance` keeps up to date entry by entry is computed here from nothing: after a rewind, when
code of another version wrote the head, and when `fsck` compares the two.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    Compacted,
    Compressed,
    Derived,
    Entry,
    EntryId,
    Restored,
    is_request,
    role_of,
)
from holdfast.core.ledger.head import UNCOUNTED, Head, Lane, advance
from holdfast.core.ledger.size import most_tokens
from holdfast.core.ledger.window import Window, fold, in_force, path_to


def replay(entries: Iterable[Entry], counts: Mapping[int, int], known: Head) -> Head:
    """The head that `entries` fold to; what no entry tells (wire, documents) is as in `known`."""
    head = _blank(known)
    film = _Film(counts)
    for entry in entries:
        head = film.next(head, entry)
    return head


def turned(
    entries: Iterable[Entry], counts: Mapping[int, int], known: Head
) -> dict[EntryId, tuple[Lane, Lane]]:
    """How a lane stood before and after each entry that changed what is in sight of others."""
    head, film = _blank(known), _Film(counts)
    found: dict[EntryId, tuple[Lane, Lane]] = {}
    for entry in entries:
        before, head = head.lane(entry.lane), film.next(head, entry)
        if isinstance(entry.body, Compressed | Restored | Compacted):
            found[entry.id] = (before, head.lane(entry.lane))
    return found


def _blank(known: Head) -> Head:
    return replace(
        known,
        seq=0,
        counted=0,
        stale=False,
        model="",
        limit=0,
        accepted={},
        title="",
        at="",
        lanes={},
    )


class _Film:
    """A replay under way: remembers how each lane stood at each entry, for rewinds."""

    def __init__(self, counts: Mapping[int, int]) -> None:
        self.counts = counts
        self.seen: dict[str, list[Entry]] = {}
        self.stood: dict[EntryId, Lane] = {}
        self.turned: set[str] = set()
        """Lanes in which something was hidden: there a rewind has to be folded anew."""

    def next(self, head: Head, entry: Entry) -> Head:
        self.seen.setdefault(entry.lane, []).append(entry)
        if isinstance(entry.body, Compressed | Restored | Compacted):
            self.turned.add(entry.lane)
        now = advance(head, entry, self.counts.get(entry.seq, UNCOUNTED))
        if now.stale:
            lane = self._after_rewind(head.lane(entry.lane), now.lane(entry.lane), entry)
            now = replace(now, stale=False, lanes={**now.lanes, entry.lane: lane})
        if not isinstance(entry.body, Derived):
            self.stood[entry.id] = now.lane(entry.lane)
        return now

    def _after_rewind(self, before: Lane, after: Lane, entry: Entry) -> Lane:
        if entry.lane in self.turned:
            window = fold(self.seen[entry.lane], lane=entry.lane)
            return _resummed(after, window, self.counts)
        back = self.stood.get(entry.parent or "", Lane())
        # What `advance` added for this entry was added to the path that was left.
        return replace(
            after,
            tokens=back.tokens + after.tokens - before.tokens,
            uncounted=back.uncounted + after.uncounted - before.uncounted,
            messages=back.messages + after.messages - before.messages,
            turns=back.turns + after.turns - before.turns,
            steps=back.steps + after.steps - before.steps,
        )


def _resummed(lane: Lane, window: Window, counts: Mapping[int, int]) -> Lane:
    path = path_to(window.end, window.ledger)
    shown = [item.entry for item in window.items if item.stand_in is None]
    starts = [entry for entry in path if entry.message == entry.seq]
    return replace(
        lane,
        tokens=sum(counts.get(entry.seq, 0) for entry in shown) + _standing_in(window),
        uncounted=sum(_size(entry) for entry in shown if entry.seq not in counts),
        messages=len(starts),
        turns=sum(is_request(entry.body) for entry in path),
        steps=sum(_is_assistant(entry) for entry in starts),
    )


def _standing_in(window: Window) -> int:
    """Raw tokens of the stand-ins in sight."""
    after: dict[tuple[EntryId, ...], int] = {}
    for entry in in_force(window):
        if isinstance(entry.body, Compressed):
            # A later step may put something else where an earlier one stood in.
            after.update({step.hides: step.after for step in entry.body.steps})
    return sum(after[item.covers] for item in window.items if item.stand_in is not None)


def _size(entry: Entry) -> int:
    return 0 if isinstance(entry.body, Derived) else most_tokens(entry.body)


def _is_assistant(entry: Entry) -> bool:
    return not isinstance(entry.body, Derived) and role_of(entry.body) == "assistant"
