"""Find files, or sections of files, that the setting `preservation.always` names."""

from holdfast.core.plan.preserve import KEPT, MISSING, REFUSED, PreservedState
from holdfast.errors import Unreadable
from holdfast.project.integrations.files import read_file
from holdfast.project.integrations.notes import decode
from holdfast.text.clip import clip_foreign
from holdfast.text.markdown import sections_titled


def find_named_file(root: str, item: str) -> PreservedState:
    """Return the state of `PATH`, or of a section given as `PATH#TITLE`."""
    path, _, title = item.partition("#")
    try:
        content = read_file(root, path)
    except Unreadable as error:
        return PreservedState(item, REFUSED, path, error.reason)
    if content is None:
        return PreservedState(item, MISSING, path, "there is no such file")
    if title and not sections_titled(decode(content), title):
        return PreservedState(item, MISSING, path, f"it has no section {title!r}")
    text = f"{path}, section {title}" if title else path
    return PreservedState(
        item, KEPT, path, f"{len(content):,} bytes", clip_foreign(text), "preserved"
    )
