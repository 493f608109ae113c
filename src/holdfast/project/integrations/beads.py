"""Beads: the tasks that a project keeps in `.beads/`, of which the active ones are named."""

from collections.abc import Iterator

from holdfast.core.plan.preserve import KEPT, REFUSED, UNUSED, Held
from holdfast.errors import Unreadable
from holdfast.project.integrations.files import is_there, read
from holdfast.text.clip import in_a_line, joined
from holdfast.text.jsontext import NotJson, as_object, as_text, parse

ITEM = "active_beads"
PLACES = (".beads/issues.jsonl", ".beads/beads.jsonl")
ACTIVE = ("in_progress", "in-progress", "active", "hooked")


def look(root: str) -> Held:
    """The beads that are being worked on."""
    path = next((path for path in PLACES if is_there(root, path)), "")
    if not path:
        return Held(ITEM, UNUSED)
    try:
        beads = list(_active(read(root, path) or b""))
    except Unreadable as error:
        return Held(ITEM, REFUSED, path, error.reason)
    told = joined(beads) if beads else "none in progress"
    return Held(ITEM, KEPT, path, told, f"{told} ({path})", "active beads")


def _active(content: bytes) -> Iterator[str]:
    """The newest line of each bead counts; a line that is no JSON is none."""
    rows: dict[str, str] = {}
    for line in content.split(b"\n"):
        # Most lines are of beads that are closed: they need not be read.
        if not line.strip():
            continue
        try:
            bead = as_object(parse(line)[0])
        except NotJson:
            continue
        name = in_a_line(as_text(bead.get("id")), 40)
        if name:
            active = as_text(bead.get("status")).lower() in ACTIVE
            rows[name] = in_a_line(as_text(bead.get("title")), 60) if active else ""
            if not active:
                del rows[name]
    yield from (f"{name} {title}".strip() for name, title in rows.items())
