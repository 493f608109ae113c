"""Taking readable copies away again, with what they quoted."""

import os
from collections.abc import Iterable

from holdfast.core.ledger.entry import Checkpointed, Compressed, Entry, EntryId, Handed, Noted
from holdfast.core.plan.profiles import LAYOUTS
from holdfast.errors import NotWritten
from holdfast.files.layout import archive_of, pages_name, summary_of

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def copies_of(entries: Iterable[Entry], hidden: set[EntryId] | None = None) -> list[str]:
    """The copies that compressions wrote: of the entries named, or of all."""
    bodies = [entry.body for entry in entries]
    steps = (step for body in bodies if isinstance(body, Compressed) for step in body.steps)
    files = {s.file for s in steps if hidden is None or hidden.intersection(s.hides)}
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
        folder = os.open(os.path.realpath(root), os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in folders:
                deeper = os.open(part, FOLDER, dir_fd=folder)
                os.close(folder)
                folder = deeper
            os.unlink(name, dir_fd=folder)
            os.fsync(folder)
        finally:
            os.close(folder)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise NotWritten(path, (error.strerror or str(error)).lower()) from None
    return True
