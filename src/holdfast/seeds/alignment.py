"""The protocol's check of an agent's action against a summary, in its own names and shapes."""

from collections.abc import Mapping
from typing import TypeAlias, TypedDict, cast

from holdfast.core.ledger.summary import (
    Constraint,
    Decision,
    File,
    Intent,
    Progress,
    Quote,
    Summary,
)
from holdfast.core.observe.requests.constraints import forbids
from holdfast.core.observe.scene import scene_of
from holdfast.core.shrink.summary.rows import rows_of_scene
from holdfast.core.verify.drift import against_summary
from holdfast.core.verify.drift.message import AgentMessage, agent_message
from holdfast.core.view.drift import render_warning
from holdfast.engine.engine import Account
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.text.jsontext import Json, as_list, as_object, as_text

SummarySource: TypeAlias = Summary | Account | Session | Mapping[str, object]
"""A summary in rows, the session to summarize, or the result of `generate_session_summary`."""
Action: TypeAlias = str | Mapping[str, object]
"""An action of the agent: its text, or a message with its calls."""

Aligned = TypedDict("Aligned", {"status": str, "continue": bool})


class Checks(TypedDict):
    """The four checks of the protocol."""

    intent_match: bool
    trajectory_valid: bool
    clarification_flag: bool
    completion_flag: bool


class DriftFound(TypedDict):
    """The result if the agent drifted: it has to recover context."""

    status: str
    action: str
    details: Checks


def verify_intent_alignment(summary: SummarySource, current_action: Action) -> Aligned | DriftFound:
    """Check whether the agent's next action serves the intent of the session."""
    checks: Checks = {
        "intent_match": compare_to_intent(current_action, summary),
        "trajectory_valid": is_progressing_toward_goal(current_action, summary),
        "clarification_flag": is_asking_clarification_immediately(current_action, summary),
        "completion_flag": is_declaring_complete_without_deliverable(current_action, summary),
    }
    if any_drift_indicators(checks):
        return {"status": "DRIFT_DETECTED", "action": "RECOVER_CONTEXT", "details": checks}
    return {"status": "ALIGNED", "continue": True}


def compare_to_intent(current_action: Action, intent: SummarySource | str) -> bool:
    """Return whether an action is about the request; `intent` may be its text."""
    text = intent if isinstance(intent, str) else against_summary.summary_text(_rows_of(intent))
    return against_summary.is_about(_agent_message(current_action), text)


def is_progressing_toward_goal(current_action: Action, summary: SummarySource) -> bool:
    """Return whether an action obeys the constraints and the decisions."""
    return against_summary.follows_rules(
        _agent_message(current_action), against_summary.evidence_in(_rows_of(summary))
    )


def is_asking_clarification_immediately(current_action: Action, summary: SummarySource) -> bool:
    """Return whether the first action after a summary asks for something that the summary says."""
    return against_summary.asks_for_known_facts(
        _agent_message(current_action), against_summary.evidence_in(_rows_of(summary))
    )


def is_declaring_complete_without_deliverable(
    current_action: Action, summary: SummarySource
) -> bool:
    """Return whether the action declares the work done although there is no deliverable."""
    ground = against_summary.evidence_in(_rows_of(summary))
    return against_summary.claims_false_completion(_agent_message(current_action), ground)


def any_drift_indicators(checks: Mapping[str, bool] | Checks) -> bool:
    """Return whether one of the four checks indicates drift."""
    return against_summary.shows_drift(cast(Mapping[str, bool], checks))


def drift_warning(session: Session, current_action: Action) -> str:
    """Return the warning in the protocol's form; empty if there is no drift."""
    drift = session.drift(current_action)
    if not drift.signals:
        return ""
    return render_warning(drift.signals, session.intent(), _agent_message(current_action).text)


def _agent_message(action: Action) -> AgentMessage:
    if isinstance(action, str):
        return AgentMessage(action)
    session = Session("seeds", MemoryStore())
    session.append({"role": "assistant", **action})
    return agent_message(item.body for item in session.ledger.window().items)


def _rows_of(summary: SummarySource) -> Summary:
    match summary:
        case Summary():
            return summary
        case Account():
            return summary.rows
        case Session():
            scene = scene_of(summary.ledger.path())
            return rows_of_scene(scene)
        case _:
            return _rows_from_object(cast(Mapping[str, Json], summary))


def _rows_from_object(summary: Mapping[str, Json]) -> Summary:
    """Read the rows of a summary from the protocol's object."""
    intent, progress = as_object(summary.get("intent")), as_object(summary.get("progress"))
    files = (as_object(row) for row in as_list(summary.get("artifacts")))
    decisions = (as_object(row) for row in as_list(summary.get("decisions")))
    return Summary(
        intent=Intent(
            Quote(as_text(intent.get("original"))),
            Quote(as_text(intent.get("current")) or as_text(intent.get("original"))),
            tuple(Quote(text) for text in _texts(intent.get("scope_changes"))),
        ),
        constraints=tuple(
            Constraint(text, "", negative=forbids(text))
            for text in _texts(intent.get("constraints"))
        ),
        files=tuple(File(as_text(row.get("path")), "modified") for row in files),
        decisions=tuple(
            Decision(as_text(row.get("decision")), "", as_text(row.get("rationale")))
            for row in decisions
        ),
        progress=Progress(
            as_text(progress.get("phase")),
            tuple(_texts(progress.get("completed"))),
            tuple(_texts(progress.get("remaining"))),
            as_text(progress.get("tests")),
        ),
    )


def _texts(value: Json) -> list[str]:
    return [as_text(item) for item in as_list(value)]
