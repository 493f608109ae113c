"""Read and rewrite files of the project that users and other tools edit too.

Files outside of the project are never opened, even through links. A rewrite is atomic; if somebody
saved the file in the meantime, it is read again and the change is repeated.
"""

import fcntl
import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager

from holdfast.errors import NotWritten, Unreadable
from holdfast.project.folders import open_folder, replace_file
from holdfast.project.regular_files import read_regular

MAX_FILE_BYTES = 16 * 1024 * 1024
"""Largest file that is read."""
MAX_TRIES = 8
FOLDER_MODE = 0o755


def resolve(root: str, path: str) -> str:
    """Return the path below the root that a path points to, with links followed.

    Raises:
        Unreadable: it leads out of the project.
    """
    top = os.path.realpath(root)
    try:
        target = os.path.realpath(os.path.join(top, path))
    except (OSError, ValueError):
        raise Unreadable(path, "it is no path") from None
    if os.path.isabs(path) or not target.startswith(f"{top}{os.sep}"):
        raise Unreadable(path, "it leads out of the project")
    return os.path.relpath(target, top)


def exists(root: str, path: str) -> bool:
    """Whether the path exists in the project, even as a broken link."""
    return os.path.lexists(os.path.join(root, path))


def file_names(root: str, path: str) -> list[str]:
    """Return the names of the files in a folder; none if it is not a folder.

    Raises:
        Unreadable: it leads out of the project.
    """
    try:
        with os.scandir(os.path.join(root, resolve(root, path))) as entries:
            return sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))
    except OSError:
        return []


def read_file(root: str, path: str) -> bytes | None:
    """Return the bytes of a file of the project; None if it does not exist.

    Raises:
        Unreadable: it leads out of the project, is not a file, or is too large.
    """
    *folders, name = resolve(root, path).split(os.sep)
    if not exists(root, path):
        return None
    try:
        with open_folder(root, folders) as folder:
            return _read_at(folder, name, path)
    except OSError as error:
        raise Unreadable(path, (error.strerror or str(error)).lower()) from None


def rewrite_file(root: str, path: str, change: Callable[[bytes], bytes]) -> bool:
    """Change a file of the project, or create it; return whether its content changed.

    Raises:
        Unreadable: it leads out of the project, is not a file, or is too large.
        NotWritten: it could not be written, or others saved it during each attempt.
    """
    *folders, name = resolve(root, path).split(os.sep)
    try:
        with open_folder(root, folders, mode=FOLDER_MODE) as folder, _folder_lock(folder):
            for _ in range(MAX_TRIES):
                old = _read_at(folder, name, path)
                new = change(old or b"")
                if new == old:
                    return False
                if _replace_file(folder, name, new, old, path):
                    return True
    except OSError as error:
        raise NotWritten(path, (error.strerror or str(error)).lower()) from None
    raise NotWritten(path, "someone else keeps writing it")


def append_lines(root: str, path: str, lines: bytes) -> None:
    """Append lines to a file of the project in one write.

    Raises:
        Unreadable: it leads out of the project.
        NotWritten: it could not be written.
    """
    *folders, name = resolve(root, path).split(os.sep)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        with open_folder(root, folders, mode=FOLDER_MODE) as folder:
            descriptor = os.open(name, flags, 0o600, dir_fd=folder)
            with os.fdopen(descriptor, "ab", buffering=0) as file:
                file.write(lines)
                os.fsync(descriptor)
    except OSError as error:
        raise NotWritten(path, (error.strerror or str(error)).lower()) from None


@contextmanager
def _folder_lock(folder: int) -> Generator[None]:
    """Lock a folder against other Holdfast processes; no lock file is needed."""
    fcntl.flock(folder, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(folder, fcntl.LOCK_UN)


def _read_at(folder: int, name: str, path: str) -> bytes | None:
    try:
        return read_regular(name, MAX_FILE_BYTES, links=False, folder=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(path, (error.strerror or str(error)).lower()) from None


def _replace_file(folder: int, name: str, new: bytes, old: bytes | None, path: str) -> bool:
    """Replace a file unless somebody changed it in the meantime; return whether it was replaced."""
    mode = 0o644
    if old is not None:
        mode = stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    return replace_file(folder, name, new, mode, lambda: _read_at(folder, name, path) == old)
