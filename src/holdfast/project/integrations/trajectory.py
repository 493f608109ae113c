"""The trajectory: lines of JSON, a file a day, to which thinking is logged before it leaves."""

from collections.abc import Iterable, Mapping

from holdfast.core.plan.preserve import KEPT, UNUSED, Held
from holdfast.project.integrations.files import append, is_there, names_in
from holdfast.text.jsontext import encode

ITEM = "trajectory_entries"
FOLDERS = ("grimoires/loa/a2a/trajectory", "loa-grimoire/a2a/trajectory", ".loa/trajectory")


def folder_of(root: str, *, expected: bool = False) -> str:
    """Where the project keeps its trajectory; empty when it keeps none and none is expected."""
    found = next((path for path in FOLDERS if is_there(root, path)), "")
    if found or not expected:
        return found
    return FOLDERS[0] if is_there(root, "grimoires/loa") else FOLDERS[2]


def look(root: str, *, expected: bool = False) -> Held:
    """The files that are there: they are lossless already, and are only named."""
    folder = folder_of(root, expected=expected)
    if not folder:
        return Held(ITEM, UNUSED)
    files = [name for name in names_in(root, folder) if name.endswith((".jsonl", ".jsonl.gz"))]
    told = f"{len(files)} files" if len(files) != 1 else "1 file"
    return Held(ITEM, KEPT, folder, told, f"{told} in {folder}/", "trajectory")


def log(root: str, folder: str, day: str, rows: Iterable[Mapping[str, str]]) -> str:
    """Add rows to the file of a day; the path that they are in.

    Raises:
        Unreadable: it leads out of the project.
        NotWritten: it could not be written.
    """
    path = f"{folder}/holdfast-{day}.jsonl"
    append(root, path, b"".join(encode(row) + b"\n" for row in rows))
    return path
