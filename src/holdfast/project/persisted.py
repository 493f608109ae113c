"""Whether what a call wrote is on disk: read back, never assumed."""

import os
from hashlib import sha256

from holdfast.core.ledger.entry import ToolCalled
from holdfast.core.observe.files.touch import arguments_of, touch_of
from holdfast.project.regular_files import read_regular
from holdfast.text.jsontext import Json, as_list, as_object, as_text

LARGEST = 16 * 1024 * 1024
"""Bytes of a file that are read to compare."""
ADDED = ("new_string", "new_str", "newString", "replace", "insert_text", "new_source")


def seen_on_disk(call: ToolCalled, root: str) -> tuple[str, str] | None:
    """The file that holds what a call wrote, and the hash of what it holds; None if it does not."""
    touch = touch_of(call)
    if touch.verb not in ("write", "edit") or not touch.path:
        return None
    content = _read(os.path.join(root, touch.path))
    if content is None:
        return None
    wanted = [touch.written] if touch.written else _added(arguments_of(call))
    if not any(wanted):
        return None
    if touch.verb == "write":
        whole = content.strip() == wanted[0].encode("utf-8", "surrogatepass").strip()
    else:
        whole = all(text.encode("utf-8", "surrogatepass") in content for text in wanted)
    return (touch.path, sha256(content).hexdigest()) if whole else None


def _added(arguments: dict[str, Json]) -> list[str]:
    """The texts that an edit puts in."""
    edits = [arguments, *(as_object(edit) for edit in as_list(arguments.get("edits")))]
    texts = (as_text(edit.get(key)) for edit in edits for key in ADDED)
    return [text for text in texts if text]


def _read(path: str) -> bytes | None:
    try:
        # An agent may edit through a link, and nothing of what is read here is shown.
        return read_regular(path, LARGEST, links=True)
    except (OSError, ValueError):
        return None
