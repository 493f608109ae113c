"""Run the protocol's four alignment checks on an action, with only a summary as evidence.

A summary contains less than a session, so any term that an action shares with it is enough for the
action to count as related.
"""

from collections.abc import Mapping

from holdfast.core.ledger.summary import Summary
from holdfast.core.observe.requests.overrides import subject_of
from holdfast.core.verify.drift.broken_rules import find_contradiction, find_violation
from holdfast.core.verify.drift.clarification import find_known_question
from holdfast.core.verify.drift.evidence import Evidence, evidence_from_summary
from holdfast.core.verify.drift.false_completion import find_false_completion
from holdfast.core.verify.drift.message import AgentMessage, referenced_text
from holdfast.core.verify.drift.signs import SIGN_THRESHOLD

MIN_TERMS = 3
"""Terms that an action must have before it can count as unrelated."""


def summary_text(summary: Summary) -> str:
    """Return all rows of a summary as one text."""
    intent, progress = summary.intent, summary.progress
    rows = (
        intent.original.text,
        intent.current.text,
        *(row.text for row in (*intent.changes, *summary.constraints, *summary.words)),
        *(f"{row.choice} {row.reason}" for row in summary.decisions),
        *(f"{row.path} {row.change} {row.why}" for row in summary.files),
        *(row.text for row in (*summary.facts, *summary.errors, *summary.questions)),
        *(progress.phase, *progress.completed, *progress.remaining, progress.tests),
        *(row.step for row in summary.next),
    )
    return "\n".join(rows)


def evidence_in(summary: Summary) -> Evidence:
    """Return the evidence that a summary gives directly after it was made."""
    return evidence_from_summary(summary, summary_text(summary))


def is_about(message: AgentMessage, text: str) -> bool:
    """Whether a message shares a term with a text, or has too few terms to tell."""
    terms = subject_of(referenced_text(message)).terms
    return len(terms) < MIN_TERMS or not terms.isdisjoint(subject_of(text).terms)


def follows_rules(message: AgentMessage, evidence: Evidence) -> bool:
    """Whether a message violates no constraint and contradicts no decision."""
    return (
        max(rule(message, evidence).strength for rule in (find_violation, find_contradiction))
        < SIGN_THRESHOLD
    )


def asks_for_known_facts(message: AgentMessage, evidence: Evidence) -> bool:
    """Whether a message asks for something that the summary contains, or for the task itself."""
    return find_known_question(message, evidence).strength >= SIGN_THRESHOLD


def claims_false_completion(message: AgentMessage, evidence: Evidence) -> bool:
    """Whether a message calls the work done without a result."""
    return find_false_completion(message, evidence).strength >= SIGN_THRESHOLD


def shows_drift(checks: Mapping[str, bool]) -> bool:
    """Whether one of the four checks indicates drift."""
    checks_hold = checks.get("intent_match", True) and checks.get("trajectory_valid", True)
    flags = checks.get("clarification_flag", False) or checks.get("completion_flag", False)
    return flags or not checks_hold
