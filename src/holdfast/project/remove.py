"""Taking readable copies away again, with what they quoted."""

import os
import re
from collections.abc import Iterable
from errno import ELOOP
from pathlib import Path

from holdfast.core.ledger.entry import (
    Checkpointed,
    Compressed,
    Entry,
    EntryId,
    Handed,
    Noted,
    PacketReported,
)
from holdfast.core.plan.policy import LAYOUTS
from holdfast.errors import NotWritten
from holdfast.project.layout import (
    archive_of,
    folders_of_copies,
    is_checkpoint,
    is_copy_of,
    pages_name,
    summary_of,
)
from holdfast.project.regular_files import open_regular

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
HEADING = 1_000
"""Bytes at the beginning of a checkpoint that say of which session it is."""
_DRAFT = re.compile(r"\.([^/]{1,250})\.[0-9a-f]{8}")
"""What a copy is called while it is written."""


def copies_of(entries: Iterable[Entry], hidden: set[EntryId] | None = None) -> list[str]:
    """The copies that compressions wrote: of the entries named, or of all."""
    bodies = [entry.body for entry in entries]
    steps = (step for body in bodies if isinstance(body, Compressed) for step in body.steps)
    files = {s.file for s in steps if hidden is None or hidden.intersection(s.hides)}
    if hidden is None:
        files |= {body.file for body in bodies if isinstance(body, PacketReported)}
    # The page of a checkpoint tells of everything before it, whatever that was.
    files |= {body.file for body in bodies if isinstance(body, Checkpointed | Handed)}
    if hidden is None:
        notes = (body for body in bodies if isinstance(body, Noted) and body.what == "original")
        files |= {note.facts.get("file", "") for note in notes}
    return sorted(file for file in files if file)


def pages_of(session: str, entries: Iterable[Entry]) -> list[str]:
    """Where the conversation and the summaries of a session may have been written."""
    known = list(entries)
    notes = (entry.body for entry in known if isinstance(entry.body, Noted))
    tasks = {note.facts.get("name", "") for note in notes if note.what == "task"}
    own = {session, *(pages_name(session, entry.lane) for entry in known)}
    archives = {archive_of(name, layout) for name in own for layout in LAYOUTS}
    # A summary is called after its task, where the session names one.
    names = {*own, *filter(None, tasks)}
    return sorted(archives | {summary_of(name, layout) for name in names for layout in LAYOUTS})


def strays_of(root: str, session: str, entries: Iterable[Entry], known: Iterable[str]) -> list[str]:
    """What tells of entries and is named by none of them.

    A copy is written before the compression that names it: it is still there when that was
    refused, and its draft when the process ended on the way.
    """
    if not root:
        return []
    named = set(known)
    ids = {entry.id[:8]: entry.at for entry in entries}
    folders = {*folders_of_copies(), *(path.rpartition("/")[0] for path in named)}
    found: list[str] = []
    for folder in sorted(folders):
        for name in _listed(root, folder):
            path, draft = f"{folder}/{name}", _DRAFT.fullmatch(name)
            meant = f"{folder}/{draft[1]}" if draft else path
            ours = meant in named or is_copy_of(meant, session, ids)
            if ours and path not in named and _tells_of(root, path, session):
                found.append(path)
    return found


def _tells_of(root: str, path: str, session: str) -> bool:
    """Whether a checkpoint says that it is of a session: a person may call a file alike."""
    if not is_checkpoint(path):
        return True
    try:
        with open_regular(Path(root, path), links=False) as file:
            told = file.read(HEADING).decode("utf-8", "replace")
    except OSError:
        return False
    return not told or f"\n**Session ID:** {' '.join(session.split())}\n" in told


def _listed(root: str, path: str) -> list[str]:
    """The names in a folder; none where it is not there or a link leads to it.

    Raises:
        NotWritten: it is there, and who may not look into it cannot take anything away.
    """
    try:
        folder = _opened(root, path.split("/"))
        try:
            return sorted(os.listdir(folder))
        finally:
            os.close(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        if error.errno == ELOOP:
            return []
        raise NotWritten(path, (error.strerror or str(error)).lower()) from None


def _opened(root: str, names: Iterable[str]) -> int:
    """A descriptor of a folder below the root; no link is followed on the way."""
    folder = os.open(os.path.realpath(root), os.O_RDONLY | os.O_DIRECTORY)
    for name in names:
        try:
            deeper = os.open(name, FOLDER, dir_fd=folder)
        finally:
            os.close(folder)
        folder = deeper
    return folder


def is_there(root: str, path: str) -> bool:
    """Whether a copy is there, and is a plain file."""
    found = os.path.join(root, path)
    return os.path.isfile(found) and not os.path.islink(found)


def remove(root: str, path: str) -> bool:
    """Take a copy away; whether there was one. No link is followed on the way.

    Raises:
        NotWritten: it is there and could not be taken away.
    """
    *folders, name = path.split("/")
    if any(part in ("", ".", "..") for part in (*folders, name)):
        raise NotWritten(path, "it leads out of the project")
    try:
        folder = _opened(root, folders)
        try:
            os.unlink(name, dir_fd=folder)
            os.fsync(folder)
        finally:
            os.close(folder)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise NotWritten(path, (error.strerror or str(error)).lower()) from None
    return True
