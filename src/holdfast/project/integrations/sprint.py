"""Find the current sprint in the plan `sprint.md`."""

from holdfast.core.plan.preserve import KEPT, REFUSED, UNUSED, PreservedState
from holdfast.errors import Unreadable
from holdfast.project.integrations.files import exists, read_file
from holdfast.project.integrations.notes import decode
from holdfast.project.integrations.run_state import read_state
from holdfast.text.clip import clip_foreign
from holdfast.text.jsontext import as_list, as_object, as_text
from holdfast.text.markdown import sections_of
from holdfast.text.patterns import Pattern

ITEM = "sprint_context"
SPRINT_PATHS = ("grimoires/loa/sprint.md", "loa-grimoire/sprint.md", "sprint.md")
# Matches `Sprint 3` and `sprint-12`; not `sprints` and not `sprint: next`.
SPRINT_NUMBER = Pattern(r"(?i)sprint[ \t-]{1,4}(\d{1,4})\b")
# Matches `- [x] done` and `* [ ] open`; not `[link](x)`.
CHECKBOX = Pattern(r"(?m)^[ \t]{0,12}[-*+] \[([ xX])\]")


def find_sprint(root: str) -> PreservedState:
    """Return the current sprint."""
    path = next((path for path in SPRINT_PATHS if exists(root, path)), "")
    if not path:
        return PreservedState(ITEM, UNUSED)
    try:
        text = decode(read_file(root, path))
    except Unreadable as error:
        return PreservedState(ITEM, REFUSED, path, error.reason)
    description = _describe_current(text, _current_sprint(root))
    return PreservedState(ITEM, KEPT, path, description, f"{description} ({path})", "sprint")


def _current_sprint(root: str) -> str:
    """Return the sprint that the state of a run names; empty if there is none."""
    try:
        sprints = as_object(read_state(root).get("sprints"))
    except Unreadable:
        return ""
    rows = [as_object(row) for row in as_list(sprints.get("list"))]
    working = (as_text(row.get("id")) for row in rows if row.get("status") == "in_progress")
    return as_text(sprints.get("current")) or next(working, "")


def _describe_current(text: str, current: str) -> str:
    """Return the heading of the current sprint, and how many of its boxes are ticked."""
    sprints = [section for section in sections_of(text) if SPRINT_NUMBER.search(section.title)]
    number = SPRINT_NUMBER.search(current)
    for section in sprints:
        body = text[section.body : section.end]
        boxes = CHECKBOX.findall(body)
        named = SPRINT_NUMBER.search(section.title)
        assert named is not None
        if number is not None and named[1] != number[1]:
            continue
        if number is None and boxes and " " not in boxes:
            continue  # all done: the next sprint is the current one
        ticked = sum(box != " " for box in boxes)
        done = f", {ticked} of {len(boxes)} boxes ticked" if boxes else ""
        return f"{clip_foreign(section.title, 100)}{done}"
    return clip_foreign(current, 60) or "a plan without an open sprint"
