"""Detect violated constraints and contradicted decisions in a message of the agent.

Only the user and the system set constraints, and only the agent's own words and calls can violate
one. Output of tools is ignored on both sides.
"""

from functools import lru_cache

from msgspec import Struct

from holdfast.core.ledger.notes import Finding
from holdfast.core.ledger.summary import Constraint, Decision
from holdfast.core.observe.requests.overrides import LOWER_BOUND, subject_of
from holdfast.core.observe.requests.overrides import UPPER_BOUND as AT_MOST
from holdfast.core.verify.drift.evidence import Evidence
from holdfast.core.verify.drift.message import (
    AgentMessage,
    Clause,
    change_verbs,
    clauses_of_call,
    clauses_of_message,
    covers_terms,
    lower_names,
    split_choice,
    subject_terms,
)
from holdfast.core.verify.drift.signs import NO_FINDING
from holdfast.text.patterns import Pattern
from holdfast.text.sentences import plain_words

# The cue of a prohibition. Matches in "never touch src/billing.py"; not in "use Decimal".
FORBIDS = Pattern(
    r"\b(?:do not|don't|dont|never|must(?:n't| not| never)|should(?:n't| not| never)|shall not"
    r"|can't|cannot|may not|avoid|refrain from|stop|without|no longer|not allowed to|no|not)\b"
)
# The end of the part that says what is demanded. In "never push unless asked" it matches "unless".
ENDS_MAIN_CLAUSE = Pattern(
    r"\b(?:unless|except|until|if|when|because|since|so that|so|but|instead|only if|only when"
    r"|as (?:it|this|that|they|we|the))\b"
    r"|[.;](?=\s|$)|[—–]| \("
)
# Matches in "do not commit until it is green"; not in "do not commit".
CONDITION = Pattern(r"\b(?:if|when|unless|except|until|where|while)\b")
MIN_TERMS, RULE_SHARE, LEFT_OUT_SHARE = 2, 0.75, 0.5
SHORT_RULE_WORDS = 6
"""Words up to which a rule may be about a single term."""
VERB_WORDS = 3
"""The forbidden verb is searched among this many words after the cue."""
RULE_LEAD_CHARS = 12
"""Characters at the start of a rule in which its main clause cannot end."""
SAID_STRENGTH, CALLED_STRENGTH, LEFT_OUT_STRENGTH, OTHER_VALUE_STRENGTH = 0.75, 0.85, 0.65, 0.6
CONDITIONAL_WEIGHT = 0.6
"""Factor for a rule that holds only under a condition."""
SYSTEM_WEIGHT = 0.8


class _Rule(Struct, frozen=True):
    """A constraint that was parsed once, to be compared with many clauses."""

    row: Constraint
    words: str
    weight: float
    terms: frozenset[str]
    """The terms of what it forbids or demands."""
    refused: frozenset[str] = frozenset()
    """Terms that a demand also rules out: `float` in `Decimal, not float`."""
    verbs: frozenset[str] = frozenset()
    """The kind of change that it forbids."""
    names: frozenset[str] = frozenset()
    """The names of the things that must not be changed."""
    values: frozenset[str] = frozenset()
    """The values that it sets as a bound."""


def find_violation(message: AgentMessage, evidence: Evidence) -> Finding:
    """Return a finding for the constraint that a message violates most clearly."""
    if not evidence.constraints:
        return NO_FINDING
    clauses = [
        *clauses_of_message(message),
        *(deed for call in message.calls for deed in clauses_of_call(call)),
    ]
    best = NO_FINDING
    for rule in map(_read_rule, evidence.constraints) if clauses else ():
        for clause in clauses:
            strength, why = _violation(rule, clause)
            if strength > best.strength:
                best = Finding(strength, why, clause.text, rule.row.text, rule.row.entry)
    return best


@lru_cache(maxsize=256)
def _read_rule(row: Constraint) -> _Rule:
    words = plain_words(row.text)
    weight = SYSTEM_WEIGHT if row.by == "system" else 1.0
    if not row.negative:
        wanted, refused = split_choice(_main_clause(words))
        bounded = AT_MOST.search(words) or LOWER_BOUND.search(words)
        values = subject_of(words).values if bounded else frozenset[str]()
        return _Rule(row, words, weight, wanted, refused, values=values)
    cue = FORBIDS.search(words)
    start = cue.end() if cue else 0
    main = _main_clause(words[start:])
    weight *= CONDITIONAL_WEIGHT if CONDITION.search(words) else 1.0
    verbs = change_verbs(subject_terms(" ".join(main.split()[:VERB_WORDS])))
    names = lower_names(row.text[start : start + len(main)])
    return _Rule(row, words, weight, subject_terms(main), verbs=verbs, names=names)


def _violation(rule: _Rule, clause: Clause) -> tuple[float, str]:
    if rule.row.negative:
        strength = CALLED_STRENGTH if clause.is_call else SAID_STRENGTH
        broken = _does_forbidden(rule, clause)
        return (strength * rule.weight, "it does what was forbidden") if broken else (0.0, "")
    takes_it = covers_terms(clause.taken, rule.terms, RULE_SHARE)
    if rule.refused and covers_terms(clause.taken, rule.refused, RULE_SHARE) and not takes_it:
        return SAID_STRENGTH * rule.weight, "it takes what was ruled out"
    if not clause.is_call and covers_terms(clause.left_out, rule.terms, LEFT_OUT_SHARE):
        return LEFT_OUT_STRENGTH * rule.weight, "it leaves out what was demanded"
    if _takes_other_value(rule, clause):
        return (
            OTHER_VALUE_STRENGTH * rule.weight,
            "it takes another value than the one that was set",
        )
    return 0.0, ""


def _does_forbidden(rule: _Rule, clause: Clause) -> bool:
    """Whether a clause does what a rule forbids: the same kind of change to the same thing."""
    if not covers_terms(clause.taken, rule.terms, RULE_SHARE) or not _is_specific(rule, clause):
        return False
    if rule.verbs and rule.verbs.isdisjoint(clause.taken):
        return False
    # Paths share folders and endings with other paths, so only a whole name counts.
    return not rule.names or not rule.names.isdisjoint(lower_names(clause.text))


def _is_specific(rule: _Rule, clause: Clause) -> bool:
    """Whether a rule is specific enough: a single term is enough only in a short rule."""
    return (
        len(rule.terms) >= MIN_TERMS
        or clause.is_call
        or len(rule.words.split()) <= SHORT_RULE_WORDS
    )


def _main_clause(words: str) -> str:
    """Return the part of a rule that says what, without condition, reason and exception."""
    end = ENDS_MAIN_CLAUSE.search(words, RULE_LEAD_CHARS)
    return words[: end.start()] if end else words


def _takes_other_value(rule: _Rule, clause: Clause) -> bool:
    if not rule.values or not clause.values or rule.values & clause.values:
        return False
    return len(rule.terms) >= MIN_TERMS and covers_terms(clause.terms, rule.terms, RULE_SHARE)


# Contradicted decisions: a message takes a rejected option, or gives up the chosen one.

# Words of a choice. Matches in "switching to float"; not in "the test failed".
CHOOSES = Pattern(
    r"\b(?:use|using|used|go(?:ing)? (?:with|for|back)|switch(?:ing|ed)?|let's|i'll|i will|we'll"
    r"|we will|i'm going to|chos?ose|choosing|picked|opt(?:ing|ed)?|mov(?:e|ing) to|migrat(?:e|ing)"
    r"|adopt(?:ing)?|rewrit(?:e|ing)|convert(?:ing)?|replac(?:e|ing)|change|changing|swap(?:ping)?)\b"
)
REASON = Pattern(r"\b(?:because|since|as (?:the|it|this)|so that|the user|you asked)\b")
CONTRADICTION_SHARE = 0.6
USER_DECISION_STRENGTH, AGENT_DECISION_STRENGTH, REASONED_STRENGTH = 0.75, 0.55, 0.3


def find_contradiction(message: AgentMessage, evidence: Evidence) -> Finding:
    """Return a finding for the decision that a message contradicts most clearly."""
    choices = [
        clause
        for clause in clauses_of_message(message)
        if clause.takes_back or CHOOSES.search(plain_words(clause.text))
    ]
    best = NO_FINDING
    for decision in evidence.decisions if choices else ():
        # If the choice answers a question, the answer follows the question.
        chosen, refused = split_choice(plain_words(decision.choice).rpartition("? ")[2])
        for clause in choices:
            why = _contradiction(chosen, refused, clause)
            strength = _decision_strength(decision, clause) if why else 0.0
            if strength > best.strength:
                best = Finding(strength, why, clause.text, decision.choice, decision.entry)
    return best


def _contradiction(chosen: frozenset[str], refused: frozenset[str], clause: Clause) -> str:
    """Return how a clause contradicts a choice; empty if it does not."""
    if (
        refused
        and covers_terms(clause.taken, refused, CONTRADICTION_SHARE)
        and not covers_terms(clause.taken, chosen, CONTRADICTION_SHARE)
    ):
        return "it takes what was turned down"
    return (
        "it turns from what was decided"
        if covers_terms(clause.left_out, chosen, CONTRADICTION_SHARE)
        else ""
    )


def _decision_strength(decision: Decision, clause: Clause) -> float:
    """Return the strength: an agent may revise its own decisions, above all with a reason."""
    if decision.by == "user":
        return USER_DECISION_STRENGTH
    return REASONED_STRENGTH if REASON.search(plain_words(clause.text)) else AGENT_DECISION_STRENGTH
