"""Window: the entries of a lane with all compressions applied, folded step by step.

`advance_window` takes time in proportion to the new entries, and for a compression in proportion
to the window; a rewind or an undo folds the whole lane again. A window is a value: an older one
does not change while newer ones grow from it, because both share one list and each has a length
of its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Generic, NamedTuple, TypeVar, cast, overload

from msgspec import Struct, field
from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    Compacted,
    Compressed,
    Derived,
    Entry,
    EntryId,
    Noted,
    Restored,
    Source,
    Step,
)
from holdfast.core.ledger.notes import Switched

T = TypeVar("T")


class GrowingList(Sequence[T], Generic[T]):
    """A sequence that grows without copying: each value shows the first `length` shared items."""

    __slots__ = ("_items", "_length")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items: list[T] = list(items)
        self._length = len(self._items)

    def plus(self, items: Iterable[T]) -> "GrowingList[T]":
        """Return a sequence with `items` at its end; this one does not change."""
        # Only the longest may grow in place; a shorter one would overwrite items of a longer one.
        longest = len(self._items) == self._length
        grown: GrowingList[T] = GrowingList() if longest else GrowingList(self)
        if longest:
            grown._items = self._items
        grown._items.extend(items)
        grown._length = len(grown._items)
        return grown

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        return islice(self._items, self._length)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return list(map(self._items.__getitem__, range(*index.indices(self._length))))
        return self._items[range(self._length)[index]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GrowingList) and list(self) == list(cast("GrowingList[T]", other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"GrowingList({list(self)!r})"


class Item(Struct, frozen=True):
    """One item of a window: an entry, or a stand-in for some."""

    entry: Entry
    """The entry itself, or the first entry that the stand-in covers."""
    covers: tuple[EntryId, ...] = ()
    """The entries that the stand-in covers; empty if there is no stand-in."""
    stand_in: Source | None = None

    @property
    def body(self) -> Source:
        """The body that a reader sees."""
        if self.stand_in is not None:
            return self.stand_in
        # An item always has a source entry; a check here would cost time in hot loops.
        return self.entry.body  # pyright: ignore[reportReturnType]

    @property
    def shows(self) -> tuple[EntryId, ...]:
        """The entries that this item shows or covers."""
        return self.covers or (self.entry.id,)


def arrival_of(item: Item) -> int:
    """Return the number of the first entry of an item's arrival; 0 if it covers several entries."""
    return 0 if len(item.covers) > 1 else item.entry.seq - item.entry.part


class Window(Struct, frozen=True):
    """The items that one agent sees, and the ledger of its lane."""

    lane: str = ""
    end: EntryId | None = None
    generation: int = 0
    items: GrowingList[Item] = field(default_factory=GrowingList[Item])
    ledger: GrowingList[Entry] = field(default_factory=GrowingList[Entry])
    """All entries of the lane, on the path or not."""


def fold(entries: Iterable[Entry], *, lane: str = "") -> Window:
    """Return the window of a whole ledger."""
    return _refold(lane, GrowingList(entry for entry in entries if entry.lane == lane))


def advance_window(window: Window, entries: Iterable[Entry]) -> Window:
    """Return the window after more entries; entries of other lanes are ignored."""
    own = [entry for entry in entries if entry.lane == window.lane]
    if not own:
        return window
    return extend_window(window, own) or _refold(window.lane, window.ledger.plus(own))


def extend_window(window: Window, entries: Sequence[Entry]) -> Window | None:
    """Return the window after more entries of its lane, if they only add items or hide shown ones.

    Return None if they do anything else: then the whole lane has to be folded.
    """
    items, end, generation = window.items, window.end, window.generation
    fresh: list[Item] = []
    for entry in entries:
        body = entry.body
        if isinstance(body, Compressed):
            items, fresh = items.plus(fresh), []
            if not _shows_all(list(items), body.steps):
                return None
            items, generation = GrowingList(apply_steps(body.steps, items)), generation + 1
        elif isinstance(body, Derived):
            if _changes_window(body):
                return None
        elif entry.parent != end:
            return None
        else:
            fresh.append(Item(entry))
            end = entry.id
    return Window(window.lane, end, generation, items.plus(fresh), window.ledger.plus(entries))


def _shows_all(items: Sequence[Item], steps: Sequence[Step]) -> bool:
    """Whether the items show every hidden entry: then all are on the path, and the steps apply."""
    short = _Shortened.of(steps, items)
    if short is not None:
        items, steps = short.items, short.steps
    shown = {name for item in items for name in item.shows}
    return all(name in shown for step in steps for name in step.hides)


def _changes_window(body: Derived) -> bool:
    """Whether a body changes which of the earlier entries the window shows."""
    if isinstance(body, Noted):
        return body.what == Switched.what
    return isinstance(body, Compressed | Restored | Compacted)


def _refold(lane: str, ledger: GrowingList[Entry]) -> Window:
    path = path_of(ledger)
    names = {entry.id for entry in path}
    table = _ItemTable(Item(entry) for entry in path)
    for entry in _in_force(ledger, names):
        if isinstance(entry.body, Compacted):
            table.drop_before(entry, entry.body)
        elif isinstance(entry.body, Compressed):
            table.apply_steps(entry.body.steps)
    changing = (Compressed, Restored, Compacted)
    generation = sum(isinstance(entry.body, changing) for entry in ledger)
    end = path[-1].id if path else None
    return Window(lane, end, generation, GrowingList(table.items()), ledger)


def _end_of(ledger: Iterable[Entry]) -> EntryId | None:
    end: EntryId | None = None
    for entry in ledger:
        if not isinstance(entry.body, Derived):
            end = entry.id
        elif isinstance(entry.body, Noted) and entry.body.what == Switched.what:
            end = entry.parent
    return end


def in_force(window: Window) -> list[Entry]:
    """Return the compressions in force on the window's path, oldest first."""
    path = path_to(window.end, window.ledger)
    return _in_force(window.ledger, {entry.id for entry in path})


def path_of(ledger: Sequence[Entry]) -> list[Entry]:
    """Return the source entries from the first one of a lane to its end."""
    return path_to(_end_of(ledger), ledger)


def path_to(end: EntryId | None, ledger: Iterable[Entry]) -> list[Entry]:
    """Return the source entries from the first one to `end`."""
    by_id: Mapping[EntryId, Entry] = {
        entry.id: entry for entry in ledger if not isinstance(entry.body, Derived)
    }
    path: list[Entry] = []
    while end is not None and end in by_id:
        path.append(by_id[end])
        end = by_id[end].parent
    return path[::-1]


class GrowingPath:
    """The path to the end of a window, which a later window of the same ledger extends."""

    def __init__(self) -> None:
        self._path: GrowingList[Entry] = GrowingList()
        self._ledger: GrowingList[Entry] = GrowingList()

    def to(self, window: Window) -> Sequence[Entry]:
        """Return the source entries that lead to the end; read only those that are new."""
        known, ledger = len(self._ledger), window.ledger
        same = known == 0 or (known <= len(ledger) and ledger[known - 1] is self._ledger[-1])
        later = path_to(window.end, ledger[known:]) if same else []
        end = self._path[-1].id if self._path else None
        if same and (later[0].parent if later else window.end) == end:
            self._path = self._path.plus(later)
        else:
            self._path = GrowingList(path_to(window.end, ledger))
        self._ledger = ledger
        return self._path


def _in_force(ledger: Iterable[Entry], path: set[EntryId]) -> list[Entry]:
    entries = list(ledger)
    lifted = {entry.body.compressed for entry in entries if isinstance(entry.body, Restored)}
    return [entry for entry in entries if entry.id not in lifted and _is_in_force(entry, path)]


def _is_in_force(entry: Entry, path: set[EntryId]) -> bool:
    match entry.body:
        case Compressed():
            # It is in force on a branch only if the branch has everything that it hides.
            return all(name in path for step in entry.body.steps for name in step.hides)
        case Compacted():
            return entry.parent in path
        case _:
            return False


def apply_steps(steps: Sequence[Step], items: Iterable[Item]) -> list[Item]:
    """Return the items after the steps: each stand-in takes the place of its first hidden item."""
    shown = list(items)
    short = _Shortened.of(steps, shown)
    if short is None:
        return _ItemTable.after(steps, shown)
    made = _ItemTable.after(short.steps, short.items)
    return [short.whole(item) for item in made]


MANY_NAMES = 64
"""An item that covers more entries is a summary: it is told by its first one."""


class _Shortened(NamedTuple):
    """Steps and items in which a summary is told by one of the entries that it covers.

    A summary covers all entries before it. Looking at each of them with every step would cost more
    with every summary.
    """

    steps: Sequence[Step]
    items: Sequence[Item]
    covers: Mapping[tuple[EntryId, ...], tuple[EntryId, ...]]
    """The entries that each short item or step covers."""

    @classmethod
    def of(cls, steps: Sequence[Step], items: Sequence[Item]) -> "_Shortened | None":
        """Return short steps and items; None if there is no summary, or a part of it is named."""
        large = {item.covers[0]: item.covers for item in items if len(item.covers) > MANY_NAMES}
        if not large:
            return None
        covers = {covers[:1]: covers for covers in large.values()}
        made: list[Step] = []
        for step in steps:
            known = large.get(step.hides[0]) if step.hides else None
            if known is None:
                named = step.hides
            elif step.hides[: len(known)] == known:
                named = (known[0], *step.hides[len(known) :])
            else:
                return None
            if not large.keys().isdisjoint(named[1:]):
                return None
            if named is not step.hides:
                covers[named] = step.hides
            made.append(replace(step, hides=named))
        short = [
            replace(item, covers=item.covers[:1]) if len(item.covers) > MANY_NAMES else item
            for item in items
        ]
        return cls(made, short, covers)

    def whole(self, item: Item) -> Item:
        """Return an item with all entries that it covers."""
        covers = self.covers.get(item.covers) if item.covers else None
        return item if covers is None else replace(item, covers=covers)


class _ItemTable:
    """Items by the entries that they show, so that a step only looks at the items that it hides.

    A long session has many compressions, and each hides a small part of it.
    """

    @classmethod
    def after(cls, steps: Sequence[Step], items: Iterable[Item]) -> list[Item]:
        """Return items after steps."""
        table = cls(items)
        table.apply_steps(steps)
        return table.items()

    def __init__(self, items: Iterable[Item]) -> None:
        self._items: list[Item | None] = []
        self._seqs: list[int] = []
        self._places: dict[EntryId, list[int]] = {}
        self._earlier: list[int] = []
        """Places of the items before the last compaction of a host."""
        self._later: list[int] | None = None
        """All other places, the last first; None before the first compaction, as most have none."""
        for item in items:
            self._items.append(item)
            self._seqs.append(item.entry.seq)
            self._register(item, len(self._items) - 1)

    def _register(self, item: Item, at: int) -> None:
        for name in item.shows:
            self._places.setdefault(name, []).append(at)

    def items(self) -> list[Item]:
        """Return the remaining items in order."""
        return [item for item in self._items if item is not None]

    def drop_before(self, entry: Entry, body: Compacted) -> None:
        """Remove the items that a host dropped."""
        kept = set(body.keeps)
        for at in self._places_up_to(entry.seq):
            item = self._items[at]
            if item is not None and item.entry.id not in kept:
                self._items[at] = None

    def _places_up_to(self, seq: int) -> list[int]:
        """Return the places of the remaining items up to an entry; visit removed ones once."""
        if self._later is None:
            self._later = sorted(range(len(self._seqs)), key=lambda at: -self._seqs[at])
        while self._later and self._seqs[self._later[-1]] <= seq:
            self._earlier.append(self._later.pop())
        self._earlier = [at for at in self._earlier if self._items[at] is not None]
        return [at for at in self._earlier if self._seqs[at] <= seq]

    def apply_steps(self, steps: Sequence[Step]) -> None:
        """Replace the first item that a step hides entirely by its stand-in; remove the others."""
        step_of = {name: number for number, step in enumerate(steps) for name in step.hides}
        placed: set[int] = set()
        for place in sorted({place for name in step_of for place in self._places.get(name, ())}):
            item = self._items[place]
            number = step_of.get(item.shows[0], -1) if item is not None else -1
            if (
                item is None
                or number < 0
                or any(step_of.get(name) != number for name in item.shows)
            ):
                continue
            self._items[place], stand_in = None, steps[number].stand_in
            if number not in placed and stand_in is not None:
                self._items[place] = replacement = Item(item.entry, steps[number].hides, stand_in)
                self._register(replacement, place)
            placed.add(number)
