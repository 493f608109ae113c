"""Recompute the head of a session from all of its entries.

`advance_head` updates a stored head entry by entry. A replay starts from an empty one: after a
rewind, if code of another version wrote the head, and if `fsck` compares the two.
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
from holdfast.core.ledger.head import UNCOUNTED, Head, Lane, advance_head
from holdfast.core.ledger.size import max_tokens
from holdfast.core.ledger.window import Window, fold, in_force, path_to


def replay_ledger(entries: Iterable[Entry], counts: Mapping[int, int], known: Head) -> Head:
    """Return the head of `entries`; take fields without entries (wire, documents) from `known`."""
    head = _empty_head(known)
    head_replay = _HeadReplay(counts)
    for entry in entries:
        head = head_replay.advance(head, entry)
    return head


def lane_changes(
    entries: Iterable[Entry], counts: Mapping[int, int], known: Head
) -> dict[EntryId, tuple[Lane, Lane]]:
    """Return the lane before and after each compression, undo and compaction, by entry."""
    head, head_replay = _empty_head(known), _HeadReplay(counts)
    changes: dict[EntryId, tuple[Lane, Lane]] = {}
    for entry in entries:
        before, head = head.lane(entry.lane), head_replay.advance(head, entry)
        if isinstance(entry.body, Compressed | Restored | Compacted):
            changes[entry.id] = (before, head.lane(entry.lane))
    return changes


def _empty_head(known: Head) -> Head:
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


class _HeadReplay:
    """Replays entries and remembers the lane at each entry, so that a rewind can return to it."""

    def __init__(self, counts: Mapping[int, int]) -> None:
        self.counts = counts
        self.seen: dict[str, list[Entry]] = {}
        self.lane_at: dict[EntryId, Lane] = {}
        self.changed_lanes: set[str] = set()
        """Lanes with hidden entries: after a rewind, their window has to be folded again."""

    def advance(self, head: Head, entry: Entry) -> Head:
        self.seen.setdefault(entry.lane, []).append(entry)
        if isinstance(entry.body, Compressed | Restored | Compacted):
            self.changed_lanes.add(entry.lane)
        new_head = advance_head(head, entry, self.counts.get(entry.seq, UNCOUNTED))
        if new_head.stale:
            lane = self._after_rewind(head.lane(entry.lane), new_head.lane(entry.lane), entry)
            new_head = replace(new_head, stale=False, lanes={**new_head.lanes, entry.lane: lane})
        if not isinstance(entry.body, Derived):
            self.lane_at[entry.id] = new_head.lane(entry.lane)
        return new_head

    def _after_rewind(self, before: Lane, after: Lane, entry: Entry) -> Lane:
        if entry.lane in self.changed_lanes:
            window = fold(self.seen[entry.lane], lane=entry.lane)
            return _recount_lane(after, window, self.counts)
        back = self.lane_at.get(entry.parent or "", Lane())
        # `advance_head` added this entry to the sums of the abandoned path.
        return replace(
            after,
            tokens=back.tokens + after.tokens - before.tokens,
            uncounted=back.uncounted + after.uncounted - before.uncounted,
            messages=back.messages + after.messages - before.messages,
            turns=back.turns + after.turns - before.turns,
            steps=back.steps + after.steps - before.steps,
        )


def _recount_lane(lane: Lane, window: Window, counts: Mapping[int, int]) -> Lane:
    path = path_to(window.end, window.ledger)
    shown = [item.entry for item in window.items if item.stand_in is None]
    starts = [entry for entry in path if entry.message == entry.seq]
    return replace(
        lane,
        tokens=sum(counts.get(entry.seq, 0) for entry in shown) + _stand_in_tokens(window),
        uncounted=sum(_max_tokens_of(entry) for entry in shown if entry.seq not in counts),
        messages=len(starts),
        turns=sum(is_request(entry.body) for entry in path),
        steps=sum(_is_assistant(entry) for entry in starts),
    )


def _stand_in_tokens(window: Window) -> int:
    """Return the raw tokens of the stand-ins in the window."""
    tokens: dict[tuple[EntryId, ...], int] = {}
    for entry in in_force(window):
        if isinstance(entry.body, Compressed):
            # A later step may replace the stand-in of an earlier one.
            tokens.update({step.hides: step.after for step in entry.body.steps})
    return sum(tokens[item.covers] for item in window.items if item.stand_in is not None)


def _max_tokens_of(entry: Entry) -> int:
    return 0 if isinstance(entry.body, Derived) else max_tokens(entry.body)


def _is_assistant(entry: Entry) -> bool:
    return not isinstance(entry.body, Derived) and role_of(entry.body) == "assistant"
