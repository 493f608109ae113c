"""Read the state of an unattended run from `.run/sprint-plan-state.json`.

The state is shown to the agent. Holdfast never acts on it, because any file of the work tree could
claim `RUNNING`.
"""

from holdfast.core.plan.preserve import KEPT, REFUSED, UNUSED, PreservedState
from holdfast.errors import Unreadable
from holdfast.project.integrations.files import exists, read_file
from holdfast.text.clip import clip_foreign
from holdfast.text.jsontext import Json, NotJson, as_object, as_text, parse

ITEM = "run_mode_state"
PATH = ".run/sprint-plan-state.json"


def read_state(root: str) -> dict[str, Json]:
    """Return the content of the file; empty if it does not exist.

    Raises:
        Unreadable: it is not a JSON object, or leads out of the project.
    """
    content = read_file(root, PATH)
    if content is None:
        return {}
    try:
        value, _ = parse(content)
    except NotJson as error:
        raise Unreadable(PATH, f"it is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Unreadable(PATH, "it is no JSON object")
    return value


def find_run_state(root: str) -> PreservedState:
    """Return the state of the run."""
    if not exists(root, PATH):
        return PreservedState(ITEM, UNUSED)
    try:
        state = read_state(root)
    except Unreadable as error:
        return PreservedState(ITEM, REFUSED, PATH, error.reason)
    sprints = as_object(state.get("sprints"))
    parts = (
        clip_foreign(as_text(state.get("state")), 40) or "unknown",
        _labelled("current", sprints.get("current")),
        _labelled("plan", state.get("plan_id")),
        _labelled("last activity", as_object(state.get("timestamps")).get("last_activity")),
    )
    text = ", ".join(part for part in parts if part)
    return PreservedState(ITEM, KEPT, PATH, text, f"{text} ({PATH})", "run mode")


def _labelled(label: str, value: Json) -> str:
    text = str(value) if isinstance(value, int) else as_text(value)
    return f"{label} {clip_foreign(text, 60)}" if text else ""
