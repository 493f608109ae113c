"""How well a passage answers a question: rare words found, exact names, what stands beside it.

Scores are sums of evidence in one unit, how rare a word is, and in the end a share of what the
question could have found at best. So what a word is worth and what a likeness in meaning is worth
are weighed against each other, not their ranks.
"""

import re
from collections import Counter
from collections.abc import Callable, KeysView, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from holdfast.core.index.terms import QUOTE, Found, Query, Term
from holdfast.core.ledger.entry import Entry
from holdfast.text.words import WORD, parted, signs_in

Stems: TypeAlias = Callable[[str], list[str]]
"""The words of a text as the index knows them."""
Similar: TypeAlias = Callable[[Sequence[str]], list[float]]
"""How alike in meaning texts are to the question, from 0 to 1."""

SATURATION, LENGTH, USUAL = 1.2, 0.2, 120
"""How quickly saying a word again stops to count, how much a long passage loses, and how many
words a passage usually has."""
CLOSE = 60
"""Words among which one of like meaning is no chance."""
EXACT = 1.6
"""How much more a name counts that stands there letter by letter."""
BESIDE = ((0.35, 0.25), (0.15, 0.1))
"""The share of its neighbours' evidence that a passage gets: of the one before, of the one behind;
then of those two away."""
SPEAKER = 2.0
"""What it is worth that the one asked about is the one who speaks."""
ANSWER, DATE = 3.0, 1.5
"""What it is worth to hold the kind of thing that is asked for; to be of the day that is named."""
MEANING, FAINT = 8.0, 0.2
"""What likeness in meaning is worth, above how alike any two texts are."""
ROLES = {"user": 1.02, "tool": 1.0, "assistant": 1.0, "system": 0.8, "host": 0.8, "summary": 0.35}
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
        re.compile(r"\bwhere\b|\b(?:path|file|folder|directory|location|script|document)\b"),
        re.compile(r"\w/\w|\b\w{1,60}\.(?:[a-z]{1,4}|json|yaml|toml)\b"),
    ),
    (
        re.compile(
            r"\bhow (?!did|do|does|is|was|were|are|can|could|to|should|would|come|has|have)[a-z]"
            r"|\b(?:limit|size|timeout|threshold|rate|count|cost|price|quota|port|capacity|maximum"
            r"|minimum|duration|interval|length)\b"
        ),
        re.compile(r"(?<![\w/.#:-])\d[\d,.]{0,20}(?:%|[a-z]{1,2})?(?![\w/-])"),
    ),
    (
        re.compile(
            r"\b(?:errors?|fail\w{0,4}|crash\w{0,3}|exceptions?|wrong|broke|broken|happened"
            r"|problem|trouble|symptom)\b"
        ),
        re.compile(
            r"(?:[a-z]Error|[a-z]Exception|\berror|\bfail(?:s|ed|ure|ing)?|\bpanic|Traceback"
            r"|\bdenied|\brefused|\btimed out|\btimeout|\bnot found|\bcannot|\bunable)\b",
            re.I,
        ),
    ),
    (
        re.compile(
            r"\bwhy\b|\b(?:choos\w{1,3}|chose\w?|decid\w{1,3}|decision|reasons?|pick\w{0,3}"
            r"|prefer\w{0,4}|agree\w{0,4}|settle\w?|alternatives?|instead|allowed)\b"
        ),
        re.compile(
            r"\b(?:because|decided?|instead|rather than|chose|so that|due to|agreed|in favou?r of"
            r"|reject\w{0,3}|prefer\w{0,4}|let's|go with|will not|won't|must not|only|since)\b",
            re.I,
        ),
    ),
    (
        re.compile(
            r"\b(?:tickets?|issue|case|id|number|commit|version|key|hash|revision|build|tag"
            r"|release|account|reference|pull request|review)\b"
        ),
        re.compile(
            r"\b[A-Za-z]{2,10}-\d|#\d|\b(?=[0-9a-f]{0,39}\d)[0-9a-f]{7,40}\b|\b\d{1,4}\.\d{1,4}"
        ),
    ),
)
"""What a question asks for, and how something of that kind looks."""
SPAN = re.compile(r"\n+|\\n|(?<=[.!?])[ \t]+(?=[A-Z])")
"""Where one thing that is said ends and the next begins."""
SHORT = 240
"""Characters up to which a passage says one thing."""
BREAK = "\ue000"
"""A sign that nobody writes, and that the index takes for a word."""


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
    place: str
    """What is said where most of that stands."""


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
        total = (
            worth
            + beside
            + _signs(query, answers, one, evidence.place)
            + RECENT * one.found.place / newest
        )
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
    near = dict(zip(stems(" ".join(word for word, _ in term.like)), term.like, strict=False))
    like = {stem: likeness for stem, (_, likeness) in near.items() if stem not in key}
    return _Sought(term, worth * term.weight, key, like)


def _evidence(one: Candidate, sought: Sequence[_Sought], stems: Stems) -> Evidence:
    said = SPAN.split(one.text) if len(one.text) > SHORT else [one.text]
    spans = _words_of(said, stems)
    words = [word for span in spans for word in span]
    counts, small = Counter(words), one.text.lower()
    length = SATURATION * (1 - LENGTH + LENGTH * len(words) / USUAL)
    worth, found, missing = 0.0, list[_Sought](), list[_Sought]()
    for each in sought:
        exact = small.count(each.term.text) if each.term.text else 0
        times = exact or _times(each.term, each.key, counts, words)
        if not times:
            missing.append(each)
            continue
        found.append(each)
        # A name that stands there letter by letter means as much in a long passage.
        slack = SATURATION * (1 - LENGTH) if exact else length
        worth += each.worth * (EXACT if exact else 1.0) * times * (SATURATION + 1) / (times + slack)
    at, meant = _meant(spans, found, _near(missing, counts.keys()))
    place = "\n".join(said[at : at + 2])
    return Evidence(worth + meant, tuple(each.term for each in found), place)


def _words_of(said: Sequence[str], stems: Stems) -> list[list[str]]:
    """The words of each part, all looked up at once."""
    text = f" {BREAK} ".join(said)
    spans = _parted(stems(text))
    apart = " ".join([parted(text), *signs_in(text)])
    if len(apart) > len(text):
        for span, more in zip(spans, _parted(stems(apart)), strict=True):
            known = set(span)
            span.extend([word for word in more if word not in known])
    return spans


def _parted(words: list[str]) -> list[list[str]]:
    spans: list[list[str]] = []
    start = 0
    for _ in range(words.count(BREAK)):
        stop = words.index(BREAK, start)
        spans.append(words[start:stop])
        start = stop + 1
    return [*spans, words[start:]]


class _Near(Struct, frozen=True):
    """What a term is worth that does not stand there, and words of like meaning that do."""

    worth: float
    like: dict[str, float]


def _near(missing: Sequence[_Sought], words: KeysView[str]) -> list[_Near]:
    near = ((each, each.like.keys() & words) for each in missing)
    return [
        _Near(each.worth, {word: each.like[word] for word in held}) for each, held in near if held
    ]


def _meant(
    spans: Sequence[Sequence[str]], found: Sequence[_Sought], near: Sequence[_Near]
) -> tuple[int, float]:
    """Where most of what was found stands, and what is said there in words of like meaning."""
    telling = {word for each in found for word in each.key}
    telling.update(word for each in near for word in each.like)
    best, place, likely = 0.0, 0, 0.0
    for at, span in enumerate(spans):
        held = telling.intersection(span)
        if not held:
            continue
        stands = sum(each.worth for each in found if held.issuperset(each.key))
        meant = _likeness(held, near, len(span))
        if stands + meant > best:
            best, place, likely = stands + meant, at, meant
    return place, likely


def _likeness(held: set[str], near: Sequence[_Near], length: int) -> float:
    # Some word of a long passage is always a bit like another.
    chance = SATURATION * max(length / CLOSE, 1.0)
    total = sum(
        each.worth * max((each.like[word] for word in each.like.keys() & held), default=0.0)
        for each in near
    )
    return total * (SATURATION + 1) / (1 + chance)


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


def _signs(query: Query, answers: Sequence[re.Pattern[str]], one: Candidate, place: str) -> float:
    """What else speaks for a passage: who says it, and when."""
    signs = 0.0
    speaks = SPEAKS.match(one.text)
    if speaks and not {word.lower() for word in WORD.findall(speaks[1])}.isdisjoint(query.plain):
        signs += SPEAKER
    signs += ANSWER * sum(answer.search(place) is not None for answer in answers)
    if any(date in one.entry.at[:10] for date in query.dates):
        signs += DATE
    return signs


def _factor(one: Candidate) -> float:
    factor = ROLES.get(one.role, 0.9)
    if one.hidden:
        factor *= HIDDEN
    return factor * COPY if OWN.search(one.text) else factor
