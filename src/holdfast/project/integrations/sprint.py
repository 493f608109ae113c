"""Sprint context: the plan in `sprint.md`, and which sprint of it is being worked on."""

import re

from holdfast.core.plan.preserve import KEPT, REFUSED, UNUSED, Held
from holdfast.errors import Unreadable
from holdfast.project.integrations.files import is_there, read
from holdfast.project.integrations.notes import decoded
from holdfast.project.integrations.run_state import state_of
from holdfast.text.clip import in_a_line
from holdfast.text.jsontext import as_list, as_object, as_text
from holdfast.text.markdown import sections_of

ITEM = "sprint_context"
PLACES = ("grimoires/loa/sprint.md", "loa-grimoire/sprint.md", "sprint.md")
SPRINT = re.compile(r"(?i)sprint[ \t-]{1,4}(\d{1,4})\b")
BOX = re.compile(r"(?m)^[ \t]{0,12}[-*+] \[([ xX])\]")


def look(root: str) -> Held:
    """The sprint that is being worked on."""
    path = next((path for path in PLACES if is_there(root, path)), "")
    if not path:
        return Held(ITEM, UNUSED)
    try:
        text = decoded(read(root, path))
    except Unreadable as error:
        return Held(ITEM, REFUSED, path, error.reason)
    told = _told(text, _current(root))
    return Held(ITEM, KEPT, path, told, f"{told} ({path})", "sprint")


def _current(root: str) -> str:
    """The sprint that a run says it is in; empty when there is no such run."""
    try:
        sprints = as_object(state_of(root).get("sprints"))
    except Unreadable:
        return ""
    rows = [as_object(row) for row in as_list(sprints.get("list"))]
    working = (as_text(row.get("id")) for row in rows if row.get("status") == "in_progress")
    return as_text(sprints.get("current")) or next(working, "")


def _told(text: str, current: str) -> str:
    """The current sprint by its own heading, and how many of its boxes are ticked."""
    found = [one for one in sections_of(text) if SPRINT.search(one.title)]
    number = SPRINT.search(current)
    for section in found:
        own = text[section.body : section.end]
        boxes = BOX.findall(own)
        named = SPRINT.search(section.title)
        assert named is not None
        if number is not None and named[1] != number[1]:
            continue
        if number is None and boxes and " " not in boxes:
            continue  # all done: the next one is the current one
        ticked = sum(box != " " for box in boxes)
        done = f", {ticked} of {len(boxes)} boxes ticked" if boxes else ""
        return f"{in_a_line(section.title, 100)}{done}"
    return in_a_line(current, 60) or "a plan without an open sprint"
