"""A question as the index can be asked it: any text at all becomes a few terms, never an error."""

import re
from collections.abc import Callable, Iterable, Sequence
from heapq import nlargest
from math import log
from operator import add
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from holdfast.text.language import COMMON_WORDS
from holdfast.text.words import (
    INNER,
    LONGEST,
    SYMBOL,
    UNSPACED,
    WORD,
    is_code,
    is_joined,
    name_of,
    pairs_of,
)

Like: TypeAlias = Callable[[str], Sequence[tuple[str, float]]]
"""Words that mean nearly the same as one, the nearest first, and how nearly from 0 to 1."""

TERMS = 32
"""Terms that are looked up; of a longer question the most telling."""
QUOTE = 2.0
"""How much more quoted text weighs than a word."""
QUOTED = re.compile(r'"([^"]{2,400})"|`([^`]{2,400})`|“([^”]{2,400})”')
FEWEST, MOST = 2, 12
"""Words of a question that may be what is looked for, word by word."""
EDGES = " \t\r\n\"'`.,;:!?()[]{}<>“”‘’*"
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")


class Term(Struct, frozen=True):
    """One thing to look up: a word, or words that stand together."""

    words: tuple[str, ...]
    """In small letters."""
    text: str = ""
    """As it was asked for, in small letters, when the exact spelling tells more than its words."""
    prefix: bool = False
    """Whether the last word may go on."""
    weight: float = 1.0
    like: tuple[tuple[str, float], ...] = ()
    """Words that mean nearly the same, and how nearly."""


class Query(Struct, frozen=True):
    """What is looked for."""

    text: str
    terms: tuple[Term, ...]
    filler: tuple[Term, ...] = ()
    """Words that say nothing, for when there is nothing else."""
    dates: tuple[str, ...] = ()
    """Beginnings of dates it names, `2023-05` or `-05-07`."""

    @property
    def plain(self) -> tuple[str, ...]:
        """Its single words, for those who compare meanings."""
        return tuple(dict.fromkeys(word for term in self.terms for word in term.words))


def parse_query(text: str, like: Like | None = None) -> Query:
    """The terms of a question: quoted text, names from code, then words that say something."""
    terms: dict[tuple[str, ...], Term] = {}
    for found in QUOTED.finditer(text):
        _add(terms, _phrase(next(filter(None, found.groups())), weight=QUOTE))
    if FEWEST <= len(_split(text[:400])) <= MOST:
        _add(terms, _phrase(text, weight=QUOTE))
    for chunk in text.split():
        bare = chunk.strip(EDGES)
        for term in _terms_of(bare, prefix=chunk.endswith("*") and bool(bare)):
            _add(terms, term)
    telling = [one for one in terms.values() if not _is_filler(one)]
    filler = [one for one in terms.values() if _is_filler(one)]
    return Query(
        text=text,
        terms=tuple(_with_like(one, like) for one in _most_telling(telling)),
        filler=_most_telling(filler),
        dates=_dates(text[:1_000].lower()),
    )


def _with_like(term: Term, like: Like | None) -> Term:
    if like is None or len(term.words) != 1 or term.weight != 1.0 or term.prefix:
        return term
    return replace(term, like=tuple(like(next(iter(term.words)))))


def _terms_of(chunk: str, *, prefix: bool) -> list[Term]:
    words = _split(chunk)
    found = [Term((name_of(symbol),)) for symbol in SYMBOL.findall(chunk)]
    for run in UNSPACED.findall(chunk):
        found.append(Term(tuple(pairs_of(run)), weight=1.5))
    if len(words) > 1 and (whole := _phrase(chunk, weight=1.5)):
        found.append(whole)
    strong = 1.2 if is_code(chunk) else 1.0
    for word in words:
        found.append(Term((word.lower(),), prefix=prefix, weight=strong))
        if is_joined(word, word.lower()):
            found.extend(Term((part.lower(),), weight=0.7) for part in INNER.split(word))
    return found


def _phrase(text: str, *, weight: float) -> Term | None:
    words = tuple(word.lower() for word in _split(text))
    if len(words) < 2:
        return None
    return Term(words[:LONGEST], text=text.strip().lower(), weight=weight)


def _split(text: str) -> list[str]:
    return [word[:LONGEST] for word in WORD.findall(text)]


def _add(terms: dict[tuple[str, ...], Term], term: Term | None) -> None:
    if term is not None:
        terms.setdefault(term.words, term)


def _is_filler(term: Term) -> bool:
    return term.weight < QUOTE and all(word in COMMON_WORDS for word in term.words)


def _most_telling(terms: list[Term]) -> tuple[Term, ...]:
    """As many as are looked up; of too many, what is exact and long tells most."""
    if len(terms) <= TERMS:
        return tuple(terms)
    order = sorted(
        range(len(terms)), key=lambda at: (-terms[at].weight, -max(map(len, terms[at].words)), at)
    )
    return tuple(terms[at] for at in sorted(order[:TERMS]))


def _dates(text: str) -> tuple[str, ...]:
    exact = [f"{year}-{month}-{day}" for year, month, day in ISO.findall(text)]
    if exact:
        return tuple(exact)
    years = YEAR.findall(text)
    months = [f"{MONTHS.index(word) + 1:02}" for word in WORD.findall(text) if word in MONTHS]
    if "may" in text and not (years or any(map(str.isdigit, text))):
        months = [month for month in months if month != "05"]  # the verb
    if months and years:
        return tuple(f"{years[0]}-{month}" for month in months)
    return tuple(f"-{month}-" for month in months) or tuple(years)


# From the rows that hold each term to a pool of passages worth reading.
#
# A passage promises as much as the terms in it are rare. What stands beside a promising entry gets
# a share of its promise: a question and its answer are seldom said in the same breath.


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
