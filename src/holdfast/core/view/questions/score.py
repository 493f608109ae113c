"""How well a statement answers a question: the share of what is asked about that it is about.

A statement answers as much of a word as it says the same, something that means nearly the same, or
the name of such a thing; what stands beside it counts half. So a score is comparable from question
to question, and one threshold says when nothing is known.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec import Struct

from holdfast.core.view.questions.question import LOOKED_AT, Question, Wanted
from holdfast.core.view.questions.statements import Statement
from holdfast.core.view.search.ranking import Stems

BESIDE = 0.5
"""What a word counts that stands beside the statement and not in it."""
ASIDE = 0.5
"""What is left of a statement that says nothing of it itself, only the words beside it do."""
REASONED = 0.8
"""What is left of a decision that says nothing of it itself, only its reason does."""
BEGINS, ENDS, SHARED = 5, 6, 0.8
"""Letters from which a word that begins or ends another is of its kin, and what that counts."""
COUNTED = 0.8
"""How nearly a statement must speak of what is counted."""
MISSED, FAINT = 0.55, 0.3
"""What is left of an answer that has nothing of what is asked for, and what counts as nothing."""
_AMOUNT = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|hundred|thousand|half"
    r"|once|twice|every|each|hourly|daily|weekly|monthly|yearly|nightly|second"
    r"|minute|hour|day|week|month|year|before|after|until"
)
SIZE = re.compile(_AMOUNT + r")s?\b", re.I)
MEASURE = re.compile(_AMOUNT + r"|never|always)s?\b", re.I)
"""How much there is of something, or when it is."""
NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|hundred|thousand)\b",
    re.I,
)
"""How many there are of something."""
MONEY = re.compile(
    r"[$€£¥]|\b(?:euros?|dollars?|cents?|pounds?|usd|eur|gbp|free|price[sd]?|costs?|fees?|percent"
    r"|pay(?:s|ment|ments)?|paid|bill(?:ed|ing)?|charged?|discount|invoices?|checkout)\b|\d ?%",
    re.I,
)
UNMEASURED = 0.5
"""What is left of an answer to "how long" that names no number and no time."""
WHO = 0.45
"""What is left of an answer to "who": what was decided tells only who decided."""
NAMES_IT = 0.5
"""What it is worth to name a thing of the sort that is asked for."""
BY_USER, DECIDED = 0.1, 0.2
"""What it is worth, all else being equal, that the user said it, and that it was decided."""
TURNED_DOWN = re.compile(
    r"(?i)\b(?:instead of|rather than|in place of)\b"
    r"(?: (?!(?:for|in|on|at|as|when|with|by|so|to|because|since)\b)[^\s,.;—]{1,60}){1,8}"
)
"""What was not chosen; what it was not chosen for stands behind it."""
AFTERTHOUGHT = re.compile(
    r"(?i)(?:, (?=(?:the|its?|our|we|they|i|he|she|this|that|there|these|those|people|nobody"
    r"|everybody|everyone|no one) )| — | – |,? (?:because|since|so that|as otherwise) )"
)
"""Where a statement begins to say why."""
FOCUSED, SHORT = 0.3, 6
"""What it is worth to say nothing else, and the fewest words that this is a share of."""


class Judged(Struct, frozen=True):
    """A statement, and how well it answers."""

    statement: Statement
    score: float
    """The share of the question that it answers, from 0 to 1."""
    focus: float = 0.0
    """What else speaks for it: that it says little else, names such a thing, or is the user's."""

    @property
    def rank(self) -> float:
        """By which the better of two is told."""
        return self.score + FOCUSED * self.focus


def judge(question: Question, statements: Iterable[Statement], *, stems: Stems) -> list[Judged]:
    """Statements by how well they answer, the best first; those that do not at all left out."""
    weight = question.weight
    if not weight:
        return []
    factor = _factor(question)
    judged = [_judged(question, one, weight, factor, stems) for one in statements]
    order = enumerate(judged)
    # Of equals the newest: what was said last holds.
    ranked = sorted(order, key=lambda row: (-row[1].rank, -row[0]))
    return [one for _, one in ranked if one.score > 0]


def _factor(question: Question) -> Callable[[Statement], float]:
    """What an answer loses that is not of the sort that is asked for."""
    wanted = _sort(question)

    def factor(one: Statement) -> float:
        if wanted is not None and not wanted.search(one.words):
            return UNMEASURED
        return WHO if question.whom else 1.0

    return factor


def _sort(question: Question) -> re.Pattern[str] | None:
    """What an answer has to have in it, of whatever sort that is."""
    if question.prices:
        return MONEY
    if question.counts:
        return NUMBER
    if question.sizes:
        return SIZE
    return MEASURE if question.measures else None


def _judged(
    question: Question,
    one: Statement,
    weight: float,
    factor: Callable[[Statement], float],
    stems: Stems,
) -> Judged:
    said = frozenset(stems(one.words[:LOOKED_AT]))
    beside = frozenset(stems(one.around[:LOOKED_AT])) - said
    told = [each for each in question.wanted if each.stem in said]
    chosen = frozenset(stems(chosen_in(one.words[:LOOKED_AT])))
    own = _shares(question.wanted, said, chosen)
    near = _shares(question.wanted, beside, beside)
    shares = {stem: max(share, BESIDE * near[stem]) for stem, share in own.items()}
    found = sum(each.worth * shares[each.stem] for each in question.wanted)
    decided = _decided(question, one, own, stems)
    focus = [decided[stem] for stem in question.focus if stem in decided]
    # Who counts something wants that very thing; otherwise anything near it will do.
    least = COUNTED if question.counts else FAINT
    score = found / weight * factor(one) * (MISSED if focus and max(focus) < least else 1.0)
    if max(own.values()) < FAINT:
        score *= ASIDE
    elif max(decided.values()) < FAINT:
        score *= REASONED
    about = len(told) / max(len(said), SHORT)
    names = any(each.names & chosen for each in question.wanted if each.stem in question.focus)
    about += NAMES_IT * names + BY_USER * (one.by == "user") + DECIDED * (one.kind == "decision")
    return Judged(one, round(score, 4), round(about, 4))


def _decided(
    question: Question, one: Statement, own: dict[str, float], stems: Stems
) -> dict[str, float]:
    """How much of each word what was decided answers, without the reason for it."""
    words = decided_in(one.words[:LOOKED_AT])
    # Only a decision has a reason, and one that answers nothing has none that matters.
    if one.kind != "decision" or not any(own.values()) or words == one.words[:LOOKED_AT]:
        return own
    return _shares(question.wanted, frozenset(stems(words)), frozenset(stems(chosen_in(words))))


def decided_in(text: str) -> str:
    """What was decided, without what was said for it."""
    found = AFTERTHOUGHT.search(text)
    return text[: found.start()] if found else text


def chosen_in(text: str) -> str:
    """What was chosen, without what was turned down for it."""
    return TURNED_DOWN.sub(" ", text) or text


def _shares(
    wanted: Sequence[Wanted], words: frozenset[str], chosen: frozenset[str]
) -> dict[str, float]:
    """How much of each word of a question some words answer; none of them answers two.

    Word by word, all of them; by what they mean, only what was chosen: who asks for the database
    does not want the one that was turned down.
    """
    shares = {each.stem: float(each.stem in words) for each in wanted}
    left = set(chosen).difference(stem for stem, share in shares.items() if share)
    for each in sorted(wanted, key=lambda one: -one.worth):
        if not shares[each.stem]:
            stem, shares[each.stem] = _likest(each, left)
            left.discard(stem)
    return shares


def _likest(each: Wanted, words: Collection[str]) -> tuple[str, float]:
    """The word that means most nearly the same, and how nearly."""
    near = ((each.like[key], key) for key in each.like.keys() & words)
    share, stem = max(near, default=(0.0, ""))
    kin = _kin(each.stem, words) if share < SHARED else ""
    return (kin, SHARED) if kin else (stem, share)


def _kin(stem: str, words: Iterable[str]) -> str:
    """A word that goes on where the other ends, or ends with it: `domain` and `subdomain`."""
    if len(stem) < BEGINS:
        return ""
    ends = len(stem) >= ENDS
    both = (
        word
        for word in words
        if len(word) >= BEGINS
        and (
            word.startswith(stem)
            or stem.startswith(word)
            or (ends and len(word) >= ENDS and (word.endswith(stem) or stem.endswith(word)))
        )
    )
    return min(both, default="")
