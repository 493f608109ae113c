"""Edits carried out and taken back: a backup first, each file whole or not at all.

What was there before is kept beside a list of what was written. Taking out restores the very bytes
where nobody has edited a file since; where somebody has, only our own parts go.
"""

import os
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

import msgspec
from msgspec import Struct

from holdfast.errors import NotWritten, Unreadable
from holdfast.project.regular_files import read_regular
from holdfast.surfaces.install.plan import PROJECT, Agent, Check, Edit, Place, Plan

FILE_MODE, FOLDER_MODE = 0o644, 0o755
KEPT_MODE, KEPT_FOLDER_MODE = 0o600, 0o700
LARGEST = 16 * 1024 * 1024
"""Bytes of a file of settings that is read."""
IGNORED = ".gitignore"
"""In the project's own folder of ours: nothing in there belongs in a repository."""


class Written(Struct, frozen=True, omit_defaults=True):
    """A file that was written, and what it was before."""

    path: str
    digest: str
    """Of what was written."""
    backup: str = ""
    """The name of the file that holds what was there; empty when there was none."""
    ours: bool = False


class Record(Struct, frozen=True, omit_defaults=True):
    """What an installation did."""

    agent: str
    files: tuple[Written, ...] = ()
    folders: tuple[str, ...] = ()
    """Folders that were made for it, the outermost first."""


class Done(Struct, frozen=True):
    """What was done to a file."""

    path: str
    act: str
    """`made`, `changed`, `restored`, `removed`, `cleaned`, or `left` as it is."""
    about: str = ""


def pending(plan: Plan) -> list[Edit]:
    """The edits that would change something."""
    return [edit for edit in plan.edits if content_of(edit.path) != edit.content]


def installed(plan: Plan, place: Place) -> Check:
    """Whether all that an installation writes is there."""
    waiting = pending(plan)
    scope = "" if place.scope == PROJECT else f" --{place.scope}"
    if not waiting:
        return Check("settings", True, str(plan.edits[-1].path))
    wrong = f"{waiting[0].path} is not as it should be: holdfast install {plan.agent}{scope}"
    return Check("settings", False, wrong)


def record_of(place: Place, agent: str) -> Record | None:
    """What is known of an installation; nothing when there is none."""
    raw = content_of(_record_path(place, agent))
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw, type=Record)
    except msgspec.DecodeError as error:
        raise Unreadable(str(_record_path(place, agent)), str(error)) from None


def carry_out(plan: Plan, place: Place, agent: Agent) -> list[Done]:
    """Do what is planned, all or none.

    Raises:
        NotWritten: something could not be written; all is as it was.
    """
    known = record_of(place, plan.agent) or Record(plan.agent)
    edits = pending(plan)
    if not edits:
        return []
    before = {edit.path: content_of(edit.path) for edit in edits}
    for edit in edits:
        _refuse_read_only(edit.path)
    folders = [*known.folders, *_missing_folders(edits)]
    files = {one.path: one for one in known.files}
    for edit in edits:
        was = before[edit.path]
        files[str(edit.path)] = _recorded(edit, was, files.get(str(edit.path)), place, agent)
    _keep(place, Record(plan.agent, tuple(files.values()), tuple(dict.fromkeys(folders))))
    try:
        for edit in edits:
            write(edit.path, edit.content, edit.mode)
    except NotWritten:
        _put_back(before)
        _keep(place, known)
        raise
    return [
        Done(str(e.path), "made" if before[e.path] is None else "changed", e.about) for e in edits
    ]


def _recorded(
    edit: Edit, was: bytes | None, known: Written | None, place: Place, agent: Agent
) -> Written:
    """What is kept about an edit; what stood there before us stays what it was."""
    digest = _digest(edit.content)
    if known is not None and was is not None and _digest(was) == known.digest:
        return msgspec.structs.replace(known, digest=digest)
    if known is not None and was is not None and not edit.ours:
        # Somebody edited it since: what it would be without us.
        was = agent.taken_out(edit.path, was)
    backup = _backup(place, agent, edit.path, was) if was is not None else ""
    return Written(str(edit.path), digest, backup, edit.ours)


def _backup(place: Place, agent: Agent, path: Path, content: bytes) -> str:
    del agent
    name = f"{path.name}.{_digest(content)[:12]}"
    _make_folder(place.kept, KEPT_FOLDER_MODE)
    write(place.kept / name, content, KEPT_MODE)
    return name


def take_out(place: Place, name: str, agent: Agent) -> list[Done]:
    """Undo an installation: bytes restored, or only our parts removed.

    Raises:
        NotWritten: something could not be written.
        Unreadable: it cannot be told what in a file is ours.
    """
    known = record_of(place, name)
    if known is None:
        return []
    for one in known.files:
        _refuse_read_only(Path(one.path))
    done = [_taken_out(one, place, agent) for one in reversed(known.files)]
    for folder in reversed(known.folders):
        with suppress(OSError):  # somebody else has something in there
            Path(folder).rmdir()
    for one in known.files:
        if one.backup:
            (place.kept / one.backup).unlink(missing_ok=True)
    _record_path(place, name).unlink(missing_ok=True)
    _leave(place)
    return [one for one in done if one.act]


def _leave(place: Place) -> None:
    """Take our own folder away where nothing else is in it."""
    with suppress(OSError):
        place.kept.rmdir()
        if place.scope == PROJECT and [one.name for one in place.kept.parent.iterdir()] == [
            IGNORED
        ]:
            (place.kept.parent / IGNORED).unlink()
        place.kept.parent.rmdir()


def _taken_out(one: Written, place: Place, agent: Agent) -> Done:
    path = Path(one.path)
    now = content_of(path)
    if now is None:
        return Done(one.path, "")
    if _digest(now) == one.digest:
        if not one.backup:
            _remove(path)
            return Done(one.path, "removed")
        before = content_of(place.kept / one.backup)
        if before is None:
            raise NotWritten(one.path, "the copy of what it was is gone")
        write(path, before)
        return Done(one.path, "restored")
    if one.ours:
        return Done(one.path, "left", "somebody else changed it")
    left = agent.taken_out(path, now)
    if left is None or (not one.backup and not left.strip()):
        _remove(path)
        return Done(one.path, "removed")
    if left == now:
        return Done(one.path, "")
    write(path, left)
    return Done(one.path, "cleaned", "our parts are out, what others wrote is as it was")


def write(path: Path, content: bytes, mode: int = 0) -> None:
    """Put a file in place, whole or not at all; a link stays one, and its target changes.

    Raises:
        NotWritten: it could not be written.
    """
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name}.{token_hex(4)}")
    try:
        _make_folder(target.parent, FOLDER_MODE)
        kept = stat.S_IMODE(target.stat().st_mode) if target.exists() else mode or FILE_MODE
        opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, kept)
        with os.fdopen(opened, "wb") as file:
            os.fchmod(opened, kept)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise NotWritten(str(path), (error.strerror or str(error)).lower()) from None


def _put_back(before: dict[Path, bytes | None]) -> None:
    for path, content in before.items():
        # What could not be written in the first place needs no putting back.
        with suppress(NotWritten, OSError):
            if content is None:
                _remove(path)
            elif content_of(path) != content:
                write(path, content)


def _refuse_read_only(path: Path) -> None:
    if path.exists() and not path.stat().st_mode & 0o222:
        raise NotWritten(str(path), "it is read-only, and that is somebody's wish")


def _missing_folders(edits: list[Edit]) -> list[str]:
    found: set[Path] = set()
    for edit in edits:
        found |= {folder for folder in edit.path.parents if not folder.exists()}
    return [str(folder) for folder in sorted(found)]


def _make_folder(folder: Path, mode: int) -> None:
    folder.mkdir(mode=mode, parents=True, exist_ok=True)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def content_of(path: Path) -> bytes | None:
    """What a file holds, wherever a link leads; None when there is none.

    Raises:
        Unreadable: it is no regular file, too large, or must not be read.
    """
    try:
        return read_regular(path, LARGEST, links=True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Unreadable(str(path), (error.strerror or str(error)).lower()) from None


def _record_path(place: Place, agent: str) -> Path:
    return place.kept / f"{agent}.json"


def _keep(place: Place, record: Record) -> None:
    path = _record_path(place, record.agent)
    if not record.files:
        path.unlink(missing_ok=True)
        return
    _make_folder(place.kept, KEPT_FOLDER_MODE)
    ignored = place.kept.parent / IGNORED
    if place.scope == PROJECT and not ignored.exists():
        write(ignored, b"*\n", KEPT_MODE)
    write(path, msgspec.json.format(msgspec.json.encode(record), indent=2), KEPT_MODE)


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
