"""The head of a whole ledger, folded from its first entry on.

What `advance` keeps up to date entry by entry is computed here from nothing: after a rewind, when
code of another version wrote the head, and when `fsck` compares the two.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from holdfast.core.ledger.entry import Compressed, Derived, Entry, Restored, is_request, role_of
from holdfast.core.ledger.head import STAMP, UNCOUNTED, Head, Lane, advance, byte_size
from holdfast.core.ledger.window import Window, path_to
from holdfast.core.ledger.window import advance as advance_window


def replay(entries: Iterable[Entry], counts: Mapping[int, int], known: Head) -> Head:
    """The head that `entries` fold to; what no entry tells (wire, documents) is as in `known`."""
    head = replace(
        known,
        seq=0,
        counted=0,
        stale=False,
        stamp=STAMP,
        model="",
        limit=0,
        title="",
        at="",
        lanes={},
    )
    seen: list[Entry] = []
    for entry in entries:
        seen.append(entry)
        head = advance(head, entry, counts.get(entry.seq, UNCOUNTED))
        if head.stale:
            head = _after_rewind(head, entry.lane, seen, counts)
    return head


def _after_rewind(head: Head, name: str, seen: list[Entry], counts: Mapping[int, int]) -> Head:
    window = advance_window(Window(name), seen)
    lane = _resummed(head.lane(name), window, counts)
    return replace(head, stale=False, lanes={**head.lanes, name: lane})


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
    stands = {item.covers for item in window.items if item.stand_in is not None}
    lifted = {entry.body.compressed for entry in window.ledger if isinstance(entry.body, Restored)}
    return sum(
        step.after
        for entry in window.ledger
        if isinstance(entry.body, Compressed) and entry.id not in lifted
        for step in entry.body.steps
        if step.hides in stands
    )


def _size(entry: Entry) -> int:
    return 0 if isinstance(entry.body, Derived) else byte_size(entry.body)


def _is_assistant(entry: Entry) -> bool:
    return not isinstance(entry.body, Derived) and role_of(entry.body) == "assistant"
