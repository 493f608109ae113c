"""Find the active tasks of the issue tracker Beads, in `.beads/`."""

from collections.abc import Iterator

from holdfast.core.plan.preserve import KEPT, REFUSED, UNUSED, PreservedState
from holdfast.errors import Unreadable
from holdfast.project.integrations.files import exists, read_file
from holdfast.text.clip import clip_foreign, join_few
from holdfast.text.jsontext import NotJson, as_object, as_text, parse

ITEM = "active_beads"
BEADS_PATHS = (".beads/issues.jsonl", ".beads/beads.jsonl")
ACTIVE_STATUSES = ("in_progress", "in-progress", "active", "hooked")


def find_beads(root: str) -> PreservedState:
    """Return the beads that are in progress."""
    path = next((path for path in BEADS_PATHS if exists(root, path)), "")
    if not path:
        return PreservedState(ITEM, UNUSED)
    try:
        beads = list(_active_beads(read_file(root, path) or b""))
    except Unreadable as error:
        return PreservedState(ITEM, REFUSED, path, error.reason)
    text = join_few(beads) if beads else "none in progress"
    return PreservedState(ITEM, KEPT, path, text, f"{text} ({path})", "active beads")


def _active_beads(content: bytes) -> Iterator[str]:
    """Yield the active beads. The last line of a bead counts; lines without JSON are skipped."""
    rows: dict[str, str] = {}
    for line in content.split(b"\n"):
        if not line.strip():
            continue
        try:
            bead = as_object(parse(line)[0])
        except NotJson:
            continue
        name = clip_foreign(as_text(bead.get("id")), 40)
        if name:
            active = as_text(bead.get("status")).lower() in ACTIVE_STATUSES
            rows[name] = clip_foreign(as_text(bead.get("title")), 60) if active else ""
            if not active:
                del rows[name]
    yield from (f"{name} {title}".strip() for name, title in rows.items())
