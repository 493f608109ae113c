"""The protocol's check of an action against a summary, in its own names and shapes."""

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
from holdfast.core.ledger.window import Item
from holdfast.core.observe.requests.constraints import forbids
from holdfast.core.observe.scene import read_scene
from holdfast.core.shrink.summary.rows import Span, account
from holdfast.core.verify.drift import alignment
from holdfast.core.verify.drift.message import Move, move_of
from holdfast.core.view.drift import render_warning
from holdfast.engine.engine import Account
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.text.jsontext import Json, as_list, as_object, as_text

Told: TypeAlias = Summary | Account | Session | Mapping[str, object]
"""A summary in rows, the session it is of, or the object that `generate_session_summary` makes."""
Action: TypeAlias = str | Mapping[str, object]
"""What the agent does: its words, or a message with its calls."""

Aligned = TypedDict("Aligned", {"status": str, "continue": bool})


class Checks(TypedDict):
    """The four checks of the protocol."""

    intent_match: bool
    trajectory_valid: bool
    clarification_flag: bool
    completion_flag: bool


class Drifted(TypedDict):
    """What the agent has to recover from."""

    status: str
    action: str
    details: Checks


def verify_intent_alignment(summary: Told, current_action: Action) -> Aligned | Drifted:
    """Check whether what the agent does next is what the session is about."""
    checks: Checks = {
        "intent_match": compare_to_intent(current_action, summary),
        "trajectory_valid": is_progressing_toward_goal(current_action, summary),
        "clarification_flag": is_asking_clarification_immediately(current_action, summary),
        "completion_flag": is_declaring_complete_without_deliverable(current_action, summary),
    }
    if any_drift_indicators(checks):
        return {"status": "DRIFT_DETECTED", "action": "RECOVER_CONTEXT", "details": checks}
    return {"status": "ALIGNED", "continue": True}


def compare_to_intent(current_action: Action, intent: Told | str) -> bool:
    """Whether an action has to do with what was asked for; a text is taken as the intent."""
    text = intent if isinstance(intent, str) else alignment.told_in(_rows_of(intent))
    return alignment.is_about(_move(current_action), text)


def is_progressing_toward_goal(current_action: Action, summary: Told) -> bool:
    """Whether an action keeps to the constraints and the decisions."""
    return alignment.progresses(_move(current_action), alignment.ground_in(_rows_of(summary)))


def is_asking_clarification_immediately(current_action: Action, summary: Told) -> bool:
    """Whether the first thing done after a summary is to ask for what it tells."""
    return alignment.asks_at_once(_move(current_action), alignment.ground_in(_rows_of(summary)))


def is_declaring_complete_without_deliverable(current_action: Action, summary: Told) -> bool:
    """Whether the work is called done although there is nothing to show for it."""
    ground = alignment.ground_in(_rows_of(summary))
    return alignment.ends_empty_handed(_move(current_action), ground)


def any_drift_indicators(checks: Mapping[str, bool] | Checks) -> bool:
    """Whether one of the four checks tells of drift."""
    return alignment.any_sign(cast(Mapping[str, bool], checks))


def drift_warning(session: Session, current_action: Action) -> str:
    """The warning in the protocol's form; empty when there is nothing to warn of."""
    found = session.drift(current_action)
    if not found.signals:
        return ""
    return render_warning(found.signals, session.intent(), _move(current_action).text)


def _move(action: Action) -> Move:
    if isinstance(action, str):
        return Move(action)
    session = Session("seeds", MemoryStore())
    session.append({"role": "assistant", **action})
    return move_of(item.body for item in session.ledger.window().items)


def _rows_of(summary: Told) -> Summary:
    match summary:
        case Summary():
            return summary
        case Account():
            return summary.rows
        case Session():
            scene = read_scene([Item(entry) for entry in summary.ledger.path()])
            return account(Span(scene, scene, scene))
        case _:
            return _read(cast(Mapping[str, Json], summary))


def _read(told: Mapping[str, Json]) -> Summary:
    """The rows of a summary that is told as the protocol's object."""
    intent, progress = as_object(told.get("intent")), as_object(told.get("progress"))
    files = (as_object(one) for one in as_list(told.get("artifacts")))
    decisions = (as_object(one) for one in as_list(told.get("decisions")))
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
        files=tuple(File(as_text(one.get("path")), "modified") for one in files),
        decisions=tuple(
            Decision(as_text(one.get("decision")), "", as_text(one.get("rationale")))
            for one in decisions
        ),
        progress=Progress(
            as_text(progress.get("phase")),
            tuple(_texts(progress.get("completed"))),
            tuple(_texts(progress.get("remaining"))),
            as_text(progress.get("tests")),
        ),
    )


def _texts(value: Json) -> list[str]:
    return [as_text(one) for one in as_list(value)]
