"""The seven rules, each from a message and a ground to a finding, and all of them at once."""

from collections.abc import Callable
from typing import TypeAlias

from holdfast.core.faults import attempt
from holdfast.core.verify.drift.broken_rules import contradict, violate
from holdfast.core.verify.drift.clarification import clarify
from holdfast.core.verify.drift.false_completion import finish
from holdfast.core.verify.drift.ground import Ground
from holdfast.core.verify.drift.message import Move
from holdfast.core.verify.drift.off_topic import ghosts, repeat, stray
from holdfast.core.verify.drift.signs import NOTHING, Drift, Finding, verdict

Rule: TypeAlias = Callable[[Move, Ground], Finding]

RULES: dict[str, Rule] = {
    "clarification": clarify,
    "completion": finish,
    "subtask": stray,
    "decision": contradict,
    "constraint": violate,
    "vocabulary": ghosts,
    "repetition": repeat,
}


def judge(move: Move, ground: Ground) -> Drift:
    """What a message of the agent looks like against its session."""
    findings = {name: _find(name, rule, move, ground) for name, rule in RULES.items()}
    return verdict(findings, ground.since)


def _find(name: str, rule: Rule, move: Move, ground: Ground) -> Finding:
    return attempt(f"verify.drift.{name}", lambda: rule(move, ground), lambda: NOTHING)
