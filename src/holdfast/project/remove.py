"""Find and remove the readable copies of a session."""

import os
from collections.abc import Iterable
from errno import ELOOP
from pathlib import Path

from holdfast.core.ledger.entry import (
    Checkpointed,
    Compressed,
    Entry,
    EntryId,
    PacketReported,
    PacketSent,
)
from holdfast.core.ledger.notes import Original, TaskNamed, notes_in
from holdfast.core.plan.policy import LAYOUTS
from holdfast.errors import NotWritten
from holdfast.project.folders import open_folder
from holdfast.project.layout import (
    archive_path,
    copy_folders,
    is_checkpoint,
    is_copy_of,
    pages_name,
    summary_path,
)
from holdfast.project.regular_files import open_regular
from holdfast.text.patterns import Pattern

HEADING_BYTES = 1_000
"""Bytes at the start of a checkpoint that contain the id of its session."""
# Matches `.bash-1f3a9c2b.md.0a1b2c3d`; not `.gitignore`.
_DRAFT_NAME = Pattern(r"\.([^/]{1,250})\.[0-9a-f]{8}")
"""The name of a copy while it is written; group 1 is its final name."""


def copy_paths(entries: Iterable[Entry], hidden: set[EntryId] | None = None) -> list[str]:
    """Return the paths of copies that entries name: of the `hidden` entries, or of all."""
    listed = list(entries)
    bodies = [entry.body for entry in listed]
    steps = (step for body in bodies if isinstance(body, Compressed) for step in body.steps)
    files = {s.file for s in steps if hidden is None or hidden.intersection(s.hides)}
    if hidden is None:
        files |= {body.file for body in bodies if isinstance(body, PacketReported)}
    # A checkpoint describes everything before it, so it counts for any hidden entry.
    files |= {body.file for body in bodies if isinstance(body, Checkpointed | PacketSent)}
    if hidden is None:
        files |= {note.file or "" for _, note in notes_in(listed, Original)}
    return sorted(file for file in files if file)


def page_paths(session: str, entries: Iterable[Entry]) -> list[str]:
    """Return all paths where the conversation and summaries of a session may have been written."""
    listed = list(entries)
    tasks = {note.name for _, note in notes_in(listed, TaskNamed)}
    own = {session, *(pages_name(session, entry.lane) for entry in listed)}
    archives = {archive_path(name, layout) for name in own for layout in LAYOUTS}
    # If the session has a task, its summary is named after the task.
    names = {*own, *filter(None, tasks)}
    return sorted(archives | {summary_path(name, layout) for name in names for layout in LAYOUTS})


def find_strays(
    root: str, session: str, entries: Iterable[Entry], named: Iterable[str]
) -> list[str]:
    """Find copies and drafts of copies on disk that no entry names.

    A copy is written before the entry that names it. It is left over if that entry was refused, and
    a draft is left over if the process ended while it wrote.
    """
    if not root:
        return []
    referenced = set(named)
    ids = {entry.id[:8]: entry.at for entry in entries}
    folders = {*copy_folders(), *(path.rpartition("/")[0] for path in referenced)}
    strays: list[str] = []
    for folder in sorted(folders):
        for name in _names_in(root, folder):
            path, draft = f"{folder}/{name}", _DRAFT_NAME.fullmatch(name)
            final = f"{folder}/{draft[1]}" if draft else path
            ours = final in referenced or is_copy_of(final, session, ids)
            if ours and path not in referenced and _is_about(root, path, session):
                strays.append(path)
    return strays


def _is_about(root: str, path: str, session: str) -> bool:
    """Whether a checkpoint names the session; a file of the user may have the same name.

    Paths that are not checkpoints are always accepted.
    """
    if not is_checkpoint(path):
        return True
    try:
        with open_regular(Path(root, path), links=False) as file:
            heading = file.read(HEADING_BYTES).decode("utf-8", "replace")
    except OSError:
        return False
    return not heading or f"\n**Session ID:** {' '.join(session.split())}\n" in heading


def _names_in(root: str, path: str) -> list[str]:
    """Return the names in a folder; none if it does not exist or its path has a link.

    Raises:
        NotWritten: it exists but may not be read, so its files cannot be removed.
    """
    try:
        with open_folder(root, path.split("/")) as folder:
            return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        if error.errno == ELOOP:
            return []
        raise NotWritten(path, (error.strerror or str(error)).lower()) from None


def copy_exists(root: str, path: str) -> bool:
    """Whether a copy exists and is a file, not a link."""
    full = os.path.join(root, path)
    return os.path.isfile(full) and not os.path.islink(full)


def remove_copy(root: str, path: str) -> bool:
    """Remove a copy without following links; return whether there was one.

    Raises:
        NotWritten: the path leads out of the project, or the copy could not be removed.
    """
    *folders, name = path.split("/")
    if any(part in ("", ".", "..") for part in (*folders, name)):
        raise NotWritten(path, "it leads out of the project")
    try:
        with open_folder(root, folders) as folder:
            os.unlink(name, dir_fd=folder)
            os.fsync(folder)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise NotWritten(path, (error.strerror or str(error)).lower()) from None
    return True
