"""How well a passage answers a question: rare words found, exact names, what stands beside it.

Scores are sums of evidence in one unit, how rare a word is, and in the end a share of what the
question could have found at best. So what a word is worth and what a likeness in meaning is worth
are weighed against each other, not their ranks.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from holdfast.core.ledger.entry import Entry
from holdfast.core.view.search.pooling import Found
from holdfast.core.view.search.query import QUOTE, Query, Term
from holdfast.core.view.search.words import WORD

Stems: TypeAlias = Callable[[str], list[str]]
"""The words of a text as the index knows them."""
Similar: TypeAlias = Callable[[Sequence[str]], list[float]]
"""How alike in meaning texts are to the question, from 0 to 1."""

SATURATION, LENGTH, USUAL = 1.2, 0.2, 120
"""How quickly saying a word again stops to count, how much a long passage loses, and how many
words a passage usually has."""
EXACT = 1.6
"""How much more a name counts that stands there letter by letter."""
BESIDE = ((0.35, 0.25), (0.15, 0.1))
"""The share of its neighbours' evidence that a passage gets: of the one before, of the one behind;
then of those two away."""
SPEAKER = 2.0
"""What it is worth that the one asked about is the one who speaks."""
ANSWER, DATE = 2.0, 1.5
"""What it is worth to hold the kind of thing that is asked for; to be of the day that is named."""
MEANING, FAINT = 8.0, 0.2
"""What likeness in meaning is worth, above how alike any two texts are."""
ROLES = {"user": 1.1, "tool": 1.0, "assistant": 1.0, "system": 0.8, "host": 0.8, "summary": 0.35}
"""Whose words weigh more, all else being equal; a summary repeats what was said elsewhere."""
LOOKED_AT = 400
"""Characters of a question that may say what kind of thing it asks for."""
RECENT = 0.3
"""What the newest entry has over the oldest."""
UNNAMED = 0.7
"""How much is left of a passage without the name that the question is about."""
HIDDEN = 1.05
"""How much more what is out of sight counts: what is in sight, the agent has."""
ENOUGH = 0.4
"""The share of the best evidence that is worth showing beside evidence that leaves no doubt."""
OWN = re.compile(r"^--- data [0-9a-f]{6}: ", re.M)
"""Our own output, recorded: a copy of what is found where it was said."""
COPY = 0.3
SPEAKS = re.compile(r"\s{0,3}\W{0,2}([A-Za-z][\w .'-]{0,30}):\s")
KINDS = (
    (
        re.compile(r"\bwhen\b|\bwhat (?:time|date|day|year)\b"),
        re.compile(
            r"\b(?:yesterday|today|tomorrow|tonight|ago|last|next|weekend|weeks?|months?|years?"
            r"|recently|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april"
            r"|june|july|august|september|october|november|december|\d{1,4})\b",
            re.I,
        ),
    ),
    (
        re.compile(r"\bwhere\b|\b(?:path|file|folder|directory|location)\b"),
        re.compile(r"\w/\w|\b\w{1,60}\.(?:[a-z]{1,4}|json|yaml|toml)\b"),
    ),
    (
        re.compile(r"\bhow (?:many|much|big|large|long|often|high|fast|old)\b|\b(?:limit|size)\b"),
        re.compile(r"\d"),
    ),
    (
        re.compile(r"\b(?:errors?|fail\w{0,4}|crash\w{0,3}|exceptions?|wrong|broke|broken)\b"),
        re.compile(r"(?:[a-z]Error|[a-z]Exception|\berror|\bfail|\bpanic|Traceback)\b", re.I),
    ),
    (
        re.compile(r"\bwhy\b|\b(?:choose|chose|decid\w{1,3}|decision|reason)\b"),
        re.compile(r"\b(?:because|decided|instead|rather than|chose|so that|due to)\b", re.I),
    ),
    (
        re.compile(r"\b(?:ticket|issue|case|id|number|commit|version|key|hash)\b"),
        re.compile(r"\b[A-Z]{2,8}-\d|#\d|\b[0-9a-f]{7,40}\b|\b\d{1,4}\.\d{1,4}"),
    ),
)
"""What a question asks for, and how something of that kind looks."""


class Candidate(Struct, frozen=True):
    """A passage that was read."""

    found: Found
    entry: Entry
    role: str
    text: str
    """Of the passage alone."""
    hidden: bool = False


class Ranked(Struct, frozen=True):
    """A passage and how well it answers."""

    candidate: Candidate
    score: float
    own: float
    """The evidence that it holds itself."""
    terms: tuple[Term, ...]
    """Those that stand in it."""


class Evidence(Struct, frozen=True):
    """What a passage itself holds."""

    worth: float
    terms: tuple[Term, ...]


def rank(
    query: Query,
    rarity: Mapping[Term, float],
    candidates: Sequence[Candidate],
    *,
    stems: Stems,
    alike: Mapping[Found, float] | None = None,
) -> list[Ranked]:
    """Candidates by how well they answer, the best first; those that do not at all left out.

    `alike` says how alike in meaning to the question some of them are, where that was looked at.
    """
    wanted = [(term, rarity.get(term, 0.0)) for term in rarity if rarity.get(term)]
    sought = [_sought(term, worth, stems) for term, worth in wanted]
    own = [_evidence(one, sought, stems) for one in candidates]
    meaning = [max((alike or {}).get(one.found, 0.0) - FAINT, 0.0) for one in candidates]
    base = [one.worth + MEANING * near for one, near in zip(own, meaning, strict=True)]
    around, answers = _around(candidates, base), _answers_to(query)
    names = {term for term, _ in wanted if term.text}
    best = sum(worth * term.weight for term, worth in wanted) * (SATURATION + 1) / 1.6 or 1.0
    newest = max((one.found.place for one in candidates), default=0) or 1
    ranked: list[Ranked] = []
    for one, evidence, worth, beside in zip(candidates, own, base, around, strict=True):
        if worth + beside <= 0:
            continue
        total = worth + beside + _signs(query, answers, one) + RECENT * one.found.place / newest
        unnamed = names.isdisjoint(evidence.terms) and bool(names)
        score = total * _factor(one) * (UNNAMED if unnamed else 1.0) / best
        ranked.append(Ranked(one, score, evidence.worth, evidence.terms))
    return _told_apart(ranked, len(wanted), strict=not query.filler)


def _told_apart(ranked: list[Ranked], terms: int, *, strict: bool) -> list[Ranked]:
    """In order; where the best leaves no doubt, without what holds little of it.

    Bare key words mean all of them. A question with its small words is looser: the answer may
    hold none of them, and stand beside what does.
    """
    order = sorted(ranked, key=lambda row: (-row.score, row.candidate.entry.seq))
    if not order:
        return []
    found = order[0].terms
    sure = any(term.weight >= QUOTE for term in found) or (strict and len(found) == terms)
    if not sure:
        return order
    least = order[0].own * ENOUGH
    return [row for row in order if row.own * _factor(row.candidate) >= least]


class _Sought(Struct, frozen=True):
    """A term, what it is worth, and the words of the index that mean it or nearly so."""

    term: Term
    worth: float
    key: tuple[str, ...]
    like: dict[str, float]


def _sought(term: Term, worth: float, stems: Stems) -> _Sought:
    key = tuple(stem for word in term.words for stem in stems(word)[:1])
    like: dict[str, float] = {}
    for word, near in reversed(term.like):
        like.update(dict.fromkeys(stems(word)[:1], near))
    for word in key:
        like.pop(word, None)
    return _Sought(term, worth * term.weight, key, like)


def _evidence(one: Candidate, sought: Sequence[_Sought], stems: Stems) -> Evidence:
    words = stems(one.text)
    counts, small = Counter(words), one.text.lower()
    length = SATURATION * (1 - LENGTH + LENGTH * len(words) / USUAL)
    # Some word of a long passage is always a bit like another.
    chance = SATURATION * max(len(words) / USUAL * 2, 1.0)
    worth, found = 0.0, list[Term]()
    for each in sought:
        exact = small.count(each.term.text) if each.term.text else 0
        times = exact or _times(each.term, each.key, counts, words)
        share = EXACT if exact else 1.0
        if times:
            found.append(each.term)
        elif each.like:
            share = max(map(each.like.__getitem__, each.like.keys() & counts.keys()), default=0.0)
            times = int(share > 0)
        # A name that stands there letter by letter means as much in a long passage.
        slack = SATURATION * (1 - LENGTH) if exact else length if share == 1.0 else chance
        worth += each.worth * share * times * (SATURATION + 1) / (times + slack)
    return Evidence(worth, tuple(found))


def _times(
    term: Term, key: tuple[str, ...], counts: Mapping[str, int], words: Sequence[str]
) -> int:
    if term.prefix and key:
        return sum(times for word, times in counts.items() if word.startswith(term.words[-1]))
    if len(key) == 1:
        return counts.get(key[0], 0)
    if not key or any(word not in counts for word in key):
        return 0
    return int(f" {' '.join(key)} " in f" {' '.join(words)} ")


def _around(candidates: Sequence[Candidate], worth: Sequence[float]) -> list[float]:
    """What each passage gets from the entries beside it."""
    best: dict[tuple[str, int], float] = {}
    for one, value in zip(candidates, worth, strict=True):
        place = (one.found.session, one.found.place)
        best[place] = max(best.get(place, 0.0), value)
    shares: list[float] = []
    for one in candidates:
        session, place = one.found.session, one.found.place
        got = 0.0
        for away, (before, behind) in enumerate(BESIDE, start=1):
            got += before * best.get((session, place - away), 0.0)
            got += behind * best.get((session, place + away), 0.0)
        shares.append(got)
    return shares


def _answers_to(query: Query) -> list[re.Pattern[str]]:
    asked = query.text[:LOOKED_AT].lower()
    return [answer for question, answer in KINDS if question.search(asked)]


def _signs(query: Query, answers: Sequence[re.Pattern[str]], one: Candidate) -> float:
    """What else speaks for a passage: who says it, and when."""
    signs = 0.0
    speaks = SPEAKS.match(one.text)
    if speaks and not {word.lower() for word in WORD.findall(speaks[1])}.isdisjoint(query.plain):
        signs += SPEAKER
    signs += ANSWER * sum(answer.search(one.text) is not None for answer in answers)
    if any(date in one.entry.at[:10] for date in query.dates):
        signs += DATE
    return signs


def _factor(one: Candidate) -> float:
    factor = ROLES.get(one.role, 0.9)
    if one.hidden:
        factor *= HIDDEN
    return factor * COPY if OWN.search(one.text) else factor
