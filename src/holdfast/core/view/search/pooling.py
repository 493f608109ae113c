"""From the rows that hold each term to a pool of passages worth reading.

A passage promises as much as the terms in it are rare. What stands beside a promising entry gets a
share of its promise: a question and its answer are seldom said in the same breath.
"""

from collections.abc import Callable, Iterable, Sequence
from heapq import nlargest
from math import log
from operator import add

from msgspec import Struct

from holdfast.core.view.search.query import Term

BESIDE = (0.5, 0.2)
"""The share that the next entries get, by their distance."""


LIKE = 0.5
"""What a word that means nearly the same promises, before it is known which it is."""


class Spot(Struct, frozen=True):
    """A passage, by the number of its session, the place of its entry, and which one it is."""

    session: int
    place: int
    passage: int
    promise: float = 0.0


class Found(Struct, frozen=True):
    """A passage as the ledger knows it."""

    session: str
    seq: int
    place: int
    """Which entry with anything to find in it this is."""
    passage: int
    step: int
    promise: float = 0.0


class Matches(Struct, frozen=True):
    """The rows that hold a term, the newest first and no more than asked for."""

    term: Term
    rows: Sequence[int]
    like: Sequence[int] = ()
    """Rows that hold a word which means nearly the same."""


class Pool(Struct, frozen=True):
    """What is worth reading, and what each term is worth."""

    spots: tuple[Spot, ...]
    rarity: tuple[float, ...]
    """In the order of the terms; 0 for one that stands nowhere."""


class Pooled(Struct, frozen=True):
    """A pool as a store gives it."""

    found: tuple[Found, ...] = ()
    rarity: tuple[float, ...] = ()


def rarity(rows: int, total: int) -> float:
    """What finding a term says: much when few passages hold it."""
    return log(1 + (max(total, rows) - rows + 0.5) / (rows + 0.5)) if rows else 0.0


def pool_of(
    matches: Sequence[Matches],
    together: Iterable[tuple[tuple[int, ...], Iterable[int]]],
    total: int,
    *,
    limit: int,
    place: Callable[[int], Spot],
) -> Pool:
    """The most promising passages, and those beside them.

    `together` has rows that hold several terms at once, for terms too frequent to see all rows of.
    """
    worth = tuple(_worth(one, total) for one in matches)
    promise: dict[int, float] = {}
    for one, value in zip(matches, worth, strict=True):
        gain = value * one.term.weight
        # What stands there counts, not what is like it as well.
        _join(promise, dict.fromkeys(one.like, gain * LIKE) | dict.fromkeys(one.rows, gain), add)
    for pair, rows in together:
        gain = sum(worth[at] * matches[at].term.weight for at in pair)
        _join(promise, dict.fromkeys(rows, gain), max)
    # Rows are numbered in the order of the ledger: of equals, the newest first.
    best = nlargest(limit, zip(promise.values(), promise, strict=True))
    spots = {_key(spot): spot for spot in (_promising(place(row), value) for value, row in best)}
    for spot in tuple(spots.values()):
        for beside in _beside(spot):
            known = spots.get(_key(beside))
            if known is None or known.promise < beside.promise:
                spots[_key(beside)] = beside
    ranked = sorted(spots.values(), key=lambda spot: -spot.promise)
    return Pool(tuple(ranked[:limit]), worth)


def _join(
    promise: dict[int, float], more: dict[int, float], both: Callable[[float, float], float]
) -> None:
    """Few rows stand in two: the others are taken over as they are."""
    for row in more.keys() & promise.keys():
        more[row] = both(more[row], promise[row])
    promise.update(more)


def _worth(one: Matches, total: int) -> float:
    """A word that stands nowhere is as rare as can be, where others mean the same."""
    return rarity(len(one.rows) or int(bool(one.like)), total)


def _key(spot: Spot) -> tuple[int, int, int]:
    return spot.session, spot.place, spot.passage


def _promising(spot: Spot, promise: float) -> Spot:
    return Spot(spot.session, spot.place, spot.passage, promise)


def _beside(spot: Spot) -> list[Spot]:
    """The first passages of the entries around one; those before the first are none."""
    return [
        Spot(spot.session, spot.place + way * (away + 1), 0, spot.promise * share)
        for away, share in enumerate(BESIDE)
        for way in (-1, 1)
        if spot.place + way * (away + 1) >= 0
    ]
