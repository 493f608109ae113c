"""Cache of one lane's window and its messages, extended with every append.

The window is built once, from the snapshot in the store and the entries since then. An append
extends it, a compression hides items of it, so a turn costs only what is new. Anything else (a
rewind, an undo, a write by another process) invalidates the cache.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from holdfast.core.ledger.append import Batch
from holdfast.core.ledger.entry import Derived, Entry
from holdfast.core.ledger.head import FOLD_VERSION, Head
from holdfast.core.ledger.snapshot import (
    entries_needed,
    open_snapshot,
    take_snapshot,
    without_hidden,
)
from holdfast.core.ledger.window import Item, Window, extend_window, fold
from holdfast.stores.store import Store
from holdfast.text.jsontext import Json, as_object, parse
from holdfast.wire.detect import DEFAULT_MESSAGE_WIRE, MESSAGE_WIRES

MIN_FOLD_TO_SAVE = 1_000
"""Number of folded entries from which on a snapshot of the window is saved for the next process."""


class LiveWindow:
    """The window of one lane of one session."""

    def __init__(self, store: Store, session: str, lane: str) -> None:
        self._store, self._session, self._lane = store, session, lane
        self._window: Window | None = None
        self._messages: list[bytes] | None = None
        self._seq = 0
        self._overrides: dict[int, bytes] = {}
        self._has_all_entries = False
        """Whether the window's ledger holds every entry, and not only the visible ones."""

    def override_bytes(self, raw_by_first: Mapping[int, bytes]) -> None:
        """Send these bytes for the named messages, as long as this process lives.

        Never-store rules keep them out of the store: the model may see them, the disk may not.
        """
        self._overrides.update(raw_by_first)

    def extend(self, batch: Batch) -> None:
        """Add a batch that was just written, or invalidate the cache if others wrote in between."""
        if self._window is None:
            return
        first = batch.entries[0].seq if batch.entries else batch.head.seq + 1
        mine = [entry for entry in batch.entries if entry.lane == self._lane]
        window = extend_window(self._window, mine) if first == self._seq + 1 else None
        if window is None:
            self._invalidate()
            return
        if window.generation != self._window.generation:
            self._messages = None
            window = window if self._has_all_entries else without_hidden(window)
        self._window, self._seq = window, batch.head.seq
        self._extend_messages(batch)

    def _extend_messages(self, batch: Batch) -> None:
        wire = batch.head.wire or DEFAULT_MESSAGE_WIRE
        if self._messages is None or wire not in MESSAGE_WIRES:
            self._messages = None
            return
        mine = {e.seq for e in batch.entries if e.lane == self._lane and _is_source(e)}
        if any(seen.first and seen.first not in mine for seen in batch.sightings):
            self._messages = None
            return
        # One arrival is one message: it is sent as the bytes it was read from.
        self._messages.extend(
            self._overrides.get(seen.first, seen.raw).strip()
            for seen in batch.sightings
            if seen.first in mine
        )

    def _invalidate(self) -> None:
        self._window, self._messages, self._seq = None, None, 0

    def window(self, *, whole: bool = False) -> Window:
        """Return the current window; with `whole`, its ledger holds the hidden entries too."""
        head = self._store.head(self._session) or Head()
        if (
            self._window is not None
            and self._seq == head.seq
            and (self._has_all_entries or not whole)
        ):
            return self._window
        self._invalidate()
        if whole:
            self._window = self._from_ledger()
        else:
            self._window = without_hidden(self._from_snapshot() or self._from_ledger())
        self._has_all_entries = whole
        self._seq = head.seq
        return self._window

    def whole(self) -> Window:
        """Return the window with every entry in its ledger; it is not kept, as few callers ask."""
        head = self._store.head(self._session) or Head()
        if self._window is not None and self._has_all_entries and self._seq == head.seq:
            return self._window
        return fold(self._read(0), lane=self._lane)

    @property
    def seq(self) -> int:
        """The number of the last entry that the window was read up to."""
        return self._seq

    def _from_snapshot(self) -> Window | None:
        snapshot = self._store.window(self._session, self._lane)
        if snapshot is None or snapshot.stamp != FOLD_VERSION:
            return None
        later = [e for e in self._read(snapshot.seq) if e.lane == self._lane]
        entries = self._store.read(self._session, numbers=entries_needed(snapshot))
        window = extend_window(
            open_snapshot(snapshot, {entry.seq: entry for entry in entries}), later
        )
        if window is None:
            return None
        return self._save_if_long(window, len(later))

    def _from_ledger(self) -> Window:
        entries = self._read(0)
        return self._save_if_long(fold(entries, lane=self._lane), len(entries))

    def _read(self, since: int) -> list[Entry]:
        return list(self._store.read(self._session, since=since))

    def _save_if_long(self, window: Window, folded: int) -> Window:
        last = max((entry.seq for entry in window.ledger), default=0)
        if folded >= MIN_FOLD_TO_SAVE:
            self._store.save_window(self._session, take_snapshot(window, last))
        return window

    def messages(self) -> list[bytes]:
        """Return the messages of the window, each as bytes."""
        window = self.window()
        if self._messages is None:
            self._messages = self.render_items(window.items)
        return self._messages

    def render_items(self, items: Sequence[Item]) -> list[bytes]:
        """Render items of this lane as messages."""
        from holdfast.wire.render import render  # late: hooks send nothing

        head = self._store.head(self._session) or Head()
        firsts = {item.entry.seq - item.entry.part for item in items}
        seen = self._store.arrivals(self._session, firsts)
        for first in seen.keys() & self._overrides.keys():
            seen[first] = replace(seen[first], raw=self._overrides[first])
        return render(items, seen, wire=head.wire or DEFAULT_MESSAGE_WIRE)


def _is_source(entry: Entry) -> bool:
    return not isinstance(entry.body, Derived)


def message_dicts(messages: Iterable[bytes]) -> list[dict[str, Json]]:
    """Parse messages into dictionaries of the caller's own, which it may change."""
    return [as_object(parse(raw)[0]) for raw in messages]
