"""The protocol's four checks, answered from a summary alone.

A summary says less than a session: here an action is held against what the summary tells, and
anything in common is enough to be recognised.
"""

from collections.abc import Mapping

from holdfast.core.ledger.summary import Summary
from holdfast.core.observe.requests.overrides import telling
from holdfast.core.verify.drift.broken_rules import contradict, violate
from holdfast.core.verify.drift.clarification import clarify
from holdfast.core.verify.drift.false_completion import finish
from holdfast.core.verify.drift.ground import Ground, ground_from
from holdfast.core.verify.drift.message import Move, spoken_of
from holdfast.core.verify.drift.signs import LINE

FEW = 3
"""Words that an action has to be about before having none in common says anything."""


def told_in(summary: Summary) -> str:
    """Everything that a summary tells, as one text."""
    intent, progress = summary.intent, summary.progress
    rows = (
        intent.original.text,
        intent.current.text,
        *(one.text for one in (*intent.changes, *summary.constraints, *summary.words)),
        *(f"{one.choice} {one.reason}" for one in summary.decisions),
        *(f"{one.path} {one.change} {one.why}" for one in summary.files),
        *(one.text for one in (*summary.findings, *summary.facts)),
        *(one.text for one in (*summary.errors, *summary.questions)),
        *(progress.phase, *progress.completed, *progress.remaining, progress.tests),
        *(one.step for one in summary.next),
    )
    return "\n".join(rows)


def ground_in(summary: Summary) -> Ground:
    """The ground that a summary gives right after it was made."""
    return ground_from(summary, told_in(summary))


def is_about(move: Move, text: str) -> bool:
    """Whether a message has anything in common with what a text is about."""
    spoken = telling(spoken_of(move)).terms
    return len(spoken) < FEW or not spoken.isdisjoint(telling(text).terms)


def progresses(move: Move, ground: Ground) -> bool:
    """Whether a message goes neither against a constraint nor against a decision."""
    return max(rule(move, ground).strength for rule in (violate, contradict)) < LINE


def asks_at_once(move: Move, ground: Ground) -> bool:
    """Whether a message asks for what the summary tells, or for the task itself."""
    return clarify(move, ground).strength >= LINE


def ends_empty_handed(move: Move, ground: Ground) -> bool:
    """Whether a message calls the work done with nothing to show for it."""
    return finish(move, ground).strength >= LINE


def any_sign(checks: Mapping[str, bool]) -> bool:
    """Whether one of the four checks tells of drift."""
    held = checks.get("intent_match", True) and checks.get("trajectory_valid", True)
    flags = checks.get("clarification_flag", False) or checks.get("completion_flag", False)
    return flags or not held
