"""Rank passages by how well they answer a query: rare words, exact names, neighbouring entries.

A score is a sum of evidence in one unit (the rarity of a word), divided by the best that the query
could find. So words and similarity in meaning are compared by their values, not by ranks.
"""

import re
from collections import Counter
from collections.abc import Callable, KeysView, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from holdfast.core.index.terms import QUOTE_WEIGHT, PassageHit, Query, Term
from holdfast.core.ledger.entry import Entry
from holdfast.text.patterns import Pattern
from holdfast.text.words import WORD, extra_sign_words, split_camel_case

Stems: TypeAlias = Callable[[str], list[str]]
"""Splits a text into the stems that the index uses."""
Similar: TypeAlias = Callable[[Sequence[str]], list[float]]
"""Returns how similar in meaning each text is to the query, from 0 to 1."""

TERM_SATURATION, LENGTH_PENALTY, USUAL_WORDS = 1.2, 0.2, 120
"""How quickly repetitions of a word stop to count, how much a long passage loses, and how many
words a passage usually has."""
CLOSE_WORDS = 60
"""Words of a passage up to which a word of similar meaning is not there by chance."""
EXACT_NAME_FACTOR = 1.6
"""Factor for a name that occurs letter by letter."""
NEIGHBOUR_SHARES = ((0.35, 0.25), (0.15, 0.1))
"""Shares of its neighbours' evidence that a passage gets: (entry before, entry behind), then the
same for those two away."""
SPEAKER_BONUS = 2.0
"""Bonus when the person named in the query is the speaker."""
ANSWER_KIND_BONUS, DATE_BONUS = 3.0, 1.5
"""Bonus for containing the kind of thing that is asked for; bonus for being of the day named."""
MEANING_WEIGHT, USUAL_LIKENESS = 8.0, 0.2
"""Weight of similarity in meaning, and the similarity that any two texts have."""
ROLE_FACTORS = {
    "user": 1.02,
    "tool": 1.0,
    "assistant": 1.0,
    "system": 0.8,
    "host": 0.8,
    "summary": 0.35,
}
"""Factors by role; a summary repeats text that exists elsewhere."""
MAX_QUESTION_CHARS = 400
"""Characters of a query that are searched for the kind of thing it asks for."""
RECENCY_BONUS = 0.3
"""Bonus of the newest entry over the oldest."""
UNNAMED_FACTOR = 0.7
"""Factor for a passage without the name that the query is about."""
HIDDEN_FACTOR = 1.05
"""Factor for hidden passages: the agent already sees the others."""
MIN_SHARE_OF_BEST = 0.4
"""Share of the best evidence below which a passage is dropped when the best one is certain."""
# Matches "--- data 1f0c9a: session ..."; not "--- data files: ...".
OWN_OUTPUT = Pattern(r"^--- data [0-9a-f]{6}: ", re.M)
"""A recorded output of our own, which copies text that is found at its source."""
OWN_OUTPUT_FACTOR = 0.3
# The speaker at the start of a passage. Matches "Anna Berg: we agreed"; not "http://example.org".
SPEAKER_LABEL = Pattern(r"\s{0,3}\W{0,2}([A-Za-z][\w .'-]{0,30}):\s")
# Each pair: "when did it fail" asks for "last Monday"; "which port" asks for "8080".
ANSWER_KINDS = (
    (
        Pattern(r"\bwhen\b|\bwhat (?:time|date|day|year)\b"),
        Pattern(
            r"\b(?:yesterday|today|tomorrow|tonight|ago|last|next|weekend|weeks?|months?|years?"
            r"|recently|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april"
            r"|june|july|august|september|october|november|december|\d{1,4})\b",
            re.I,
        ),
    ),
    (
        Pattern(r"\bwhere\b|\b(?:path|file|folder|directory|location|script|document)\b"),
        Pattern(r"\w/\w|\b\w{1,60}\.(?:[a-z]{1,4}|json|yaml|toml)\b"),
    ),
    (
        Pattern(
            r"\bhow (?!did|do|does|is|was|were|are|can|could|to|should|would|come|has|have)[a-z]"
            r"|\b(?:limit|size|timeout|threshold|rate|count|cost|price|quota|port|capacity|maximum"
            r"|minimum|duration|interval|length)\b"
        ),
        Pattern(r"(?<![\w/.#:-])\d[\d,.]{0,20}(?:%|[a-z]{1,2})?(?![\w/-])"),
    ),
    (
        Pattern(
            r"\b(?:errors?|fail\w{0,4}|crash\w{0,3}|exceptions?|wrong|broke|broken|happened"
            r"|problem|trouble|symptom)\b"
        ),
        Pattern(
            r"(?:[a-z]Error|[a-z]Exception|\berror|\bfail(?:s|ed|ure|ing)?|\bpanic|Traceback"
            r"|\bdenied|\brefused|\btimed out|\btimeout|\bnot found|\bcannot|\bunable)\b",
            re.I,
        ),
    ),
    (
        Pattern(
            r"\bwhy\b|\b(?:choos\w{1,3}|chose\w?|decid\w{1,3}|decision|reasons?|pick\w{0,3}"
            r"|prefer\w{0,4}|agree\w{0,4}|settle\w?|alternatives?|instead|allowed)\b"
        ),
        Pattern(
            r"\b(?:because|decided?|instead|rather than|chose|so that|due to|agreed|in favou?r of"
            r"|reject\w{0,3}|prefer\w{0,4}|let's|go with|will not|won't|must not|only|since)\b",
            re.I,
        ),
    ),
    (
        Pattern(
            r"\b(?:tickets?|issue|case|id|number|commit|version|key|hash|revision|build|tag"
            r"|release|account|reference|pull request|review)\b"
        ),
        Pattern(
            r"\b[A-Za-z]{2,10}-\d|#\d|\b(?=[0-9a-f]{0,39}\d)[0-9a-f]{7,40}\b|\b\d{1,4}\.\d{1,4}"
        ),
    ),
)
"""Pairs of patterns: what a query asks for, and how an answer of that kind looks."""
# Matches the space in "It failed. We retried"; not that in "version 1.2 is".
SPAN_BREAK = Pattern(r"\n+|\\n|(?<=[.!?])[ \t]+(?=[A-Z])")
"""The end of one statement and the start of the next."""
MAX_SINGLE_SPAN_CHARS = 240
"""Characters up to which a passage counts as one statement."""
BREAK_WORD = "\ue000"
"""A private-use character that texts do not contain and that the index treats as a word."""


class PassageCandidate(Struct, frozen=True):
    """A passage with its text and entry, before ranking."""

    found: PassageHit
    entry: Entry
    role: str
    text: str
    """Text of the passage alone."""
    hidden: bool = False


class RankedPassage(Struct, frozen=True):
    """A passage and its score."""

    candidate: PassageCandidate
    score: float
    own: float
    """Evidence in the passage itself."""
    terms: tuple[Term, ...]
    """Terms that occur in it."""


class PassageEvidence(Struct, frozen=True):
    """Evidence in the passage itself."""

    worth: float
    terms: tuple[Term, ...]
    place: str
    """The statements that contain most of the evidence."""


def rank_passages(
    query: Query,
    rarity: Mapping[Term, float],
    candidates: Sequence[PassageCandidate],
    *,
    stems: Stems,
    alike: Mapping[PassageHit, float] | None = None,
) -> list[RankedPassage]:
    """Return candidates by score, the best first, without those that have no evidence.

    `alike` gives the similarity in meaning of those candidates for which it was computed.
    """
    weighted_terms = [(term, rarity.get(term, 0.0)) for term in rarity if rarity.get(term)]
    sought_terms = [_sought_term(term, worth, stems) for term, worth in weighted_terms]
    own = [_evidence(candidate, sought_terms, stems) for candidate in candidates]
    meaning = [
        max((alike or {}).get(candidate.found, 0.0) - USUAL_LIKENESS, 0.0)
        for candidate in candidates
    ]
    base = [
        evidence.worth + MEANING_WEIGHT * near for evidence, near in zip(own, meaning, strict=True)
    ]
    around, answers = _neighbour_bonuses(candidates, base), _answer_patterns(query)
    names = {term for term, _ in weighted_terms if term.text}
    best = (
        sum(worth * term.weight for term, worth in weighted_terms) * (TERM_SATURATION + 1) / 1.6
        or 1.0
    )
    newest = max((candidate.found.place for candidate in candidates), default=0) or 1
    ranked: list[RankedPassage] = []
    for candidate, evidence, worth, beside in zip(candidates, own, base, around, strict=True):
        if worth + beside <= 0:
            continue
        total = (
            worth
            + beside
            + _bonus(query, answers, candidate, evidence.place)
            + RECENCY_BONUS * candidate.found.place / newest
        )
        unnamed = names.isdisjoint(evidence.terms) and bool(names)
        score = total * _passage_factor(candidate) * (UNNAMED_FACTOR if unnamed else 1.0) / best
        ranked.append(RankedPassage(candidate, score, evidence.worth, evidence.terms))
    return _drop_weak(ranked, len(weighted_terms), strict=not query.filler)


def _drop_weak(ranked: list[RankedPassage], terms: int, *, strict: bool) -> list[RankedPassage]:
    """Sort by score; when the best is certain, drop passages with much less evidence.

    Bare key words mean all of them. A question with function words is looser: the answer may
    contain none of its words and be a neighbour of a passage that does.
    """
    order = sorted(ranked, key=lambda row: (-row.score, row.candidate.entry.seq))
    if not order:
        return []
    found = order[0].terms
    certain = any(term.weight >= QUOTE_WEIGHT for term in found) or (strict and len(found) == terms)
    if not certain:
        return order
    least = order[0].own * MIN_SHARE_OF_BEST
    return [row for row in order if row.own * _passage_factor(row.candidate) >= least]


class _SoughtTerm(Struct, frozen=True):
    """A term, its worth, and the index words with the same or a similar meaning."""

    term: Term
    worth: float
    key: tuple[str, ...]
    like: dict[str, float]


def _sought_term(term: Term, worth: float, stems: Stems) -> _SoughtTerm:
    key = tuple(stem for word in term.words for stem in stems(word)[:1])
    near = dict(zip(stems(" ".join(word for word, _ in term.similar)), term.similar, strict=False))
    like = {stem: likeness for stem, (_, likeness) in near.items() if stem not in key}
    return _SoughtTerm(term, worth * term.weight, key, like)


def _evidence(
    candidate: PassageCandidate, sought_terms: Sequence[_SoughtTerm], stems: Stems
) -> PassageEvidence:
    texts = (
        SPAN_BREAK.split(candidate.text)
        if len(candidate.text) > MAX_SINGLE_SPAN_CHARS
        else [candidate.text]
    )
    spans = _stems_by_span(texts, stems)
    words = [word for span in spans for word in span]
    counts, lower_text = Counter(words), candidate.text.lower()
    length = TERM_SATURATION * (1 - LENGTH_PENALTY + LENGTH_PENALTY * len(words) / USUAL_WORDS)
    worth, found, missing = 0.0, list[_SoughtTerm](), list[_SoughtTerm]()
    for sought in sought_terms:
        exact = lower_text.count(sought.term.text) if sought.term.text else 0
        times = exact or _count_term(sought.term, sought.key, counts, words)
        if not times:
            missing.append(sought)
            continue
        found.append(sought)
        # An exact name is as good evidence in a long passage as in a short one.
        slack = TERM_SATURATION * (1 - LENGTH_PENALTY) if exact else length
        worth += (
            sought.worth
            * (EXACT_NAME_FACTOR if exact else 1.0)
            * times
            * (TERM_SATURATION + 1)
            / (times + slack)
        )
    at, likeness = _best_span(spans, found, _missing_terms(missing, counts.keys()))
    place = "\n".join(texts[at : at + 2])
    return PassageEvidence(worth + likeness, tuple(sought.term for sought in found), place)


def _stems_by_span(texts: Sequence[str], stems: Stems) -> list[list[str]]:
    """Return the stems of each span, with one call of `stems`."""
    text = f" {BREAK_WORD} ".join(texts)
    spans = _split_at_breaks(stems(text))
    word_parts = " ".join([split_camel_case(text), *extra_sign_words(text)])
    if len(word_parts) > len(text):
        for span, more in zip(spans, _split_at_breaks(stems(word_parts)), strict=True):
            known = set(span)
            span.extend([word for word in more if word not in known])
    return spans


def _split_at_breaks(words: list[str]) -> list[list[str]]:
    spans: list[list[str]] = []
    start = 0
    for _ in range(words.count(BREAK_WORD)):
        stop = words.index(BREAK_WORD, start)
        spans.append(words[start:stop])
        start = stop + 1
    return [*spans, words[start:]]


class _MissingTerm(Struct, frozen=True):
    """The worth of a term that does not occur, and words of similar meaning that do."""

    worth: float
    like: dict[str, float]


def _missing_terms(missing: Sequence[_SoughtTerm], words: KeysView[str]) -> list[_MissingTerm]:
    near = ((sought, sought.like.keys() & words) for sought in missing)
    return [
        _MissingTerm(sought.worth, {word: sought.like[word] for word in likes})
        for sought, likes in near
        if likes
    ]


def _best_span(
    spans: Sequence[Sequence[str]], found: Sequence[_SoughtTerm], near: Sequence[_MissingTerm]
) -> tuple[int, float]:
    """Return the span with the most evidence, and its evidence from words of similar meaning."""
    key_words = {word for sought in found for word in sought.key}
    key_words.update(word for missing in near for word in missing.like)
    best, place, likely = 0.0, 0, 0.0
    for at, span in enumerate(spans):
        present = key_words.intersection(span)
        if not present:
            continue
        exact = sum(sought.worth for sought in found if present.issuperset(sought.key))
        likeness = _likeness(present, near, len(span))
        if exact + likeness > best:
            best, place, likely = exact + likeness, at, likeness
    return place, likely


def _likeness(present: set[str], near: Sequence[_MissingTerm], length: int) -> float:
    # A long passage contains some similar word by chance.
    chance = TERM_SATURATION * max(length / CLOSE_WORDS, 1.0)
    total = sum(
        missing.worth
        * max((missing.like[word] for word in missing.like.keys() & present), default=0.0)
        for missing in near
    )
    return total * (TERM_SATURATION + 1) / (1 + chance)


def _count_term(
    term: Term, key: tuple[str, ...], counts: Mapping[str, int], words: Sequence[str]
) -> int:
    if term.prefix and key:
        return sum(times for word, times in counts.items() if word.startswith(term.words[-1]))
    if len(key) == 1:
        return counts.get(key[0], 0)
    if not key or any(word not in counts for word in key):
        return 0
    return int(f" {' '.join(key)} " in f" {' '.join(words)} ")


def _neighbour_bonuses(
    candidates: Sequence[PassageCandidate], worth: Sequence[float]
) -> list[float]:
    """Return what each passage gets from the entries beside it."""
    best: dict[tuple[str, int], float] = {}
    for candidate, value in zip(candidates, worth, strict=True):
        place = (candidate.found.session, candidate.found.place)
        best[place] = max(best.get(place, 0.0), value)
    shares: list[float] = []
    for candidate in candidates:
        session, place = candidate.found.session, candidate.found.place
        bonus = 0.0
        for away, (before, behind) in enumerate(NEIGHBOUR_SHARES, start=1):
            bonus += before * best.get((session, place - away), 0.0)
            bonus += behind * best.get((session, place + away), 0.0)
        shares.append(bonus)
    return shares


def _answer_patterns(query: Query) -> list[Pattern[str]]:
    text = query.text[:MAX_QUESTION_CHARS].lower()
    return [answer for question, answer in ANSWER_KINDS if question.search(text)]


def _bonus(
    query: Query, answers: Sequence[Pattern[str]], candidate: PassageCandidate, place: str
) -> float:
    """Return the bonuses of a passage: its speaker, its date, the kind of answer it contains."""
    total = 0.0
    label = SPEAKER_LABEL.match(candidate.text)
    if label and not {word.lower() for word in WORD.findall(label[1])}.isdisjoint(
        query.single_words
    ):
        total += SPEAKER_BONUS
    total += ANSWER_KIND_BONUS * sum(answer.search(place) is not None for answer in answers)
    if any(date in candidate.entry.at[:10] for date in query.dates):
        total += DATE_BONUS
    return total


def _passage_factor(candidate: PassageCandidate) -> float:
    factor = ROLE_FACTORS.get(candidate.role, 0.9)
    if candidate.hidden:
        factor *= HIDDEN_FACTOR
    return factor * OWN_OUTPUT_FACTOR if OWN_OUTPUT.search(candidate.text) else factor
