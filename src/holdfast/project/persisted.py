"""Check whether the text that a tool call wrote is on disk, by reading the file."""

import os
from hashlib import sha256

from holdfast.core.ledger.entry import ToolCalled
from holdfast.core.observe.files.touch import arguments_of, touch_of
from holdfast.project.regular_files import read_regular
from holdfast.text.jsontext import Json, as_list, as_object, as_text
from holdfast.text.utf8 import to_bytes

MAX_FILE_BYTES = 16 * 1024 * 1024
"""Largest file that is read for the comparison."""
ADDED_TEXT_KEYS = ("new_string", "new_str", "newString", "replace", "insert_text", "new_source")


def find_on_disk(call: ToolCalled, root: str) -> tuple[str, str] | None:
    """Return the file that contains the text a call wrote, and its hash; None if it does not."""
    touch = touch_of(call)
    if touch.verb not in ("write", "edit") or not touch.path:
        return None
    content = _read_file(os.path.join(root, touch.path))
    if content is None:
        return None
    texts = [touch.written_text] if touch.written_text else _added_texts(arguments_of(call))
    if not any(texts):
        return None
    if touch.verb == "write":
        present = content.strip() == to_bytes(texts[0]).strip()
    else:
        present = all(to_bytes(text) in content for text in texts)
    return (touch.path, sha256(content).hexdigest()) if present else None


def _added_texts(arguments: dict[str, Json]) -> list[str]:
    """Return the texts that an edit inserts."""
    edits = [arguments, *(as_object(edit) for edit in as_list(arguments.get("edits")))]
    texts = (as_text(edit.get(key)) for edit in edits for key in ADDED_TEXT_KEYS)
    return [text for text in texts if text]


def _read_file(path: str) -> bytes | None:
    try:
        # An agent may edit through a link; following it is safe, as the content is not shown.
        return read_regular(path, MAX_FILE_BYTES, links=True)
    except (OSError, ValueError):
        return None
