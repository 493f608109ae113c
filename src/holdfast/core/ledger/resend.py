"""A client sends its whole history again: which of it is known, and what is new?

The longest common prefix is known. Four things count as the same although they read otherwise:
our own stand-ins and summary stand for what they hide; words that we put in may be missing, for a
client need not have them; the results of parallel calls may come in any order; and a result whose
call id is known but whose text is not was replaced by the host, so the original stays the entry and
the replacement becomes a compression by the host.
"""

from collections.abc import Callable, Mapping, Sequence, Set

from msgspec import Struct

from holdfast.core.ledger.chain import link, meaning
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


class Match(Struct, frozen=True):
    """How a resent history lies on the known path."""

    known: int
    """How many of the resent bodies are known."""
    firsts: tuple[int, ...]
    """For each known body the number of the entry it is; 0 for one of our stand-ins."""
    end: EntryId | None
    """The last known entry: what is new follows it."""
    left: int
    """How many entries of the known path the client no longer has."""
    replaced: tuple[tuple[Entry, Source], ...] = ()
    """Results that the host replaced: the original, and what the client has instead."""


def match(window: Window, resent: Sequence[Source], meanings: Sequence[bytes]) -> Match:
    """Lay a resent history on the path it came from.

    A client sends what it was given: everything, or our window. Words that were hidden and said
    again fit both; the reading that explains more of the history is the right one.
    """
    ground = _ground(window)
    # Where nothing is hidden, both orders are one and the same.
    orders = (True, False) if ground.out_of_sight else (True,)
    walks = [_Walk(ground, hidden_first=hidden_first) for hidden_first in orders]
    for walk in walks:
        for body, meant in zip(resent, meanings, strict=True):
            if not walk.step(body, meant):
                break
    return max((walk.result() for walk in walks), key=lambda found: (found.known, -found.left))


class _Ground(Struct, frozen=True):
    """What is walked on: the known path, what it means, and what of it is hidden."""

    path: list[Entry]
    meanings: list[bytes]
    stands: dict[tuple[int, bytes], frozenset[int]]
    out_of_sight: frozenset[int]
    ours: frozenset[int]
    """Words that we put in ourselves: the client has them or not."""


def _ground(window: Window) -> _Ground:
    path = path_to(window.end, window.ledger)
    places = {entry.id: at for at, entry in enumerate(path)}
    return _Ground(
        path=path,
        meanings=[meaning(_source(entry)) for entry in path],
        stands=_stand_ins(window, places),
        out_of_sight=_out_of_sight(window, places),
        ours=frozenset(at for at, entry in enumerate(path) if is_ours(entry.body)),
    )


class _Walk:
    """A walk along the known path, one resent body at a time."""

    def __init__(self, ground: _Ground, *, hidden_first: bool) -> None:
        self.path, self.meanings = ground.path, ground.meanings
        self.stands, self.out_of_sight = ground.stands, ground.out_of_sight
        self.ours = ground.ours
        self.hidden_first = hidden_first
        self.at = 0
        self.taken: set[int] = set()
        self.firsts: list[int] = []
        self.replaced: list[tuple[Entry, Source]] = []

    def step(self, body: Source, meant: bytes) -> bool:
        """Whether the next resent body is known."""
        start = self.at
        orders = (self._in_order, self._in_sight)
        for take in orders if self.hidden_first else orders[::-1]:
            self.at = start
            if take(body, meant) or self._past_ours(take, body, meant):
                self._pass(self.taken)
                return True
        self.at = start
        return False

    def _past_ours(self, take: Callable[[Source, bytes], bool], body: Source, meant: bytes) -> bool:
        """Take what comes after words of ours, which a client need not have."""
        while self.at in self.ours:
            self.at += 1
            if take(body, meant):
                return True
        return False

    def _in_order(self, body: Source, meant: bytes) -> bool:
        """Take what comes next, hidden or not."""
        self._pass(self.taken)
        return self._takes(body, meant)

    def _in_sight(self, body: Source, meant: bytes) -> bool:
        """Take what comes next of what our window shows."""
        self._pass(self.taken)
        while self.at in self.out_of_sight:
            if self._takes_stand_in(meant):
                return True
            self.at += 1
            self._pass(self.taken)
        return self._takes(body, meant)

    def _takes(self, body: Source, meant: bytes) -> bool:
        if self.at < len(self.path) and self._is(self.at, meant):
            return self._take(self.at, self.path[self.at].seq)
        if self._takes_stand_in(meant):
            return True
        return isinstance(body, ToolReturned) and self._takes_result(body, meant)

    def _takes_stand_in(self, meant: bytes) -> bool:
        covered = self.stands.get((self.at, meant))
        if covered is None:
            return False
        self.taken |= covered
        return self._take(self.at, 0)

    def _takes_result(self, body: ToolReturned, meant: bytes) -> bool:
        """Whether a result answers a call of the run of results we stand in."""
        for at in range(self.at, len(self.path)):
            known = self.path[at].body
            if not isinstance(known, ToolReturned):
                return False
            if known.call == body.call and at not in self.taken:
                if not self._is(at, meant):
                    self.replaced.append((self.path[at], body))
                return self._take(at, self.path[at].seq)
        return False

    def _is(self, at: int, meant: bytes) -> bool:
        """Whether a meaning is that of an entry, or was before the entry was purged."""
        if self.meanings[at] == meant:
            return True
        known = self.path[at]
        return link(known.parent, meant, lane=known.lane, fork=known.fork) == known.id

    def _take(self, at: int, number: int) -> bool:
        self.taken.add(at)
        self.firsts.append(number)
        return True

    def _pass(self, places: Set[int]) -> None:
        while self.at in places:
            self.at += 1

    def result(self) -> Match:
        """How far the walk came."""
        self._pass(self.taken | self.out_of_sight | self.ours)
        # In a run of results that broke off, what was taken out of order counts up to its last.
        reached = max(self.at, *(at + 1 for at in self.taken), 0)
        end = self.path[reached - 1].id if reached else None
        left = len(self.path) - reached
        return Match(len(self.firsts), tuple(self.firsts), end, left, tuple(self.replaced))


def _source(entry: Entry) -> Source:
    assert not isinstance(entry.body, Derived)
    return entry.body


def _stand_ins(
    window: Window, places: Mapping[EntryId, int]
) -> dict[tuple[int, bytes], frozenset[int]]:
    """By where a stand-in begins on the path and what it means: the places it stands for.

    Those of earlier compressions count too: a client may still have what it was given then.
    """
    found: dict[tuple[int, bytes], frozenset[int]] = {}
    for entry in window.ledger:
        for step in entry.body.steps if isinstance(entry.body, Compressed) else ():
            covered = frozenset(places[name] for name in step.hides if name in places)
            if step.stand_in is not None and len(covered) == len(step.hides):
                found[min(covered), meaning(step.stand_in)] = covered
    return found


def _out_of_sight(window: Window, places: Mapping[EntryId, int]) -> frozenset[int]:
    shown = {item.entry.id for item in window.items if item.stand_in is None}
    return frozenset(at for name, at in places.items() if name not in shown)


def orphans(entries: Sequence[Entry]) -> dict[str, ToolReturned]:
    """Results recorded before their call was seen, by call id: a hook is faster than a transcript.

    When the transcript brings the same call's result later, the one recorded first is the original.
    """
    called: set[str] = set()
    found: dict[str, ToolReturned] = {}
    for entry in entries:
        match entry.body:
            case ToolCalled():
                called.add(entry.body.call)
            case ToolReturned() if entry.body.call not in called:
                found[entry.body.call] = entry.body
            case _:
                continue
    return found
