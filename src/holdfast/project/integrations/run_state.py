"""Run mode: what `.run/sprint-plan-state.json` says of an unattended run. It is only ever read.

That a file of the work tree says `RUNNING` is told to the agent and never acted on here.
"""

from holdfast.core.plan.preserve import KEPT, REFUSED, UNUSED, Held
from holdfast.errors import Unreadable
from holdfast.project.integrations.files import is_there, read
from holdfast.text.clip import in_a_line
from holdfast.text.jsontext import Json, NotJson, as_object, as_text, parse

ITEM = "run_mode_state"
PATH = ".run/sprint-plan-state.json"


def state_of(root: str) -> dict[str, Json]:
    """What the file holds; nothing when it is not there.

    Raises:
        Unreadable: it is no JSON object, or leads out of the project.
    """
    content = read(root, PATH)
    if content is None:
        return {}
    try:
        value, _ = parse(content)
    except NotJson as error:
        raise Unreadable(PATH, f"it is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Unreadable(PATH, "it is no JSON object")
    return value


def look(root: str) -> Held:
    """Whether a run is under way, and where it stands."""
    if not is_there(root, PATH):
        return Held(ITEM, UNUSED)
    try:
        state = state_of(root)
    except Unreadable as error:
        return Held(ITEM, REFUSED, PATH, error.reason)
    sprints = as_object(state.get("sprints"))
    parts = (
        in_a_line(as_text(state.get("state")), 40) or "unknown",
        _labelled("current", sprints.get("current")),
        _labelled("plan", state.get("plan_id")),
        _labelled("last activity", as_object(state.get("timestamps")).get("last_activity")),
    )
    told = ", ".join(part for part in parts if part)
    return Held(ITEM, KEPT, PATH, told, f"{told} ({PATH})", "run mode")


def _labelled(label: str, value: Json) -> str:
    text = str(value) if isinstance(value, int) else as_text(value)
    return f"{label} {in_a_line(text, 60)}" if text else ""
