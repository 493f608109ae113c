"""A folded window as it is kept: by number only, small enough to write, quick to open again.

It is a cache. Opening it and advancing by what came since equals folding the whole ledger.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

from holdfast.core.ledger.entry import Compressed, Entry, EntryId, Source
from holdfast.core.ledger.head import STAMP
from holdfast.core.ledger.window import Item, Run, Window


class Shown(NamedTuple):
    """One item in sight."""

    seq: int
    """The entry shown, or the first of those stood for."""
    compressed: int = 0
    step: int = 0
    """Which step of which compression stands in; zero when the entry itself is shown."""


class Kept(Struct, frozen=True):
    """A window by number."""

    lane: str
    end: EntryId | None
    generation: int
    seq: int
    """The last entry folded in."""
    items: tuple[Shown, ...]
    stamp: int = STAMP


def keep(window: Window, seq: int) -> Kept:
    """A window in the form it is kept in."""
    made: dict[tuple[EntryId, ...], list[tuple[int, int, Source | None]]] = {}
    for entry in reversed(window.ledger):  # the last that hid the same is the one in force
        if isinstance(entry.body, Compressed):
            for at, step in enumerate(entry.body.steps):
                made.setdefault(step.hides, []).append((entry.seq, at, step.stand_in))
    shown = (_shown(item, made.get(item.covers, [])) for item in window.items)
    return Kept(window.lane, window.end, window.generation, seq, tuple(shown))


def _shown(item: Item, made: Iterable[tuple[int, int, Source | None]]) -> Shown:
    """An item by the step that stands in for it; the same may have been hidden more than once."""
    if not item.covers:
        return Shown(item.entry.seq)
    found = (Shown(item.entry.seq, seq, at) for seq, at, by in made if by == item.stand_in)
    return next(found)


def numbers(kept: Kept) -> set[int]:
    """The entries needed to open a kept window."""
    return {shown.seq for shown in kept.items} | {
        shown.compressed for shown in kept.items if shown.compressed
    }


def reopen(kept: Kept, entries: Mapping[int, Entry]) -> Window:
    """The window that was kept; its ledger holds only what is in sight."""
    items = [_item(shown, entries) for shown in kept.items]
    return Window(
        kept.lane,
        kept.end,
        kept.generation,
        Run(items),
        Run(entries[number] for number in sorted(numbers(kept))),
    )


def _item(shown: Shown, entries: Mapping[int, Entry]) -> Item:
    entry = entries[shown.seq]
    if not shown.compressed:
        return Item(entry)
    body = entries[shown.compressed].body
    assert isinstance(body, Compressed)
    step = body.steps[shown.step]
    return Item(entry, step.hides, step.stand_in)
