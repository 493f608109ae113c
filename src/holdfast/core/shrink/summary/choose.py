"""Choose the moments that cover most of what is worth knowing, for their tokens.

A word is worth more the rarer it is among the moments, the more often and the more recently it
came back, if it is a name, a path or a number, and if it is like a word of the focus: a task or a
question. A word that is covered already counts for a third, then a ninth. The best moment for its
tokens is taken until the room is used.
"""

import heapq
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from math import ceil, log
from sys import intern
from typing import get_args

from msgspec import Struct

from holdfast.core.ledger.entry import EntryId
from holdfast.core.ledger.summary import Fact
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.moments.moment import MAX_MOMENT_CHARS, Moment, MomentKind
from holdfast.core.shrink.summary.names import NameIndex
from holdfast.text.language import COMMON_WORDS
from holdfast.text.patterns import Pattern
from holdfast.text.words import NAME_PART, UNSPACED, WORD, pairs_of, prefix_of

COVERED_SHARE = 1 / 3
"""The share of a word's worth that remains each time it is covered."""
SIZE_POWER = 0.9
SIZE_OFFSET = 14
"""Tokens added to the size of a moment, so that a few plain words are not cheap."""
NAME_FACTOR, HASH_FACTOR = 1.6, 0.4
FOCUS_FACTOR = 4.0
MIN_FOCUS_CHARS = 3
OLDEST_SHARE = 0.8
"""The share of its worth that the oldest word or moment has."""
CLOSING_FACTOR, CLOSING_POWER = 0.4, 8
"""What is added to the worth of the last moments: the work goes on from them."""
CURRENT_FACTOR = 1.5
"""The factor for moments of the newest request: it is being worked on."""
UNUSED_SHARE = 0.25
"""The share of a word's worth if only contents and outputs have it, and no other moment."""
LINE_TOKENS, TURN_TOKENS = 2, 10
"""Tokens of a line besides its text, and of the heading of a turn."""
MUST_SHARE = 0.5
"""The share of the room that required moments may take."""
# A set finds Latin letters faster if it lists them: `\w` alone asks the tables of Unicode.
_WORD = Pattern(r"[^\W_][A-Za-z0-9_\w./:-]{1,80}")
# `load_plan`, `a.py`, `v2`; but not `plan` and `39000`.
_NAME = Pattern(r"[_/.]|[a-z][A-Z]|[A-Za-z]-?\d")
# `3f2a91c`, `a1b2c3d4-5e6f`; but not `decade`, `1234567` and `v2`.
_HASH = Pattern(r"(?=[a-f-]{0,40}\d)(?=[\d-]{0,40}[a-f])[0-9a-f]{7,64}(?:-[0-9a-f]{4,32}){0,5}")
_EDGES = "./:-"
_KINDS: Mapping[str, MomentKind] = {kind: kind for kind in get_args(MomentKind)}
MAX_COUNTED = 100
"""Of more texts only so many are counted; the tokens of the others follow from their bytes."""
MAX_CACHED_WORDS = 8_192
"""Moments whose words are cached: a summary is fitted several times."""
MAX_CACHED_TEXTS, MAX_CACHED_CHARS = 64, 65_536
"""Longer texts whose words are cached: messages of the user, of which each fit asks again."""
MAX_CACHED_FACTORS = 16_384
NO_FACTORS: Mapping[str, float] = {}


class _Candidate(Struct, frozen=True):
    moment: Moment
    words: tuple[str, ...]
    tokens: int
    divisor: float
    """The divisor of the worth of its words: its tokens, weighted."""


def words_of_moment(text: str) -> tuple[str, ...]:
    """Return the different words of a text, in order; pairs of signs where no space parts words."""
    if len(text) <= MAX_MOMENT_CHARS:
        return _words_of_line(text)
    return _words_of_text(text) if len(text) <= MAX_CACHED_CHARS else words_in(text)


@lru_cache(maxsize=MAX_CACHED_WORDS)
def _words_of_line(text: str) -> tuple[str, ...]:
    return words_in(text)


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _words_of_text(text: str) -> tuple[str, ...]:
    return words_in(text)


def words_in(text: str) -> tuple[str, ...]:
    """Return the same words as `words_of_moment`, without caching them."""
    # Moments repeat the same words: interned, each is in memory once and compared by identity.
    words = dict.fromkeys([intern(word.strip(_EDGES)) for word in _WORD.findall(text)])
    if not text.isascii():
        words = {word: None for word in words if not UNSPACED.search(word)}
        words.update(
            dict.fromkeys(pair for run in UNSPACED.findall(text) for pair in pairs_of(run))
        )
    return tuple(words)


def moment_of_fact(fact: Fact) -> Moment:
    """Return a fact of an earlier summary as a moment."""
    kind = _KINDS.get(fact.source)
    if kind is None:
        return Moment("content", fact.text, fact.entry, turn=fact.turn)
    return Moment(kind, fact.text, fact.entry, fact.worth, fact.turn)


def choose(
    moments: Sequence[Moment],
    room: int,
    *,
    count: CountTokens,
    covered: Iterable[str] = (),
    must: Container[str] = (),
    focus: str = "",
    factors: Mapping[str, float] = NO_FACTORS,
) -> tuple[Moment, ...]:
    """Return the chosen moments in their order.

    Texts in `must` are taken first, up to half of the room. `covered` are words that the reader
    sees anyway. Words like those of the text `focus` are worth more; so are those in `factors`.
    """
    return Choices(moments, count, focus, factors).choose(room, covered=covered, must=must)


class Choices:
    """Moments that are chosen from again and again, in rooms of several sizes."""

    def __init__(
        self,
        moments: Iterable[Moment],
        count: CountTokens,
        focus: str = "",
        factors: Mapping[str, float] = NO_FACTORS,
    ) -> None:
        self._all = tuple(_last_of_each(moments).values())
        """The moments, and those of names without their lines, which take part in no choice."""
        self.moments = tuple(moment for moment in self._all if moment.kind != "named")
        self._count, self._focus, self._factors = count, focus, factors
        self._start: _Start | None = None
        """Where the last choice began: the next one often differs only in its room."""

    @cached_property
    def names(self) -> NameIndex:
        """The names in all moments."""
        return NameIndex(self._all)

    @cached_property
    def _pool(self) -> Sequence[_Candidate]:
        texts = [moment.text for moment in self.moments]
        tokens = map(_estimate(texts, self._count), texts)
        return [
            _Candidate(
                moment,
                words_of_moment(moment.text),
                size,
                (size + SIZE_OFFSET) ** SIZE_POWER,
            )
            for moment, size in zip(self.moments, tokens, strict=True)
        ]

    @cached_property
    def _worth(self) -> dict[str, float]:
        worth = _word_worths(self._pool, _forms_in(self._focus))
        for word, factor in self._factors.items():
            if word in worth:
                worth[word] *= factor
        return worth

    def choose(
        self,
        room: int,
        *,
        covered: Iterable[str] = (),
        must: Container[str] = (),
        shown: Container[EntryId] = (),
        without: Container[str] = (),
    ) -> tuple[Moment, ...]:
        """Return the moments chosen for a room, in their order: see `choose`.

        Those of entries in `shown`, and the texts in `without`, are not chosen.
        """
        words = covered if isinstance(covered, frozenset) else frozenset(covered)
        start = self._start
        if start is None or (start.covered, start.shown, start.without) != (words, shown, without):
            start = self._start = self._start_of(words, shown, without)
        return _Choice(start).run(room, must)

    def _start_of(
        self, covered: frozenset[str], shown: Container[EntryId], without: Container[str]
    ) -> "_Start":
        pool = [
            row
            for row in self._pool
            if row.moment.entry not in shown and row.moment.text not in without
        ]
        worth = dict(self._worth)
        _cover(worth, covered)
        size, value_of = len(pool), worth.__getitem__
        current = pool[-1].moment.turn if pool else ""
        scale = [
            row.moment.weight
            * _recency((at + 1) / size)
            * (CURRENT_FACTOR if row.moment.turn == current else 1.0)
            / row.divisor
            for at, row in enumerate(pool)
        ]
        heap = [
            (-(sum(map(value_of, row.words)) * factor), at)
            for at, (row, factor) in enumerate(zip(pool, scale, strict=True))
        ]
        heapq.heapify(heap)
        least = min((row.tokens for row in pool), default=0) + LINE_TOKENS
        return _Start(covered, shown, without, pool, worth, scale, heap, least)


def _last_of_each(moments: Iterable[Moment]) -> dict[str, Moment]:
    """Return the moments by their texts, in order; one that came twice is where it came last."""
    found: dict[str, Moment] = {}
    for moment in moments:
        found.pop(moment.text, None)
        found[moment.text] = moment
    return found


def _estimate(texts: Sequence[str], count: CountTokens) -> CountTokens:
    """Return a counter that is as exact as a choice needs: many texts are not counted each."""
    if len(texts) <= MAX_COUNTED:
        return count
    sample = "\n".join(texts[:: len(texts) // MAX_COUNTED + 1])
    share = count(sample) / max(len(sample.encode(errors="replace")), 1)
    return lambda text: ceil(len(text.encode(errors="replace")) * share)


class _Start(Struct, frozen=True, eq=False):
    """A choice before the first moment is taken; it does not depend on the room."""

    covered: frozenset[str]
    shown: Container[EntryId]
    without: Container[str]
    pool: Sequence[_Candidate]
    worth: dict[str, float]
    """The worth of each word after `covered`."""
    scale: Sequence[float]
    """The factor of each moment besides its words."""
    heap: list[tuple[float, int]]
    """The negated rate and the place of each moment, as a heap."""
    least: int
    """The tokens of the smallest moment: in a smaller room, no other fits."""


def _cover(worth: dict[str, float], words: Iterable[str]) -> None:
    for word in words:
        if word in worth:
            worth[word] *= COVERED_SHARE


class _Choice:
    """One greedy choice under way."""

    def __init__(self, start: _Start) -> None:
        self._pool, self._scale, self._least = start.pool, start.scale, start.least
        self._worth = start.worth.copy()
        """The worth of each word now: less each time it is covered."""
        self._heap = start.heap.copy()
        self._turns: set[str] = set()

    def run(self, room: int, must: Container[str]) -> tuple[Moment, ...]:
        taken, heap = list[int](), self._heap
        required = [at for at, row in enumerate(self._pool) if row.moment.text in must]
        least = room * (1 - MUST_SHARE)
        for at in required:
            if room - self._price(at) >= least:
                room -= self._take(at, taken)
        done = set(taken)
        while heap and room >= self._least:
            rate, at = heapq.heappop(heap)
            if at in done or self._price(at) > room:
                continue
            now = self._rate(at)
            if now <= 0:
                continue
            if heap and now < -heap[0][0] - 1e-12 and now < -rate:
                heapq.heappush(heap, (-now, at))
                continue
            room -= self._take(at, taken)
        return tuple(self._pool[at].moment for at in sorted(taken))

    def _take(self, at: int, taken: list[int]) -> int:
        price, row = self._price(at), self._pool[at]
        taken.append(at)
        _cover(self._worth, row.words)
        self._turns.add(row.moment.turn or row.moment.entry)
        return price

    def _price(self, at: int) -> int:
        row = self._pool[at]
        seen = (row.moment.turn or row.moment.entry) in self._turns
        return row.tokens + LINE_TOKENS + (0 if seen else TURN_TOKENS)

    def _rate(self, at: int) -> float:
        row = self._pool[at]
        return sum(map(self._worth.__getitem__, row.words)) * self._scale[at]


def _forms_in(text: str) -> frozenset[str]:
    """Return the words of a text in a form that like words share, those inside of names too."""
    parts = (part.lower() for word in WORD.findall(text) for part in NAME_PART.findall(word))
    forms = (prefix_of(part) for part in parts if part not in COMMON_WORDS)
    return frozenset(form for form in forms if len(form) >= MIN_FOCUS_CHARS) | {*_pairs_in(text)}


def _pairs_in(text: str) -> list[str]:
    runs = () if text.isascii() else UNSPACED.findall(text)
    return [pair for run in runs for pair in pairs_of(run)]


def _words_like(focus: frozenset[str], words: Iterable[str]) -> list[str]:
    """Return the words that share a form with a focus."""
    # Every form of a Latin word is a part of it: for most words this shows that none is asked for.
    found = (
        word for word in words if not word.isascii() or any(map(word.lower().__contains__, focus))
    )
    return [word for word in found if not focus.isdisjoint(_forms_in(word))]


def _word_worths(pool: Sequence[_Candidate], focus: frozenset[str]) -> dict[str, float]:
    """Return the worth of each word among the candidates."""
    counts = Counter(chain.from_iterable(row.words for row in pool))
    used = Counter(chain.from_iterable(row.words for row in pool if row.moment.kind != "content"))
    size = max(len(pool), 1)
    age: dict[str, float] = {}
    for at, row in enumerate(pool):
        share = OLDEST_SHARE + (1 - OLDEST_SHARE) * (at + 1) / size
        age.update(dict.fromkeys(row.words, share))
    rare = {count: log(1 + size / count) for count in set(counts.values())}
    useful = {0: UNUSED_SHARE, **{count: log(1 + count) for count in set(used.values())}}
    worth = {
        word: rare[count]
        * useful[used.get(word, 0)]
        * age[word]
        # Most words are plain: no pattern has to be asked.
        * (1.0 if word.isalpha() and word.islower() else _name_factor(word))
        for word, count in counts.items()
    }
    for word in _words_like(focus, worth):
        worth[word] *= FOCUS_FACTOR
    return worth


@lru_cache(maxsize=MAX_CACHED_FACTORS)
def _name_factor(word: str) -> float:
    if _HASH.fullmatch(word):
        return HASH_FACTOR
    return NAME_FACTOR if _NAME.search(word) else 1.0


def _recency(place: float) -> float:
    """Return the factor for a moment at a place between 0, the oldest, and 1, the newest."""
    return OLDEST_SHARE + (1 - OLDEST_SHARE) * place + CLOSING_FACTOR * place**CLOSING_POWER
