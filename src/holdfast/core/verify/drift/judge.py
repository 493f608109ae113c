"""Judge a message of the agent for drift: run the seven rules and combine their findings."""

from collections.abc import Callable
from typing import TypeAlias

from holdfast.core.faults import attempt
from holdfast.core.ledger.notes import Finding
from holdfast.core.verify.drift.broken_rules import find_contradiction, find_violation
from holdfast.core.verify.drift.clarification import find_known_question
from holdfast.core.verify.drift.evidence import Evidence
from holdfast.core.verify.drift.false_completion import find_false_completion
from holdfast.core.verify.drift.message import AgentMessage
from holdfast.core.verify.drift.off_topic import (
    find_repetition,
    find_unknown_names,
    find_unrelated_work,
)
from holdfast.core.verify.drift.signs import NO_FINDING, Drift, combine_findings

Rule: TypeAlias = Callable[[AgentMessage, Evidence], Finding]

RULES: dict[str, Rule] = {
    "clarification": find_known_question,
    "completion": find_false_completion,
    "subtask": find_unrelated_work,
    "decision": find_contradiction,
    "constraint": find_violation,
    "vocabulary": find_unknown_names,
    "repetition": find_repetition,
}


def judge(message: AgentMessage, evidence: Evidence) -> Drift:
    """Judge a message of the agent against the evidence of its session."""
    findings = {name: _find(name, rule, message, evidence) for name, rule in RULES.items()}
    return combine_findings(findings, evidence.steps_since)


def _find(name: str, rule: Rule, message: AgentMessage, evidence: Evidence) -> Finding:
    return attempt(f"verify.drift.{name}", lambda: rule(message, evidence), lambda: NO_FINDING)
