"""What a session has in sight, kept up to date: a turn costs what is new.

The window and its messages are built once, from the last one kept in the store and what came
since, and then grow with every append; a compression hides what it hides of them. Anything else (a
rewind, an undo, another process) makes them be built again.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from holdfast.core.ledger.append import Batch
from holdfast.core.ledger.entry import Derived, Entry
from holdfast.core.ledger.head import STAMP, Head
from holdfast.core.ledger.snapshot import keep, numbers, reopen
from holdfast.core.ledger.window import Item, Window, fold, grown
from holdfast.stores.store import Store
from holdfast.text.jsontext import Json, as_object, parse
from holdfast.wire.detect import MESSAGE_WIRES, PLAIN

LONG_FOLD = 1_000
"""Entries folded at one go from which on the window is kept for the next process."""


class Sight:
    """The window of one lane of one session."""

    def __init__(self, store: Store, session: str, lane: str) -> None:
        self._store, self._session, self._lane = store, session, lane
        self._window: Window | None = None
        self._messages: list[bytes] | None = None
        self._seq = 0
        self._held: dict[int, bytes] = {}
        self._whole = False
        """Whether the window's ledger holds every entry, and not only what is in sight."""

    def hold(self, raws: Mapping[int, bytes]) -> None:
        """Show these bytes for the arrivals named, as long as this process lives.

        They are what the rules keep out of the store: the model may see them, the disk may not.
        """
        self._held.update(raws)

    def took(self, batch: Batch) -> None:
        """Grow by what was just written, if nobody else wrote in between."""
        if self._window is None:
            return
        first = batch.entries[0].seq if batch.entries else batch.head.seq + 1
        mine = [entry for entry in batch.entries if entry.lane == self._lane]
        window = grown(self._window, mine) if first == self._seq + 1 else None
        if window is None:
            self._forget()
            return
        if window.generation != self._window.generation:
            self._messages = None
        self._window, self._seq = window, batch.head.seq
        self._grow_messages(batch)

    def _grow_messages(self, batch: Batch) -> None:
        spoken = batch.head.wire or PLAIN
        if self._messages is None or spoken not in MESSAGE_WIRES:
            self._messages = None
            return
        mine = {e.seq for e in batch.entries if e.lane == self._lane and _is_source(e)}
        if any(seen.first and seen.first not in mine for seen in batch.sightings):
            self._messages = None
            return
        # One arrival, one message: what was read from bytes goes out as those bytes.
        self._messages.extend(
            self._held.get(seen.first, seen.raw).strip()
            for seen in batch.sightings
            if seen.first in mine
        )

    def _forget(self) -> None:
        self._window, self._messages, self._seq = None, None, 0

    def window(self, *, whole: bool = False) -> Window:
        """The window as it is now; `whole` when its hidden entries are needed too."""
        head = self._store.head(self._session) or Head()
        if self._window is not None and self._seq == head.seq and (self._whole or not whole):
            return self._window
        self._forget()
        self._window = (None if whole else self._from_kept()) or self._from_ledger()
        self._seq = head.seq
        return self._window

    def _from_kept(self) -> Window | None:
        kept = self._store.window(self._session, self._lane)
        if kept is None or kept.stamp != STAMP:
            return None
        later = [e for e in self._read(kept.seq) if e.lane == self._lane]
        entries = self._store.read(self._session, numbers=numbers(kept))
        window = grown(reopen(kept, {entry.seq: entry for entry in entries}), later)
        if window is None:
            return None
        self._whole = False
        return self._kept_for_later(window, len(later))

    def _from_ledger(self) -> Window:
        entries = self._read(0)
        self._whole = True
        return self._kept_for_later(fold(entries, lane=self._lane), len(entries))

    def _read(self, since: int) -> list[Entry]:
        return list(self._store.read(self._session, since=since))

    def _kept_for_later(self, window: Window, folded: int) -> Window:
        last = max((entry.seq for entry in window.ledger), default=0)
        if folded >= LONG_FOLD:
            self._store.keep(self._session, keep(window, last))
        return window

    def messages(self) -> list[bytes]:
        """The messages in sight, each as bytes."""
        window = self.window()
        if self._messages is None:
            self._messages = self.rendered(window.items)
        return self._messages

    def rendered(self, items: Sequence[Item]) -> list[bytes]:
        """Items of this lane as messages."""
        from holdfast.wire.render import render  # late: hooks send nothing

        head = self._store.head(self._session) or Head()
        firsts = {item.entry.seq - item.entry.part for item in items}
        seen = self._store.arrivals(self._session, firsts)
        for first in seen.keys() & self._held.keys():
            seen[first] = replace(seen[first], raw=self._held[first])
        return render(items, seen, wire=head.wire or PLAIN)


def _is_source(entry: Entry) -> bool:
    return not isinstance(entry.body, Derived)


def copied(raws: Iterable[bytes]) -> list[dict[str, Json]]:
    """Messages as dictionaries that belong to the caller: changing one changes nothing of ours."""
    return [as_object(parse(raw)[0]) for raw in raws]
