"""Apply an installation plan to settings files, and undo it.

Every file is written atomically, after a backup. A record lists the written files. Uninstalling
restores the original bytes of a file that was not edited since; from an edited file it removes only
our own parts.
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
from holdfast.surfaces.install.plan import (
    PROJECT,
    AgentInstaller,
    DoctorCheck,
    FileEdit,
    InstallPlan,
    InstallTarget,
)

FILE_MODE, FOLDER_MODE = 0o644, 0o755
PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE = 0o600, 0o700
MAX_FILE_BYTES = 16 * 1024 * 1024
"""Largest settings file that is read."""
GITIGNORE = ".gitignore"
"""Written into the project's `.holdfast` folder, so that git ignores the folder."""


class WrittenFile(Struct, frozen=True, omit_defaults=True):
    """A file that an installation wrote, and the backup of its old content."""

    path: str
    digest: str
    """SHA-256 of the content that was written."""
    backup: str = ""
    """Name of the file with the old content; empty if there was no such file."""
    ours: bool = False


class InstallRecord(Struct, frozen=True, omit_defaults=True):
    """All that one installation wrote. It is stored as JSON and read to undo the installation."""

    agent: str
    files: tuple[WrittenFile, ...] = ()
    folders: tuple[str, ...] = ()
    """Folders that it created, the outermost first."""


class FileChange(Struct, frozen=True):
    """A change that was made to a file."""

    path: str
    act: str
    """`made`, `changed`, `restored`, `removed`, `cleaned`, or `left` as it is."""
    about: str = ""


def pending_edits(plan: InstallPlan) -> list[FileEdit]:
    """Return the edits that would change a file."""
    return [edit for edit in plan.edits if content_of(edit.path) != edit.content]


def check_installed(plan: InstallPlan, target: InstallTarget) -> DoctorCheck:
    """Check whether every file has the content that an installation writes."""
    waiting = pending_edits(plan)
    scope = "" if target.scope == PROJECT else f" --{target.scope}"
    if not waiting:
        return DoctorCheck("settings", True, str(plan.edits[-1].path))
    problem = f"{waiting[0].path} is not as it should be: holdfast install {plan.agent}{scope}"
    return DoctorCheck("settings", False, problem)


def read_record(target: InstallTarget, agent: str) -> InstallRecord | None:
    """Read the record of an installation; None if there is none.

    Raises:
        Unreadable: the record is damaged.
    """
    raw = content_of(_record_path(target, agent))
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw, type=InstallRecord)
    except msgspec.DecodeError as error:
        raise Unreadable(str(_record_path(target, agent)), str(error)) from None


def apply_plan(
    plan: InstallPlan, target: InstallTarget, installer: AgentInstaller
) -> list[FileChange]:
    """Write the planned edits: all of them or none.

    Raises:
        NotWritten: a file could not be written; the files written before it are restored.
    """
    record = read_record(target, plan.agent) or InstallRecord(plan.agent)
    edits = pending_edits(plan)
    if not edits:
        return []
    before = {edit.path: content_of(edit.path) for edit in edits}
    for edit in edits:
        _refuse_read_only(edit.path)
    folders = [*record.folders, *_missing_folders(edits)]
    files = {file.path: file for file in record.files}
    for edit in edits:
        old = before[edit.path]
        files[str(edit.path)] = _record_edit(
            edit, old, files.get(str(edit.path)), target, installer
        )
    _save_record(
        target, InstallRecord(plan.agent, tuple(files.values()), tuple(dict.fromkeys(folders)))
    )
    try:
        for edit in edits:
            write_atomically(edit.path, edit.content, edit.mode)
    except NotWritten:
        _restore(before)
        _save_record(target, record)
        raise
    return [
        FileChange(str(e.path), "made" if before[e.path] is None else "changed", e.about)
        for e in edits
    ]


def _record_edit(
    edit: FileEdit,
    old: bytes | None,
    recorded: WrittenFile | None,
    target: InstallTarget,
    installer: AgentInstaller,
) -> WrittenFile:
    """Return the record of an edit, after a backup of the content before our first edit."""
    digest = _digest(edit.content)
    if recorded is not None and old is not None and _digest(old) == recorded.digest:
        return msgspec.structs.replace(recorded, digest=digest)
    if recorded is not None and old is not None and not edit.ours:
        # A user edited it since our last edit: the backup is their text without our parts.
        old = installer.without_our_parts(edit.path, old)
    backup = _backup(target, edit.path, old) if old is not None else ""
    return WrittenFile(str(edit.path), digest, backup, edit.ours)


def _backup(target: InstallTarget, path: Path, content: bytes) -> str:
    name = f"{path.name}.{_digest(content)[:12]}"
    _make_folder(target.record_folder, PRIVATE_FOLDER_MODE)
    write_atomically(target.record_folder / name, content, PRIVATE_FILE_MODE)
    return name


def undo_installation(
    target: InstallTarget, name: str, installer: AgentInstaller
) -> list[FileChange]:
    """Undo an installation: restore the old bytes, or remove our parts from an edited file.

    Raises:
        NotWritten: a file could not be written.
        Unreadable: an edited file cannot be parsed, so our parts cannot be found.
    """
    record = read_record(target, name)
    if record is None:
        return []
    for file in record.files:
        _refuse_read_only(Path(file.path))
    changes = [_undo_file(file, target, installer) for file in reversed(record.files)]
    for folder in reversed(record.folders):
        with suppress(OSError):  # it holds files that we did not write
            Path(folder).rmdir()
    for file in record.files:
        if file.backup:
            (target.record_folder / file.backup).unlink(missing_ok=True)
    _record_path(target, name).unlink(missing_ok=True)
    _remove_own_folder(target)
    return [change for change in changes if change.act]


def _remove_own_folder(target: InstallTarget) -> None:
    """Remove our own folder if nothing else is in it."""
    with suppress(OSError):
        target.record_folder.rmdir()
        if target.scope == PROJECT and [
            child.name for child in target.record_folder.parent.iterdir()
        ] == [GITIGNORE]:
            (target.record_folder.parent / GITIGNORE).unlink()
        target.record_folder.parent.rmdir()


def _undo_file(file: WrittenFile, target: InstallTarget, installer: AgentInstaller) -> FileChange:
    path = Path(file.path)
    current = content_of(path)
    if current is None:
        return FileChange(file.path, "")
    if _digest(current) == file.digest:
        if not file.backup:
            _remove(path)
            return FileChange(file.path, "removed")
        before = content_of(target.record_folder / file.backup)
        if before is None:
            raise NotWritten(file.path, "the backup of its old content is missing")
        write_atomically(path, before)
        return FileChange(file.path, "restored")
    if file.ours:
        return FileChange(file.path, "left", "it was changed after the installation")
    cleaned = installer.without_our_parts(path, current)
    if cleaned is None or (not file.backup and not cleaned.strip()):
        _remove(path)
        return FileChange(file.path, "removed")
    if cleaned == current:
        return FileChange(file.path, "")
    write_atomically(path, cleaned)
    return FileChange(file.path, "cleaned", "our parts are removed, the rest is unchanged")


def write_atomically(path: Path, content: bytes, mode: int = 0) -> None:
    """Write a file atomically. If the path is a symbolic link, write the file it points to.

    Raises:
        NotWritten: the file could not be written.
    """
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name}.{token_hex(4)}")
    try:
        _make_folder(target.parent, FOLDER_MODE)
        permissions = stat.S_IMODE(target.stat().st_mode) if target.exists() else mode or FILE_MODE
        descriptor = os.open(
            draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, permissions
        )
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, permissions)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise NotWritten(str(path), (error.strerror or str(error)).lower()) from None


def _restore(before: dict[Path, bytes | None]) -> None:
    for path, content in before.items():
        # A file that could not be written has its old content anyway.
        with suppress(NotWritten, OSError):
            if content is None:
                _remove(path)
            elif content_of(path) != content:
                write_atomically(path, content)


def _refuse_read_only(path: Path) -> None:
    if path.exists() and not path.stat().st_mode & 0o222:
        raise NotWritten(str(path), "it is read-only; make it writable first")


def _missing_folders(edits: list[FileEdit]) -> list[str]:
    missing: set[Path] = set()
    for edit in edits:
        missing |= {folder for folder in edit.path.parents if not folder.exists()}
    return [str(folder) for folder in sorted(missing)]


def _make_folder(folder: Path, mode: int) -> None:
    folder.mkdir(mode=mode, parents=True, exist_ok=True)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def content_of(path: Path) -> bytes | None:
    """Return the bytes of a file, following links; None if there is no such file.

    Raises:
        Unreadable: it is not a regular file, is too large, or may not be read.
    """
    try:
        return read_regular(path, MAX_FILE_BYTES, links=True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Unreadable(str(path), (error.strerror or str(error)).lower()) from None


def _record_path(target: InstallTarget, agent: str) -> Path:
    return target.record_folder / f"{agent}.json"


def _save_record(target: InstallTarget, record: InstallRecord) -> None:
    path = _record_path(target, record.agent)
    if not record.files:
        path.unlink(missing_ok=True)
        return
    _make_folder(target.record_folder, PRIVATE_FOLDER_MODE)
    ignored = target.record_folder.parent / GITIGNORE
    if target.scope == PROJECT and not ignored.exists():
        write_atomically(ignored, b"*\n", PRIVATE_FILE_MODE)
    write_atomically(
        path, msgspec.json.format(msgspec.json.encode(record), indent=2), PRIVATE_FILE_MODE
    )


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
