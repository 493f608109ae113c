"""Score how well statements answer a question: the share of the question's words that they cover.

A statement covers a word if it contains the same word, a similar one, or the name of such a thing;
words beside the statement count half. So scores are comparable between questions, and one threshold
tells when the answer is not known.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache

from msgspec import Struct

from holdfast.core.view.questions.question import MAX_READ_CHARS, ParsedQuestion, QuestionWord
from holdfast.core.view.questions.statements import Statement
from holdfast.core.view.search.ranking import Stems
from holdfast.text.patterns import Pattern

BESIDE_FACTOR = 0.5
"""Factor for a word that occurs beside the statement and not in it."""
ONLY_REASON_FACTOR = 0.8
"""Factor for a decision that covers nothing itself: only its reason does."""
MIN_PREFIX_CHARS, MIN_SUFFIX_CHARS, RELATED_WORD_SHARE = 5, 6, 0.8
"""Letters that a word needs to be related to another by a common beginning or ending, and what such
a word counts."""
MIN_COUNTED_SHARE = 0.8
"""Share that a statement must reach on the thing that is counted."""
OFF_FOCUS_FACTOR, MIN_SHARE = 0.55, 0.3
"""Factor for an answer without the thing that is asked for, and the share below which it counts as
without."""
_AMOUNT_WORDS = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|hundred|thousand|half"
    r"|once|twice|every|each|hourly|daily|weekly|monthly|yearly|nightly|second"
    r"|minute|hour|day|week|month|year|before|after|until"
)
# Matches "90 seconds" and "twice a day"; not "never".
SIZE_WORD = Pattern(_AMOUNT_WORDS + r")s?\b", re.I)
# Matches what SIZE_WORD matches, and "never", "always".
MEASURE_WORD = Pattern(_AMOUNT_WORDS + r"|never|always)s?\b", re.I)
"""An amount or a time."""
# Matches "3 replicas" and "three"; not "once".
NUMBER_WORD = Pattern(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|hundred|thousand)\b",
    re.I,
)
"""A number of things."""
# Matches "12 €", "free" and "5 %"; not "five users".
MONEY_WORD = Pattern(
    r"[$€£¥]|\b(?:euros?|dollars?|cents?|pounds?|usd|eur|gbp|free|price[sd]?|costs?|fees?|percent"
    r"|pay(?:s|ment|ments)?|paid|bill(?:ed|ing)?|charged?|discount|invoices?|checkout)\b|\d ?%",
    re.I,
)
WRONG_SORT_FACTOR = 0.5
"""Factor for an answer that lacks the number, time or price that is asked for."""
WHO_FACTOR = 0.45
"""Factor for an answer to "who": a decision names only its maker."""
NAMES_IT_BONUS = 0.5
"""Bonus for naming a thing of the sort that is asked for."""
USER_BONUS, DECISION_BONUS = 0.1, 0.2
"""Bonus for a statement by the user, and bonus for a decision."""
# Matches ", the " in "use SQLite, the data is small"; not the comma in "red, green".
REASON_START = Pattern(
    r"(?i)(?:, (?=(?:the|its?|our|we|they|i|he|she|this|that|there|these|those|people|nobody"
    r"|everybody|everyone|no one) )| — | – |,? (?:because|since|so that|as otherwise) )"
)
"""The point in a statement where its reason starts."""
FOCUS_WEIGHT, MIN_STATEMENT_WORDS = 0.3, 6
"""Weight of saying little else, and the fewest words that this is a share of."""


class ScoredStatement(Struct, frozen=True):
    """A statement and how well it answers."""

    statement: Statement
    score: float
    """Share of the question that it answers, from 0 to 1."""
    focus: float = 0.0
    """Further evidence: it says little else, names such a thing, or is the user's."""

    @property
    def rank(self) -> float:
        """Return the value to compare two answers by."""
        return self.score + FOCUS_WEIGHT * self.focus


def score_statements(
    question: ParsedQuestion, statements: Iterable[Statement], *, stems: Stems
) -> list[ScoredStatement]:
    """Return statements by score, the best first, without those that score 0."""
    weight = question.weight
    if not weight:
        return []
    factor, covers = _sort_factor(question), _covering(question)
    all_scored = [
        _score_statement(question, statement, weight, factor, covers, stems)
        for statement in statements
    ]
    order = enumerate(all_scored)
    # Of equal scores the newest wins: a later statement overrides an earlier one.
    ranked = sorted(order, key=lambda row: (-row[1].rank, -row[0]))
    return [scored for _, scored in ranked if scored.score > 0]


def _covering(question: ParsedQuestion) -> Callable[[str], bool]:
    """Return a function that says whether a stem covers any word of the question."""
    similar = {stem for word in question.subjects for stem in (word.stem, *word.like)}

    # Statements share most of their words.
    @cache
    def covers(stem: str) -> bool:
        return stem in similar or any(
            _related_word(word.stem, (stem,)) for word in question.subjects
        )

    return covers


def _sort_factor(question: ParsedQuestion) -> Callable[[Statement], float]:
    """Return a function that gives the factor for an answer of the wrong sort."""
    pattern = _required_pattern(question)

    def factor(statement: Statement) -> float:
        if pattern is not None and not pattern.search(statement.words):
            return WRONG_SORT_FACTOR
        return WHO_FACTOR if question.asks_person else 1.0

    return factor


def _required_pattern(question: ParsedQuestion) -> Pattern[str] | None:
    """Return the pattern that an answer must match; None when any sort of answer will do."""
    if question.asks_price:
        return MONEY_WORD
    if question.asks_count:
        return NUMBER_WORD
    if question.asks_size:
        return SIZE_WORD
    return MEASURE_WORD if question.asks_measure else None


def _score_statement(
    question: ParsedQuestion,
    statement: Statement,
    weight: float,
    factor: Callable[[Statement], float],
    covers: Callable[[str], bool],
    stems: Stems,
) -> ScoredStatement:
    text = statement.words[:MAX_READ_CHARS]
    own_stems = frozenset(stems(text))
    beside = frozenset(stems(statement.around[:MAX_READ_CHARS])) - own_stems
    if not (any(map(covers, own_stems)) or any(map(covers, beside))):
        return ScoredStatement(statement, 0.0)
    covered = [word for word in question.subjects if word.stem in own_stems]
    own = _shares(question.subjects, own_stems)
    near = _shares(question.subjects, beside)
    shares = {stem: max(share, BESIDE_FACTOR * near[stem]) for stem, share in own.items()}
    found = sum(word.worth * shares[word.stem] for word in question.subjects)
    decision_shares = _shares_of_decision(question, statement, own, stems)
    focus = [decision_shares[stem] for stem in question.focus if stem in decision_shares]
    # A count needs that very thing; for other questions something similar is enough.
    least = MIN_COUNTED_SHARE if question.asks_count else MIN_SHARE
    score = (
        found
        / weight
        * factor(statement)
        * (OFF_FOCUS_FACTOR if focus and max(focus) < least else 1.0)
    )
    if max(decision_shares.values()) < MIN_SHARE:
        score *= ONLY_REASON_FACTOR
    focus_score = len(covered) / max(len(own_stems), MIN_STATEMENT_WORDS)
    names = any(word.names & own_stems for word in question.subjects if word.stem in question.focus)
    focus_score += (
        NAMES_IT_BONUS * names
        + USER_BONUS * (statement.by == "user")
        + DECISION_BONUS * (statement.kind == "decision")
    )
    return ScoredStatement(statement, round(score, 4), round(focus_score, 4))


def _shares_of_decision(
    question: ParsedQuestion, statement: Statement, own: dict[str, float], stems: Stems
) -> dict[str, float]:
    """Return how much of each word a decision covers without its reason."""
    words = without_reason(statement.words[:MAX_READ_CHARS])
    # Only decisions have reasons, and a decision that covers no word needs no second look.
    if (
        statement.kind != "decision"
        or not any(own.values())
        or words == statement.words[:MAX_READ_CHARS]
    ):
        return own
    return _shares(question.subjects, frozenset(stems(words)))


def without_reason(text: str) -> str:
    """Return the decision without its reason."""
    found = REASON_START.search(text)
    return text[: found.start()] if found else text


def _shares(subjects: Sequence[QuestionWord], words: frozenset[str]) -> dict[str, float]:
    """Return how much of each question word some words cover; no word covers two."""
    shares = {word.stem: float(word.stem in words) for word in subjects}
    left = set(words).difference(stem for stem, share in shares.items() if share)
    for word in sorted(subjects, key=lambda word: -word.worth):
        if not shares[word.stem]:
            stem, shares[word.stem] = _closest_word(word, left)
            left.discard(stem)
    return shares


def _closest_word(word: QuestionWord, words: Collection[str]) -> tuple[str, float]:
    """Return the word with the closest meaning, and how close it is."""
    near = ((word.like[key], key) for key in word.like.keys() & words)
    share, stem = max(near, default=(0.0, ""))
    related = _related_word(word.stem, words) if share < RELATED_WORD_SHARE else ""
    return (related, RELATED_WORD_SHARE) if related else (stem, share)


def _related_word(stem: str, words: Iterable[str]) -> str:
    """Return a word that begins or ends with the other, as in `domain` and `subdomain`."""
    if len(stem) < MIN_PREFIX_CHARS:
        return ""
    ends = len(stem) >= MIN_SUFFIX_CHARS
    related = (
        word
        for word in words
        if len(word) >= MIN_PREFIX_CHARS
        and (
            word.startswith(stem)
            or stem.startswith(word)
            or (
                ends
                and len(word) >= MIN_SUFFIX_CHARS
                and (word.endswith(stem) or stem.endswith(word))
            )
        )
    )
    return min(related, default="")
