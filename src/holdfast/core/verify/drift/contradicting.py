"""Contradicted decisions: a message chooses what was turned down, or turns from what was chosen."""

import re

from holdfast.core.ledger.summary import Decision
from holdfast.core.observe.overrides import telling
from holdfast.core.observe.sentences import plain
from holdfast.core.verify.drift.clauses import Clause, clauses
from holdfast.core.verify.drift.ground import Ground
from holdfast.core.verify.drift.move import Move
from holdfast.core.verify.drift.signs import NOTHING, Finding

AGAINST = re.compile(r"\b(?:instead of|rather than|in favou?r of|over|not|without|from)\b")
CHOOSES = re.compile(
    r"\b(?:use|using|used|go(?:ing)? (?:with|for|back)|switch(?:ing|ed)?|let's|i'll|i will|we'll"
    r"|we will|i'm going to|chos?ose|choosing|picked|opt(?:ing|ed)?|mov(?:e|ing) to|migrat(?:e|ing)"
    r"|adopt(?:ing)?|rewrit(?:e|ing)|convert(?:ing)?|replac(?:e|ing)|change|changing|swap(?:ping)?)\b"
)
REASON = re.compile(r"\b(?:because|since|as (?:the|it|this)|so that|the user|you asked)\b")
ENOUGH, SHARE = 2, 0.6
OF_USER, OF_AGENT, REASONED = 0.75, 0.55, 0.3


def contradict(move: Move, ground: Ground) -> Finding:
    """The decision that a message goes against most clearly."""
    said = [one for one in clauses(move) if CHOOSES.search(plain(one.text))]
    best = NOTHING
    for decision in ground.decisions if said else ():
        for clause in said:
            strength, why = _against(decision, clause)
            if strength > best.strength:
                best = Finding(strength, why, clause.text, decision.choice, decision.entry)
    return best


def _against(decision: Decision, clause: Clause) -> tuple[float, str]:
    # A choice that answers a question stands behind it.
    words = plain(decision.choice).rpartition("? ")[2]
    turn = AGAINST.search(words)
    chosen = telling(words[: turn.start()] if turn and turn.start() else words).terms
    refused = telling(words[turn.end() :] if turn and turn.start() else "").terms - chosen
    if refused and _covers(clause.taken, refused) and not _covers(clause.taken, chosen - refused):
        why = "it takes what was turned down"
    elif chosen and _covers(clause.skips, chosen):
        why = "it turns from what was decided"
    else:
        return 0.0, ""
    if decision.by == "user":
        return OF_USER, why
    return (REASONED if REASON.search(plain(clause.text)) else OF_AGENT), why


def _covers(terms: frozenset[str], what: frozenset[str]) -> bool:
    shared = len(terms & what)
    return shared >= min(ENOUGH, len(what)) and shared > 0 and shared >= SHARE * len(what)
