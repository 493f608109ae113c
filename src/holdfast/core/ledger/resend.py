"""Match a resent history with the known path: find the known messages and the new ones.

The longest common prefix is known. Four differences are allowed: our stand-ins and summaries match
the entries that they hide; text that Holdfast inserted may be missing, because a client need not
have it; the results of parallel calls may have any order; and a result with a known call id and
another text was replaced by the host, so the original stays the entry and the replacement becomes
a compression by the host.
"""

from collections.abc import Callable, Mapping, Sequence, Set

from msgspec import Struct

from holdfast.core.ledger.chain import meaning, source_id
from holdfast.core.ledger.entry import (
    Compressed,
    Derived,
    Entry,
    EntryId,
    Source,
    ToolCalled,
    ToolReturned,
    is_ours,
)
from holdfast.core.ledger.window import Window, path_to


class ResendMatch(Struct, frozen=True):
    """The known part of a resent history."""

    known: int
    """The number of resent bodies that are known."""
    firsts: tuple[int, ...]
    """For each known body the number of its entry; 0 for one of our stand-ins."""
    end: EntryId | None
    """The last known entry, which the new bodies follow."""
    left: int
    """The number of entries of the known path that the client no longer has."""
    replaced: tuple[tuple[Entry, Source], ...] = ()
    """Results that the host replaced: the original entry and the client's version."""


def match_resent(
    window: Window, resent: Sequence[Source], meanings: Sequence[bytes]
) -> ResendMatch:
    """Match a resent history with the path of a window.

    A client resends either every entry or the items of our window. A hidden text that was repeated
    later fits both readings; the reading that matches more of the history is used.
    """
    known_path = _read_known_path(window)
    # If nothing is hidden, both orders are equal.
    orders = (True, False) if known_path.out_of_sight else (True,)
    walks = [_PathWalk(known_path, hidden_first=hidden_first) for hidden_first in orders]
    for walk in walks:
        for body, meant in zip(resent, meanings, strict=True):
            if not walk.step(body, meant):
                break
    return max((walk.result() for walk in walks), key=lambda result: (result.known, -result.left))


class _KnownPath(Struct, frozen=True):
    """The known path: its entries, their meanings, and the places that are hidden."""

    path: list[Entry]
    meanings: list[bytes]
    stand_ins: dict[tuple[int, bytes], frozenset[int]]
    out_of_sight: frozenset[int]
    ours: frozenset[int]
    """Places of text that Holdfast inserted: the client may not have it."""


def _read_known_path(window: Window) -> _KnownPath:
    path = path_to(window.end, window.ledger)
    places = {entry.id: at for at, entry in enumerate(path)}
    return _KnownPath(
        path=path,
        meanings=[meaning(_source_body(entry)) for entry in path],
        stand_ins=_stand_ins_by_place(window, places),
        out_of_sight=_hidden_places(window, places),
        ours=frozenset(at for at, entry in enumerate(path) if is_ours(entry.body)),
    )


class _PathWalk:
    """Walks along the known path, one resent body at a time."""

    def __init__(self, known_path: _KnownPath, *, hidden_first: bool) -> None:
        self.path, self.meanings = known_path.path, known_path.meanings
        self.stand_ins, self.out_of_sight = known_path.stand_ins, known_path.out_of_sight
        self.ours = known_path.ours
        self.hidden_first = hidden_first
        self.at = 0
        self.taken: set[int] = set()
        self.firsts: list[int] = []
        self.replaced: list[tuple[Entry, Source]] = []

    def step(self, body: Source, meant: bytes) -> bool:
        """Match the next resent body; return whether it is known."""
        start = self.at
        orders = (self._match_in_order, self._match_in_window)
        for match_body in orders if self.hidden_first else orders[::-1]:
            self.at = start
            if match_body(body, meant) or self._match_after_ours(match_body, body, meant):
                self._skip(self.taken)
                return True
        self.at = start
        return False

    def _match_after_ours(
        self, match_body: Callable[[Source, bytes], bool], body: Source, meant: bytes
    ) -> bool:
        """Skip inserted text, which a client need not have, and match the entry behind it."""
        while self.at in self.ours:
            self.at += 1
            if match_body(body, meant):
                return True
        return False

    def _match_in_order(self, body: Source, meant: bytes) -> bool:
        """Match the next entry, hidden or not."""
        self._skip(self.taken)
        return self._match_next(body, meant)

    def _match_in_window(self, body: Source, meant: bytes) -> bool:
        """Match the next item that our window shows."""
        self._skip(self.taken)
        while self.at in self.out_of_sight:
            if self._match_stand_in(meant):
                return True
            self.at += 1
            self._skip(self.taken)
        return self._match_next(body, meant)

    def _match_next(self, body: Source, meant: bytes) -> bool:
        if self.at < len(self.path) and self._means(self.at, meant):
            return self._mark_known(self.at, self.path[self.at].seq)
        if self._match_stand_in(meant):
            return True
        return isinstance(body, ToolReturned) and self._match_result(body, meant)

    def _match_stand_in(self, meant: bytes) -> bool:
        covered = self.stand_ins.get((self.at, meant))
        if covered is None:
            return False
        self.taken |= covered
        return self._mark_known(self.at, 0)

    def _match_result(self, body: ToolReturned, meant: bytes) -> bool:
        """Match a result with any result of the current run of results that has its call id."""
        for at in range(self.at, len(self.path)):
            known = self.path[at].body
            if not isinstance(known, ToolReturned):
                return False
            if known.call == body.call and at not in self.taken:
                if not self._means(at, meant):
                    self.replaced.append((self.path[at], body))
                return self._mark_known(at, self.path[at].seq)
        return False

    def _means(self, at: int, meant: bytes) -> bool:
        """Whether a meaning is that of an entry, or was before the entry was purged."""
        if self.meanings[at] == meant:
            return True
        known = self.path[at]
        return source_id(known.parent, meant, lane=known.lane, fork=known.fork) == known.id

    def _mark_known(self, at: int, number: int) -> bool:
        self.taken.add(at)
        self.firsts.append(number)
        return True

    def _skip(self, places: Set[int]) -> None:
        while self.at in places:
            self.at += 1

    def result(self) -> ResendMatch:
        """Return the match up to the last known body."""
        self._skip(self.taken | self.out_of_sight | self.ours)
        # If a run of results is incomplete, the path ends after the last of them that matched.
        end_place = max(self.at, *(at + 1 for at in self.taken), 0)
        end = self.path[end_place - 1].id if end_place else None
        left = len(self.path) - end_place
        return ResendMatch(len(self.firsts), tuple(self.firsts), end, left, tuple(self.replaced))


def _source_body(entry: Entry) -> Source:
    assert not isinstance(entry.body, Derived)
    return entry.body


def _stand_ins_by_place(
    window: Window, places: Mapping[EntryId, int]
) -> dict[tuple[int, bytes], frozenset[int]]:
    """Return the places that each stand-in covers, by its first place and its meaning.

    Stand-ins of earlier compressions count too, because a client may still have them.
    """
    by_place: dict[tuple[int, bytes], frozenset[int]] = {}
    for entry in window.ledger:
        for step in entry.body.steps if isinstance(entry.body, Compressed) else ():
            covered = frozenset(places[name] for name in step.hides if name in places)
            if step.stand_in is not None and len(covered) == len(step.hides):
                by_place[min(covered), meaning(step.stand_in)] = covered
    return by_place


def _hidden_places(window: Window, places: Mapping[EntryId, int]) -> frozenset[int]:
    shown = {item.entry.id for item in window.items if item.stand_in is None}
    return frozenset(at for name, at in places.items() if name not in shown)


def results_without_call(entries: Sequence[Entry]) -> dict[str, ToolReturned]:
    """Return the results that were recorded before their call, by call id.

    A hook is faster than a transcript. If the transcript has a result of the same call later, the
    one that was recorded first is the original.
    """
    called: set[str] = set()
    results: dict[str, ToolReturned] = {}
    for entry in entries:
        match entry.body:
            case ToolCalled():
                called.add(entry.body.call)
            case ToolReturned() if entry.body.call not in called:
                results[entry.body.call] = entry.body
            case _:
                continue
    return results
