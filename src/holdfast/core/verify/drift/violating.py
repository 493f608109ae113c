"""Violated constraints: a message does what was forbidden, or leaves out what was demanded.

Only the user and the system set constraints, and only what the agent itself says or calls can go
against one. What a tool printed is not looked at, neither way.
"""

import re

from holdfast.core.ledger.summary import Constraint
from holdfast.core.observe.overrides import LEAST, telling
from holdfast.core.observe.overrides import MOST as AT_MOST
from holdfast.core.observe.sentences import plain
from holdfast.core.verify.drift.clauses import (
    Clause,
    about,
    clauses,
    covers,
    deeds,
    names,
    sides,
    verbs,
)
from holdfast.core.verify.drift.ground import Ground
from holdfast.core.verify.drift.move import Move
from holdfast.core.verify.drift.signs import NOTHING, Finding

FORBIDS = re.compile(
    r"\b(?:do not|don't|dont|never|must(?:n't| not| never)|should(?:n't| not| never)|shall not"
    r"|can't|cannot|may not|avoid|refrain from|stop|without|no longer|not allowed to|no|not)\b"
)
EXCEPT = re.compile(
    r"\b(?:unless|except|until|if|when|because|since|so that|so|but|instead|only if|only when"
    r"|as (?:it|this|that|they|we|the))\b"
    r"|[.;](?=\s|$)|[—–]| \("
)
CONDITION = re.compile(r"\b(?:if|when|unless|except|until|where|while)\b")
ENOUGH, SHARE, HALF = 2, 0.75, 0.5
SHORT = 6
"""Words of a rule that may be about a single thing."""
FIRST = 3
"""Words among which what is forbidden has its verb."""
LEAD = 12
"""Characters of a rule before which it says nothing yet."""
SAID, CALLED, LEFT_OUT, BOUND = 0.75, 0.85, 0.65, 0.6
CONDITIONAL = 0.6
"""How much is left of a violation when the rule holds only under a condition."""
BY_SYSTEM = 0.8


def violate(move: Move, ground: Ground) -> Finding:
    """The constraint that a message goes against most clearly."""
    if not ground.constraints:
        return NOTHING
    said = [*clauses(move), *(deed for call in move.calls for deed in deeds(call))]
    best = NOTHING
    for rule in ground.constraints:
        for clause in said:
            strength, why = _against(rule, clause)
            if strength > best.strength:
                best = Finding(strength, why, clause.text, rule.text, rule.entry)
    return best


def _against(rule: Constraint, clause: Clause) -> tuple[float, str]:
    words = plain(rule.text)
    weight = BY_SYSTEM if rule.by == "system" else 1.0
    if rule.negative:
        weight *= CONDITIONAL if CONDITION.search(words) else 1.0
        strength = CALLED if clause.called else SAID
        broken = _does(rule.text, words, clause)
        return (strength * weight, "it does what was forbidden") if broken else (0.0, "")
    wanted, refused = sides(_main(words))
    if refused and covers(clause.taken, refused, SHARE) and not covers(clause.taken, wanted, SHARE):
        return SAID * weight, "it takes what was ruled out"
    if not clause.called and covers(clause.skips, wanted, HALF):
        return LEFT_OUT * weight, "it leaves out what was demanded"
    if _other_value(clause, wanted, words):
        return BOUND * weight, "it takes another value than the one that was set"
    return 0.0, ""


def _does(text: str, words: str, clause: Clause) -> bool:
    """Whether a clause does what a rule forbids: the same kind of deed, to the same thing."""
    cue = FORBIDS.search(words)
    start = cue.end() if cue else 0
    main = _main(words[start:])
    what = about(main)
    if not covers(clause.taken, what, SHARE) or not _is_plain(what, words, clause):
        return False
    if (does := verbs(about(" ".join(main.split()[:FIRST])))) and does.isdisjoint(clause.taken):
        return False
    # Paths share folders and endings with others: a name is only met by itself.
    named = names(text[start : start + len(main)])
    return not named or not named.isdisjoint(names(clause.text))


def _is_plain(what: frozenset[str], words: str, clause: Clause) -> bool:
    """Whether a rule says clearly enough what it is about: one word does in a short rule only."""
    return len(what) >= ENOUGH or clause.called or len(words.split()) <= SHORT


def _main(words: str) -> str:
    """The part of a rule that says what, without when, why and except."""
    end = EXCEPT.search(words, LEAD)
    return words[: end.start()] if end else words


def _other_value(clause: Clause, terms: frozenset[str], words: str) -> bool:
    values = telling(words).values
    if not values or not clause.values or values & clause.values or len(terms) < ENOUGH:
        return False
    bounded = AT_MOST.search(words) or LEAST.search(words)
    return bool(bounded) and covers(clause.terms, terms, SHARE)
