"""Snapshot of a folded window by entry numbers: small to store, fast to open again.

It is a cache. A snapshot that is opened and advanced by the later entries equals a fold of the
whole ledger.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Compacted, Compressed, Entry, EntryId, Source
from holdfast.core.ledger.head import FOLD_VERSION
from holdfast.core.ledger.window import GrowingList, Item, Window


class ItemRef(NamedTuple):
    """One item of the window by its numbers."""

    seq: int
    """The number of the entry, or of the first entry that the stand-in covers."""
    compressed: int = 0
    step: int = 0
    """The compression and the step with the stand-in; zeros if the entry itself is shown."""


class WindowSnapshot(Struct, frozen=True):
    """A window by entry numbers."""

    lane: str
    end: EntryId | None
    generation: int
    seq: int
    """The number of the last entry that it covers."""
    items: tuple[ItemRef, ...]
    stamp: int = FOLD_VERSION


def take_snapshot(window: Window, seq: int) -> WindowSnapshot:
    """Return the snapshot of a window whose last entry is number `seq`."""
    steps_by_hidden: dict[tuple[EntryId, ...], list[tuple[int, int, Source | None]]] = {}
    for entry in reversed(window.ledger):  # the last step that hides the same is in force
        if isinstance(entry.body, Compressed):
            for at, step in enumerate(entry.body.steps):
                steps_by_hidden.setdefault(step.hides, []).append((entry.seq, at, step.stand_in))
    items = (_item_ref(item, steps_by_hidden.get(item.covers, [])) for item in window.items)
    return WindowSnapshot(window.lane, window.end, window.generation, seq, tuple(items))


def _item_ref(item: Item, steps: Iterable[tuple[int, int, Source | None]]) -> ItemRef:
    """Return an item by the step of its stand-in; several steps may hide the same entries."""
    if not item.covers:
        return ItemRef(item.entry.seq)
    refs = (
        ItemRef(item.entry.seq, seq, at) for seq, at, stand_in in steps if stand_in == item.stand_in
    )
    return next(refs)


def entries_needed(snapshot: WindowSnapshot) -> set[int]:
    """Return the numbers of the entries that `open_snapshot` needs."""
    return {ref.seq for ref in snapshot.items} | {
        shown.compressed for shown in snapshot.items if shown.compressed
    }


def without_hidden(window: Window) -> Window:
    """Return a window without the entries in its ledger that only replaying the session needs.

    What is shown stays, with the compressions that show it, and so does all since the newest
    summary: a step of the agent is judged by it.
    """
    needed = entries_needed(take_snapshot(window, 0))
    since = next((e.seq for e in reversed(window.ledger) if hides_by_summary(e)), 0)
    kept = (entry for entry in window.ledger if entry.seq >= since or entry.seq in needed)
    return replace(window, ledger=GrowingList(kept))


def hides_by_summary(entry: Entry) -> bool:
    """Return whether an entry replaces earlier ones by a summary, ours or that of the host."""
    body = entry.body
    if isinstance(body, Compressed):
        return body.summary is not None
    return isinstance(body, Compacted)


def open_snapshot(snapshot: WindowSnapshot, entries: Mapping[int, Entry]) -> Window:
    """Return the window of a snapshot; its ledger has only the entries that the window shows."""
    items = [_item(ref, entries) for ref in snapshot.items]
    return Window(
        snapshot.lane,
        snapshot.end,
        snapshot.generation,
        GrowingList(items),
        GrowingList(entries[number] for number in sorted(entries_needed(snapshot))),
    )


def _item(ref: ItemRef, entries: Mapping[int, Entry]) -> Item:
    entry = entries[ref.seq]
    if not ref.compressed:
        return Item(entry)
    body = entries[ref.compressed].body
    assert isinstance(body, Compressed)
    step = body.steps[ref.step]
    return Item(entry, step.hides, step.stand_in)
