"""A client sends its whole history again: which of it is known, and what is new?

The longest common prefix is known. Three things count as the same although they read otherwise:
our own stand-ins and summary stand for what they hide; the results of parallel calls may come in
any order; and a result whose call id is known but whose text is not was replaced by the host, so
the original stays the entry and the replacement becomes a compression by the host.
"""

from collections.abc import Mapping, Sequence, Set

from msgspec import Struct

from holdfast.core.ledger.chain import meaning
from holdfast.core.ledger.entry import Derived, Entry, EntryId, Source, ToolCalled, ToolReturned
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
    """Lay a resent history on the path it came from."""
    walk = _Walk(window)
    for body, meant in zip(resent, meanings, strict=True):
        if not walk.step(body, meant):
            break
    return walk.result()


class _Walk:
    """A walk along the known path, one resent body at a time."""

    def __init__(self, window: Window) -> None:
        self.path = path_to(window.end, window.ledger)
        self.meanings = [meaning(_source(entry)) for entry in self.path]
        places = {entry.id: at for at, entry in enumerate(self.path)}
        self.stands = _stand_ins(window, places)
        self.out_of_sight = _out_of_sight(window, places)
        self.at = 0
        self.taken: set[int] = set()
        self.firsts: list[int] = []
        self.replaced: list[tuple[Entry, Source]] = []

    def step(self, body: Source, meant: bytes) -> bool:
        """Whether the next resent body is known."""
        start = self.at
        while not self._takes(body, meant):
            # A client that sends our window back lacks what the window does not show.
            if self.at not in self.out_of_sight:
                self.at = start
                return False
            self.at += 1
        self._pass(self.taken)
        return True

    def _takes(self, body: Source, meant: bytes) -> bool:
        self._pass(self.taken)
        if self.at < len(self.path) and self.meanings[self.at] == meant:
            return self._take(self.at, self.path[self.at].seq)
        if self.stands.get(self.at) == meant:
            return self._take(self.at, 0)
        return isinstance(body, ToolReturned) and self._takes_result(body, meant)

    def _takes_result(self, body: ToolReturned, meant: bytes) -> bool:
        """Whether a result answers a call of the run of results we stand in."""
        for at in range(self.at, len(self.path)):
            known = self.path[at].body
            if not isinstance(known, ToolReturned):
                return False
            if known.call == body.call and at not in self.taken:
                if self.meanings[at] != meant:
                    self.replaced.append((self.path[at], body))
                return self._take(at, self.path[at].seq)
        return False

    def _take(self, at: int, number: int) -> bool:
        self.taken.add(at)
        self.firsts.append(number)
        return True

    def _pass(self, places: Set[int]) -> None:
        while self.at in places:
            self.at += 1

    def result(self) -> Match:
        """How far the walk came."""
        self._pass(self.taken | self.out_of_sight)
        # In a run of results that broke off, what was taken out of order counts up to its last.
        reached = max(self.at, *(at + 1 for at in self.taken), 0)
        end = self.path[reached - 1].id if reached else None
        left = len(self.path) - reached
        return Match(len(self.firsts), tuple(self.firsts), end, left, tuple(self.replaced))


def _source(entry: Entry) -> Source:
    assert not isinstance(entry.body, Derived)
    return entry.body


def _stand_ins(window: Window, places: Mapping[EntryId, int]) -> dict[int, bytes]:
    """Where stand-ins begin on the path, and what they mean."""
    return {
        min(places[name] for name in item.covers): meaning(item.stand_in)
        for item in window.items
        if item.stand_in is not None
    }


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
