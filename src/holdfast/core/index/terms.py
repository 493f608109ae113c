"""Parse a search query into terms, and rank the passages that contain them.

Any text is a valid query.
"""

from collections.abc import Callable, Iterable, Sequence
from heapq import nlargest
from math import log
from operator import add
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from holdfast.text.language import COMMON_WORDS
from holdfast.text.patterns import Pattern
from holdfast.text.words import (
    CASE_BOUNDARY,
    MAX_WORD_CHARS,
    SYMBOL,
    UNSPACED,
    WORD,
    is_camel_case,
    is_code,
    pairs_of,
    symbol_name,
)

SimilarWords: TypeAlias = Callable[[str], Sequence[tuple[str, float]]]
"""Return words of a similar meaning, the most similar first, with a similarity from 0 to 1."""

MAX_TERMS = 32
"""Terms that are looked up; of a longer query the most specific ones."""
QUOTE_WEIGHT = 2.0
"""The weight of quoted text; a word weighs 1."""
QUOTED_TEXT = Pattern(r'"([^"]{2,400})"|`([^`]{2,400})`|“([^”]{2,400})”')
MIN_PHRASE_WORDS, MAX_PHRASE_WORDS = 2, 12
"""A query with so many words is also searched for as a phrase."""
EDGE_CHARS = " \t\r\n\"'`.,;:!?()[]{}<>“”‘’*"
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
YEAR = Pattern(r"\b(?:19|20)\d\d\b")
ISO_DATE = Pattern(r"\b(\d{4})-(\d\d)-(\d\d)\b")


class Term(Struct, frozen=True):
    """One thing to look up: a word, or a phrase of several words."""

    words: tuple[str, ...]
    """In lower case."""
    text: str = ""
    """The exact spelling of a phrase in lower case; empty for a word."""
    prefix: bool = False
    """Whether the last word is the beginning of a word."""
    weight: float = 1.0
    similar: tuple[tuple[str, float], ...] = ()
    """Words of a similar meaning, and their similarity."""


class Query(Struct, frozen=True):
    """A parsed search query."""

    text: str
    terms: tuple[Term, ...]
    filler: tuple[Term, ...] = ()
    """Common words, looked up only if there are no other terms."""
    dates: tuple[str, ...] = ()
    """Parts of the dates it names, such as `2023-05` or `-05-`."""

    @property
    def single_words(self) -> tuple[str, ...]:
        """All words of its terms without repetition."""
        return tuple(dict.fromkeys(word for term in self.terms for word in term.words))


def parse_query(text: str, similar_words: SimilarWords | None = None) -> Query:
    """Parse a query into terms: quoted text, names from code, then specific words."""
    terms: dict[tuple[str, ...], Term] = {}
    for quoted in QUOTED_TEXT.finditer(text):
        _add(terms, _phrase(next(filter(None, quoted.groups())), weight=QUOTE_WEIGHT))
    if MIN_PHRASE_WORDS <= len(_split(text[:400])) <= MAX_PHRASE_WORDS:
        _add(terms, _phrase(text, weight=QUOTE_WEIGHT))
    for chunk in text.split():
        bare = chunk.strip(EDGE_CHARS)
        for term in _terms_of(bare, prefix=chunk.endswith("*") and bool(bare)):
            _add(terms, term)
    specific = [term for term in terms.values() if not _is_filler(term)]
    filler = [term for term in terms.values() if _is_filler(term)]
    return Query(
        text=text,
        terms=tuple(_with_similar(term, similar_words) for term in _most_specific(specific)),
        filler=_most_specific(filler),
        dates=_dates(text[:1_000].lower()),
    )


def _with_similar(term: Term, similar_words: SimilarWords | None) -> Term:
    if similar_words is None or len(term.words) != 1 or term.weight != 1.0 or term.prefix:
        return term
    return replace(term, similar=tuple(similar_words(next(iter(term.words)))))


def _terms_of(chunk: str, *, prefix: bool) -> list[Term]:
    words = _split(chunk)
    terms = [Term((symbol_name(symbol),)) for symbol in SYMBOL.findall(chunk)]
    for run in UNSPACED.findall(chunk):
        terms.append(Term(tuple(pairs_of(run)), weight=1.5))
    if len(words) > 1 and (whole := _phrase(chunk, weight=1.5)):
        terms.append(whole)
    weight = 1.2 if is_code(chunk) else 1.0
    for word in words:
        terms.append(Term((word.lower(),), prefix=prefix, weight=weight))
        if is_camel_case(word, word.lower()):
            terms.extend(Term((part.lower(),), weight=0.7) for part in CASE_BOUNDARY.split(word))
    return terms


def _phrase(text: str, *, weight: float) -> Term | None:
    words = tuple(word.lower() for word in _split(text))
    if len(words) < 2:
        return None
    return Term(words[:MAX_WORD_CHARS], text=text.strip().lower(), weight=weight)


def _split(text: str) -> list[str]:
    return [word[:MAX_WORD_CHARS] for word in WORD.findall(text)]


def _add(terms: dict[tuple[str, ...], Term], term: Term | None) -> None:
    if term is not None:
        terms.setdefault(term.words, term)


def _is_filler(term: Term) -> bool:
    return term.weight < QUOTE_WEIGHT and all(word in COMMON_WORDS for word in term.words)


def _most_specific(terms: list[Term]) -> tuple[Term, ...]:
    """Return at most `MAX_TERMS` terms; prefer exact and long ones."""
    if len(terms) <= MAX_TERMS:
        return tuple(terms)
    order = sorted(
        range(len(terms)), key=lambda at: (-terms[at].weight, -max(map(len, terms[at].words)), at)
    )
    return tuple(terms[at] for at in sorted(order[:MAX_TERMS]))


def _dates(text: str) -> tuple[str, ...]:
    exact = [f"{year}-{month}-{day}" for year, month, day in ISO_DATE.findall(text)]
    if exact:
        return tuple(exact)
    years = YEAR.findall(text)
    months = [f"{MONTHS.index(word) + 1:02}" for word in WORD.findall(text) if word in MONTHS]
    if "may" in text and not (years or any(map(str.isdigit, text))):
        months = [month for month in months if month != "05"]  # the verb
    if months and years:
        return tuple(f"{years[0]}-{month}" for month in months)
    return tuple(f"-{month}-" for month in months) or tuple(years)


# Rank the rows that contain terms, and make a pool of the best passages.
#
# The promise of a passage is the sum of the rarities of its terms. Its neighbours get a share of
# it, because a question and its answer are usually in different entries.


NEIGHBOUR_SHARES = (0.5, 0.2)
"""The share of the promise that neighbouring entries get, by their distance."""


SIMILAR_SHARE = 0.5
"""The share of the promise for a similar word, before it is known which word it is."""


class Spot(Struct, frozen=True):
    """A passage by its session number, the place of its entry, and its number in the entry."""

    session: int
    place: int
    passage: int
    promise: float = 0.0


class PassageHit(Struct, frozen=True):
    """A passage with the name of its session and the number of its entry."""

    session: str
    seq: int
    place: int
    """The index of its entry among the entries with searchable text."""
    passage: int
    step: int
    promise: float = 0.0


class TermMatches(Struct, frozen=True):
    """The rows that contain a term, the newest first, up to the requested number."""

    term: Term
    rows: Sequence[int]
    similar_rows: Sequence[int] = ()
    """Rows that contain a word of a similar meaning."""


class Pool(Struct, frozen=True):
    """The best passages, and the rarity of each term."""

    spots: tuple[Spot, ...]
    rarity: tuple[float, ...]
    """In the order of the terms; 0 for a term without matches."""


class PassagePool(Struct, frozen=True):
    """The best passages as a store returns them, and the rarity of each term."""

    found: tuple[PassageHit, ...] = ()
    rarity: tuple[float, ...] = ()


def rarity(rows: int, total: int) -> float:
    """Return the weight of a term by its number of rows: the fewer rows, the higher."""
    return log(1 + (max(total, rows) - rows + 0.5) / (rows + 0.5)) if rows else 0.0


def pool_of(
    matches: Sequence[TermMatches],
    together: Iterable[tuple[tuple[int, ...], Iterable[int]]],
    total: int,
    *,
    limit: int,
    place: Callable[[int], Spot],
) -> Pool:
    """Return the most promising passages and their neighbours.

    `together` has rows that contain several terms at once, for terms with too many rows to list.
    """
    rarities = tuple(_rarity_of(match, total) for match in matches)
    promise: dict[int, float] = {}
    for match, value in zip(matches, rarities, strict=True):
        gain = value * match.term.weight
        # A row with the term itself does not count a similar word too.
        _merge(
            promise,
            dict.fromkeys(match.similar_rows, gain * SIMILAR_SHARE)
            | dict.fromkeys(match.rows, gain),
            add,
        )
    for pair, rows in together:
        gain = sum(rarities[at] * matches[at].term.weight for at in pair)
        _merge(promise, dict.fromkeys(rows, gain), max)
    # Rows are numbered in the order of the ledger: of equals, the newest first.
    best = nlargest(limit, zip(promise.values(), promise, strict=True))
    spots = {_key(spot): spot for spot in (_with_promise(place(row), value) for value, row in best)}
    for spot in tuple(spots.values()):
        for beside in _neighbours(spot):
            known = spots.get(_key(beside))
            if known is None or known.promise < beside.promise:
                spots[_key(beside)] = beside
    ranked = sorted(spots.values(), key=lambda spot: -spot.promise)
    return Pool(tuple(ranked[:limit]), rarities)


def _merge(
    promise: dict[int, float], more: dict[int, float], combine: Callable[[float, float], float]
) -> None:
    """Add `more` to the promises; use `combine` only for the few rows that are in both."""
    for row in more.keys() & promise.keys():
        more[row] = combine(more[row], promise[row])
    promise.update(more)


def _rarity_of(match: TermMatches, total: int) -> float:
    """Return the rarity of a term; one with only similar words counts as having one row."""
    return rarity(len(match.rows) or int(bool(match.similar_rows)), total)


def _key(spot: Spot) -> tuple[int, int, int]:
    return spot.session, spot.place, spot.passage


def _with_promise(spot: Spot, promise: float) -> Spot:
    return Spot(spot.session, spot.place, spot.passage, promise)


def _neighbours(spot: Spot) -> list[Spot]:
    """Return the first passage of each neighbouring entry with its share of the promise."""
    return [
        Spot(spot.session, spot.place + way * (away + 1), 0, spot.promise * share)
        for away, share in enumerate(NEIGHBOUR_SHARES)
        for way in (-1, 1)
        if spot.place + way * (away + 1) >= 0
    ]
