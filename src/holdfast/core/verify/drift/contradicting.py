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
        for clause in said:
            strength, why = _against(decision, clause)
            if strength > best.strength:
                best = Finding(strength, why, clause.text, decision.choice, decision.entry)
    return best


def _against(decision: Decision, clause: Clause) -> tuple[float, str]:
    # A choice that answers a question stands behind it.
    chosen, refused = sides(plain(decision.choice).rpartition("? ")[2])
    if refused and covers(clause.taken, refused, SHARE) and not covers(clause.taken, chosen, SHARE):
        why = "it takes what was turned down"
    elif chosen and covers(clause.skips, chosen, SHARE):
        why = "it turns from what was decided"
    else:
        return 0.0, ""
    if decision.by == "user":
        return OF_USER, why
    return (REASONED if REASON.search(plain(clause.text)) else OF_AGENT), why
