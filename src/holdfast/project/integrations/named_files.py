"""What a project preserves besides the six: a file of its own, or a section in one."""

from holdfast.core.plan.preserve import KEPT, MISSING, REFUSED, Held
from holdfast.errors import Unreadable
from holdfast.project.integrations.files import read
from holdfast.project.integrations.notes import decoded
from holdfast.text.clip import in_a_line
from holdfast.text.markdown import titled


def look(root: str, item: str) -> Held:
    """How `PATH` or `PATH#TITLE` was found."""
    path, _, title = item.partition("#")
    try:
        content = read(root, path)
    except Unreadable as error:
        return Held(item, REFUSED, path, error.reason)
    if content is None:
        return Held(item, MISSING, path, "there is no such file")
    if title and not titled(decoded(content), title):
        return Held(item, MISSING, path, f"it has no section {title!r}")
    told = f"{path}, section {title}" if title else path
    return Held(item, KEPT, path, f"{len(content):,} bytes", in_a_line(told), "preserved")
