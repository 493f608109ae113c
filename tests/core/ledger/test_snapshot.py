import pytest

from holdfast.core.ledger.append import Arrival, Draft, append_arrivals, derived_entry
from holdfast.core.ledger.entry import Compressed, Entry, Restored, Said, Step
from holdfast.core.ledger.head import FOLD_VERSION, Head
from holdfast.core.ledger.snapshot import (
    ItemRef,
    WindowSnapshot,
    entries_needed,
    open_snapshot,
    take_snapshot,
)
from holdfast.core.ledger.window import fold

A, B, C = append_arrivals(
    Head(), [Arrival(b"", (Draft(Said("user", word)),)) for word in "abc"]
).entries
FIRST = derived_entry(
    4, Compressed((Step((A.id,), "old"), Step((B.id,), "x", Said("user", "-"))), 0, 3), parent=C.id
)
SECOND = derived_entry(5, Compressed((Step((B.id,), "y", Said("user", "=")),), 1, 4), parent=C.id)
UNDONE = derived_entry(6, Restored(SECOND.id, 2), parent=C.id)


def test_a_window_is_kept_by_number() -> None:
    kept = take_snapshot(fold([A, B, C, FIRST]), 4)
    assert kept == WindowSnapshot("", C.id, 1, 4, (ItemRef(2, 4, 1), ItemRef(3)), FOLD_VERSION)
    assert entries_needed(kept) == {2, 3, 4}


@pytest.mark.parametrize(
    "entries",
    [[], [A, B, C], [A, B, C, FIRST], [A, B, C, FIRST, SECOND], [A, B, C, FIRST, SECOND, UNDONE]],
    ids=["empty", "plain", "hidden", "hidden twice", "hidden twice and lifted once"],
)
def test_a_kept_window_opens_as_it_was(entries: list[Entry]) -> None:
    window = fold(entries)
    kept = take_snapshot(window, len(entries))
    opened = open_snapshot(kept, {e.seq: e for e in entries if e.seq in entries_needed(kept)})
    assert (opened.lane, opened.end, opened.generation) == ("", window.end, window.generation)
    assert opened.items == window.items


def test_of_the_same_hidden_twice_the_one_in_force_is_named() -> None:
    step = Step((B.id,), "x", Said("user", "-"))
    first = derived_entry(4, Compressed((step,), 0, 3), parent=C.id)
    undone = derived_entry(5, Restored(first.id, 1), parent=C.id)
    again = derived_entry(6, Compressed((step,), 2, 5), parent=C.id)
    kept = take_snapshot(fold([A, B, C, first, undone, again]), 6)
    assert kept.items == (ItemRef(1), ItemRef(2, 6, 0), ItemRef(3))
