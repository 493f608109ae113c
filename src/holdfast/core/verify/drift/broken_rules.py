"""Violated constraints: a message does what was forbidden, or leaves out what was demanded.

Only the user and the system set constraints, and only what the agent itself says or calls can go
against one. What a tool printed is not looked at, neither way.
"""

import re

from msgspec import Struct

from holdfast.core.ledger.summary import Constraint, Decision
from holdfast.core.observe.requests.overrides import LEAST, telling
from holdfast.core.observe.requests.overrides import MOST as AT_MOST
from holdfast.core.observe.sentences import plain
from holdfast.core.verify.drift.ground import Ground
from holdfast.core.verify.drift.message import (
    Clause,
    Move,
    about,
    clauses,
    covers,
    deeds,
    names,
    sides,
    verbs,
)
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


class _Rule(Struct, frozen=True):
    """A constraint as it is held against what is said: read once, however much that is."""

    row: Constraint
    words: str
    weight: float
    what: frozenset[str]
    """What it forbids, or demands."""
    refused: frozenset[str] = frozenset()
    """What it rules out by the way: `Decimal, not float`."""
    does: frozenset[str] = frozenset()
    """The kind of change that it forbids."""
    named: frozenset[str] = frozenset()
    """The things that it forbids it to be done to, by name."""
    values: frozenset[str] = frozenset()
    """The values by which it bounds something."""


def violate(move: Move, ground: Ground) -> Finding:
    """The constraint that a message goes against most clearly."""
    if not ground.constraints:
        return NOTHING
    said = [*clauses(move), *(deed for call in move.calls for deed in deeds(call))]
    best = NOTHING
    for rule in map(_read, ground.constraints) if said else ():
        for clause in said:
            strength, why = _against(rule, clause)
            if strength > best.strength:
                best = Finding(strength, why, clause.text, rule.row.text, rule.row.entry)
    return best


def _read(row: Constraint) -> _Rule:
    words = plain(row.text)
    weight = BY_SYSTEM if row.by == "system" else 1.0
    if not row.negative:
        wanted, refused = sides(_main(words))
        bounded = AT_MOST.search(words) or LEAST.search(words)
        values = telling(words).values if bounded else frozenset[str]()
        return _Rule(row, words, weight, wanted, refused, values=values)
    cue = FORBIDS.search(words)
    start = cue.end() if cue else 0
    main = _main(words[start:])
    weight *= CONDITIONAL if CONDITION.search(words) else 1.0
    does = verbs(about(" ".join(main.split()[:FIRST])))
    named = names(row.text[start : start + len(main)])
    return _Rule(row, words, weight, about(main), does=does, named=named)


def _against(rule: _Rule, clause: Clause) -> tuple[float, str]:
    if rule.row.negative:
        strength = CALLED if clause.called else SAID
        broken = _does(rule, clause)
        return (strength * rule.weight, "it does what was forbidden") if broken else (0.0, "")
    takes_it = covers(clause.taken, rule.what, SHARE)
    if rule.refused and covers(clause.taken, rule.refused, SHARE) and not takes_it:
        return SAID * rule.weight, "it takes what was ruled out"
    if not clause.called and covers(clause.skips, rule.what, HALF):
        return LEFT_OUT * rule.weight, "it leaves out what was demanded"
    if _other_value(rule, clause):
        return BOUND * rule.weight, "it takes another value than the one that was set"
    return 0.0, ""


def _does(rule: _Rule, clause: Clause) -> bool:
    """Whether a clause does what a rule forbids: the same kind of deed, to the same thing."""
    if not covers(clause.taken, rule.what, SHARE) or not _is_plain(rule, clause):
        return False
    if rule.does and rule.does.isdisjoint(clause.taken):
        return False
    # Paths share folders and endings with others: a name is only met by itself.
    return not rule.named or not rule.named.isdisjoint(names(clause.text))


def _is_plain(rule: _Rule, clause: Clause) -> bool:
    """Whether a rule says clearly enough what it is about: one word does in a short rule only."""
    return len(rule.what) >= ENOUGH or clause.called or len(rule.words.split()) <= SHORT


def _main(words: str) -> str:
    """The part of a rule that says what, without when, why and except."""
    end = EXCEPT.search(words, LEAD)
    return words[: end.start()] if end else words


def _other_value(rule: _Rule, clause: Clause) -> bool:
    if not rule.values or not clause.values or rule.values & clause.values:
        return False
    return len(rule.what) >= ENOUGH and covers(clause.terms, rule.what, SHARE)


# Contradicted decisions: a message chooses what was turned down, or turns from what was chosen.


CHOOSES = re.compile(
    r"\b(?:use|using|used|go(?:ing)? (?:with|for|back)|switch(?:ing|ed)?|let's|i'll|i will|we'll"
    r"|we will|i'm going to|chos?ose|choosing|picked|opt(?:ing|ed)?|mov(?:e|ing) to|migrat(?:e|ing)"
    r"|adopt(?:ing)?|rewrit(?:e|ing)|convert(?:ing)?|replac(?:e|ing)|change|changing|swap(?:ping)?)\b"
)
REASON = re.compile(r"\b(?:because|since|as (?:the|it|this)|so that|the user|you asked)\b")
CONTRADICTION_SHARE = 0.6
OF_USER, OF_AGENT, REASONED = 0.75, 0.55, 0.3


def contradict(move: Move, ground: Ground) -> Finding:
    """The decision that a message goes against most clearly."""
    said = [one for one in clauses(move) if one.turns or CHOOSES.search(plain(one.text))]
    best = NOTHING
    for decision in ground.decisions if said else ():
        # A choice that answers a question stands behind it.
        chosen, refused = sides(plain(decision.choice).rpartition("? ")[2])
        for clause in said:
            why = _turned(chosen, refused, clause)
            strength = _weight(decision, clause) if why else 0.0
            if strength > best.strength:
                best = Finding(strength, why, clause.text, decision.choice, decision.entry)
    return best


def _turned(chosen: frozenset[str], refused: frozenset[str], clause: Clause) -> str:
    """How a clause goes against a choice; empty when it does not."""
    if (
        refused
        and covers(clause.taken, refused, CONTRADICTION_SHARE)
        and not covers(clause.taken, chosen, CONTRADICTION_SHARE)
    ):
        return "it takes what was turned down"
    return (
        "it turns from what was decided"
        if covers(clause.skips, chosen, CONTRADICTION_SHARE)
        else ""
    )


def _weight(decision: Decision, clause: Clause) -> float:
    """How much it weighs: an agent may change its own mind, most of all with a reason."""
    if decision.by == "user":
        return OF_USER
    return REASONED if REASON.search(plain(clause.text)) else OF_AGENT
