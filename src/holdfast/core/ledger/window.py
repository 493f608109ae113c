"""Window: the ledger folded forward, compressions applied.

`advance(window, new)` costs what is new, a compression what is in sight; a rewind or an undo folds
the lane again.
A window is a value: an older one stays as it was while newer ones grow from it, because both look
at the same growing list through a length of their own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar, cast, overload

from msgspec import Struct, field

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

T = TypeVar("T")


class Run(Sequence[T], Generic[T]):
    """A sequence that grows without copying: each value sees its own first `length` items."""

    __slots__ = ("_items", "_length")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items: list[T] = list(items)
        self._length = len(self._items)

    def plus(self, items: Iterable[T]) -> "Run[T]":
        """A run with `items` at its end; this one is unchanged."""
        # Only the longest run may grow in place; a shorter one would write over its elder's items.
        longest = len(self._items) == self._length
        grown: Run[T] = Run() if longest else Run(self)
        if longest:
            grown._items = self._items
        grown._items.extend(items)
        grown._length = len(grown._items)
        return grown

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        return (self._items[index] for index in range(self._length))

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return [self._items[at] for at in range(*index.indices(self._length))]
        return self._items[range(self._length)[index]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and list(self) == list(cast("Run[T]", other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Run({list(self)!r})"


class Item(Struct, frozen=True):
    """One thing in sight: an entry, or what stands in for some."""

    entry: Entry
    """The entry itself, or the first of those it stands for."""
    covers: tuple[EntryId, ...] = ()
    """The entries it stands for; empty when it is the entry itself."""
    stand_in: Source | None = None

    @property
    def body(self) -> Source:
        """What a reader sees here."""
        if self.stand_in is not None:
            return self.stand_in
        # An item is made of a source entry. It is asked for its body too often to look each time.
        return self.entry.body  # pyright: ignore[reportReturnType]

    @property
    def shows(self) -> tuple[EntryId, ...]:
        """The entries that a reader of this item has been told of."""
        return self.covers or (self.entry.id,)


def arrival_of(item: Item) -> int:
    """The first entry of the arrival an item belongs to; 0 for one that stands for several."""
    return 0 if len(item.covers) > 1 else item.entry.seq - item.entry.part


class Window(Struct, frozen=True):
    """What is in sight of one agent."""

    lane: str = ""
    end: EntryId | None = None
    generation: int = 0
    items: Run[Item] = field(default_factory=Run[Item])
    ledger: Run[Entry] = field(default_factory=Run[Entry])
    """Every entry of the lane, on the path or not."""


def fold(entries: Iterable[Entry], *, lane: str = "") -> Window:
    """The window of a whole ledger."""
    return _refold(lane, Run(entry for entry in entries if entry.lane == lane))


def advance(window: Window, entries: Iterable[Entry]) -> Window:
    """The window after more entries; those of other lanes do not concern it."""
    mine = [entry for entry in entries if entry.lane == window.lane]
    if not mine:
        return window
    return grown(window, mine) or _refold(window.lane, window.ledger.plus(mine))


def grown(window: Window, entries: Sequence[Entry]) -> Window | None:
    """The window after more entries of its lane that add to what it shows, or hide some of that.

    None when they do anything else: then the whole lane has to be folded.
    """
    items, end, generation = window.items, window.end, window.generation
    fresh: list[Item] = []
    for entry in entries:
        body = entry.body
        if isinstance(body, Compressed):
            items, fresh = items.plus(fresh), []
            if not _shows_all(items, body.steps):
                return None
            items, generation = Run(apply(body.steps, items)), generation + 1
        elif isinstance(body, Derived):
            if _turns(body):
                return None
        elif entry.parent != end:
            return None
        else:
            fresh.append(Item(entry))
            end = entry.id
    return Window(window.lane, end, generation, items.plus(fresh), window.ledger.plus(entries))


def _shows_all(items: Iterable[Item], steps: Iterable[Step]) -> bool:
    """Whether all that is hidden is in sight: then it is on the path, and the steps hold."""
    shown = {name for item in items for name in item.shows}
    return all(name in shown for step in steps for name in step.hides)


def _turns(body: Derived) -> bool:
    """Whether a body changes what is in sight of the entries before it."""
    if isinstance(body, Noted):
        return body.what == "switched"
    return isinstance(body, Compressed | Restored | Compacted)


def _refold(lane: str, ledger: Run[Entry]) -> Window:
    path = path_to(_end(ledger), ledger)
    names = {entry.id for entry in path}
    shelf = _Shelf(Item(entry) for entry in path)
    for entry in _in_force(ledger, names):
        if isinstance(entry.body, Compacted):
            shelf.drop_before(entry, entry.body)
        elif isinstance(entry.body, Compressed):
            shelf.take(entry.body.steps)
    turning = (Compressed, Restored, Compacted)
    generation = sum(isinstance(entry.body, turning) for entry in ledger)
    end = path[-1].id if path else None
    return Window(lane, end, generation, Run(shelf.items()), ledger)


def _end(ledger: Iterable[Entry]) -> EntryId | None:
    end: EntryId | None = None
    for entry in ledger:
        if not isinstance(entry.body, Derived):
            end = entry.id
        elif isinstance(entry.body, Noted) and entry.body.what == "switched":
            end = entry.parent
    return end


def in_force(window: Window) -> list[Entry]:
    """The compressions that hold on the window's path, oldest first."""
    path = path_to(window.end, window.ledger)
    return _in_force(window.ledger, {entry.id for entry in path})


def path_to(end: EntryId | None, ledger: Iterable[Entry]) -> list[Entry]:
    """The source entries that lead to `end`, first to last."""
    by_id: Mapping[EntryId, Entry] = {
        entry.id: entry for entry in ledger if not isinstance(entry.body, Derived)
    }
    path: list[Entry] = []
    while end is not None and end in by_id:
        path.append(by_id[end])
        end = by_id[end].parent
    return path[::-1]


def _in_force(ledger: Iterable[Entry], path: set[EntryId]) -> list[Entry]:
    """The compressions that hold on a path, oldest first."""
    entries = list(ledger)
    lifted = {entry.body.compressed for entry in entries if isinstance(entry.body, Restored)}
    return [entry for entry in entries if entry.id not in lifted and _holds(entry, path)]


def _holds(entry: Entry, path: set[EntryId]) -> bool:
    match entry.body:
        case Compressed():
            # It holds on a branch only if all it hides is on it.
            return all(name in path for step in entry.body.steps for name in step.hides)
        case Compacted():
            return entry.parent in path
        case _:
            return False


def apply(steps: Sequence[Step], items: Iterable[Item]) -> list[Item]:
    """The items once the steps have been taken: each stand-in where its first hidden item was."""
    shelf = _Shelf(items)
    shelf.take(steps)
    return shelf.items()


class _Shelf:
    """Items in their places, found by what they show: a step costs what it hides, not what stays.

    A long session is folded from all its compressions, and each hides little of it.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self._items: list[Item | None] = []
        self._seqs: list[int] = []
        self._places: dict[EntryId, list[int]] = {}
        self._earlier: list[int] = []
        """Places that the last compaction of a host came after."""
        self._later: list[int] | None = None
        """All others, the last first; made when a first one comes, as most sessions have none."""
        for item in items:
            self._items.append(item)
            self._seqs.append(item.entry.seq)
            self._show(item, len(self._items) - 1)

    def _show(self, item: Item, at: int) -> None:
        for name in item.shows:
            self._places.setdefault(name, []).append(at)

    def items(self) -> list[Item]:
        """What is left, in order."""
        return [item for item in self._items if item is not None]

    def drop_before(self, entry: Entry, body: Compacted) -> None:
        """Let go of what a host dropped."""
        kept = set(body.keeps)
        for at in self._up_to(entry.seq):
            item = self._items[at]
            if item is not None and item.entry.id not in kept:
                self._items[at] = None

    def _up_to(self, seq: int) -> list[int]:
        """The places of what is left up to an entry: each is looked at once, unless it stays."""
        if self._later is None:
            self._later = sorted(range(len(self._seqs)), key=lambda at: -self._seqs[at])
        while self._later and self._seqs[self._later[-1]] <= seq:
            self._earlier.append(self._later.pop())
        self._earlier = [at for at in self._earlier if self._items[at] is not None]
        return [at for at in self._earlier if self._seqs[at] <= seq]

    def take(self, steps: Sequence[Step]) -> None:
        """Put each stand-in where the first item was that its step hides whole."""
        owner = {name: at for at, step in enumerate(steps) for name in step.hides}
        placed: set[int] = set()
        for place in sorted({at for name in owner for at in self._places.get(name, ())}):
            item = self._items[place]
            at = owner.get(item.shows[0], -1) if item is not None else -1
            if item is None or at < 0 or any(owner.get(name) != at for name in item.shows):
                continue
            self._items[place], stand_in = None, steps[at].stand_in
            if at not in placed and stand_in is not None:
                self._items[place] = shown = Item(item.entry, steps[at].hides, stand_in)
                self._show(shown, place)
            placed.add(at)
