"""Find the trajectory log and append to it: one JSON Lines file a day.

Thinking is logged there before it leaves the window.
"""

from collections.abc import Iterable, Mapping

from holdfast.core.plan.preserve import KEPT, UNUSED, PreservedState
from holdfast.project.integrations.files import append_lines, exists, file_names
from holdfast.text.jsontext import encode

ITEM = "trajectory_entries"
FOLDERS = ("grimoires/loa/a2a/trajectory", "loa-grimoire/a2a/trajectory", ".loa/trajectory")


def trajectory_folder(root: str, *, expected: bool = False) -> str:
    """Return the folder of the trajectory; empty if there is none and none is `expected`."""
    existing = next((path for path in FOLDERS if exists(root, path)), "")
    if existing or not expected:
        return existing
    return FOLDERS[0] if exists(root, "grimoires/loa") else FOLDERS[2]


def find_trajectory(root: str, *, expected: bool = False) -> PreservedState:
    """Return the state of the trajectory. Its files are complete copies, so they are only named."""
    folder = trajectory_folder(root, expected=expected)
    if not folder:
        return PreservedState(ITEM, UNUSED)
    files = [name for name in file_names(root, folder) if name.endswith((".jsonl", ".jsonl.gz"))]
    text = f"{len(files)} files" if len(files) != 1 else "1 file"
    return PreservedState(ITEM, KEPT, folder, text, f"{text} in {folder}/", "trajectory")


def append_rows(root: str, folder: str, day: str, rows: Iterable[Mapping[str, str]]) -> str:
    """Append rows to the file of a day; return its path.

    Raises:
        Unreadable: it leads out of the project.
        NotWritten: it could not be written.
    """
    path = f"{folder}/holdfast-{day}.jsonl"
    append_lines(root, path, b"".join(encode(row) + b"\n" for row in rows))
    return path
