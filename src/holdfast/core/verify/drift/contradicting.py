"""Contradicted decisions: a message chooses what was turned down, or turns from what was chosen."""

import re

from holdfast.core.ledger.summary import Decision
from holdfast.core.observe.sentences import plain
from holdfast.core.verify.drift.clauses import Clause, clauses, covers, sides
from holdfast.core.verify.drift.ground import Ground
from holdfast.core.verify.drift.move import Move
from holdfast.core.verify.drift.signs import NOTHING, Finding

CHOOSES = re.compile(
    r"\b(?:use|using|used|go(?:ing)? (?:with|for|back)|switch(?:ing|ed)?|let's|i'll|i will|we'll"
    r"|we will|i'm going to|chos?ose|choosing|picked|opt(?:ing|ed)?|mov(?:e|ing) to|migrat(?:e|ing)"
    r"|adopt(?:ing)?|rewrit(?:e|ing)|convert(?:ing)?|replac(?:e|ing)|change|changing|swap(?:ping)?)\b"
)
REASON = re.compile(r"\b(?:because|since|as (?:the|it|this)|so that|the user|you asked)\b")
SHARE = 0.6
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
    if refused and covers(clause.taken, refused, SHARE) and not covers(clause.taken, chosen, SHARE):
        return "it takes what was turned down"
    return "it turns from what was decided" if covers(clause.skips, chosen, SHARE) else ""


def _weight(decision: Decision, clause: Clause) -> float:
    """How much it weighs: an agent may change its own mind, most of all with a reason."""
    if decision.by == "user":
        return OF_USER
    return REASONED if REASON.search(plain(clause.text)) else OF_AGENT
