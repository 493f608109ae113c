"""Files of the project that others write too: read, and rewritten without losing their words.

Nothing outside of the project is ever opened, whatever links lead there. A rewrite appears whole
or not at all; what someone else saved in the meantime is read again first.
"""

import fcntl
import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from secrets import token_hex

from holdfast.errors import NotWritten, Unreadable
from holdfast.project.regular_files import read_regular

LARGEST = 16 * 1024 * 1024
"""Bytes of a file that are read."""
TRIES = 8
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def resolved(root: str, path: str) -> str:
    """The path below the root that a path leads to, links followed.

    Raises:
        Unreadable: it leads out of the project.
    """
    top = os.path.realpath(root)
    try:
        place = os.path.realpath(os.path.join(top, path))
    except (OSError, ValueError):
        raise Unreadable(path, "it is no path") from None
    if os.path.isabs(path) or not place.startswith(f"{top}{os.sep}"):
        raise Unreadable(path, "it leads out of the project")
    return os.path.relpath(place, top)


def is_there(root: str, path: str) -> bool:
    """Whether something of that name is in the project, wherever it leads."""
    return os.path.lexists(os.path.join(root, path))


def names_in(root: str, path: str) -> list[str]:
    """The names in a folder of the project; none when it is no folder."""
    try:
        with os.scandir(os.path.join(root, resolved(root, path))) as found:
            return sorted(entry.name for entry in found if entry.is_file(follow_symlinks=False))
    except OSError:
        return []


def read(root: str, path: str) -> bytes | None:
    """What a file of the project holds; nothing when it is not there.

    Raises:
        Unreadable: it leads out of the project, is no file, or is too large.
    """
    *folders, name = resolved(root, path).split(os.sep)
    if not is_there(root, path):
        return None
    try:
        with _folder(root, folders) as folder:
            return _content(folder, name, path)
    except OSError as error:
        raise Unreadable(path, (error.strerror or str(error)).lower()) from None


def rewrite(root: str, path: str, change: Callable[[bytes], bytes]) -> bool:
    """Change a file of the project, or make it; whether anything was different.

    Raises:
        Unreadable: it leads out of the project, is no file, or is too large.
        NotWritten: it could not be written, or others kept writing it.
    """
    *folders, name = resolved(root, path).split(os.sep)
    try:
        with _folder(root, folders, make=True) as folder, _alone(folder):
            for _ in range(TRIES):
                known = _content(folder, name, path)
                made = change(known or b"")
                if made == known:
                    return False
                if _placed(folder, name, made, known, path):
                    return True
    except OSError as error:
        raise NotWritten(path, (error.strerror or str(error)).lower()) from None
    raise NotWritten(path, "someone else keeps writing it")


def append(root: str, path: str, lines: bytes) -> None:
    """Add lines to a file of the project, in one write at its end.

    Raises:
        Unreadable: it leads out of the project.
        NotWritten: it could not be written.
    """
    *folders, name = resolved(root, path).split(os.sep)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        with _folder(root, folders, make=True) as folder:
            made = os.open(name, flags, 0o600, dir_fd=folder)
            with os.fdopen(made, "ab", buffering=0) as file:
                file.write(lines)
                os.fsync(made)
    except OSError as error:
        raise NotWritten(path, (error.strerror or str(error)).lower()) from None


@contextmanager
def _folder(root: str, names: list[str], *, make: bool = False) -> Generator[int]:
    """A descriptor of a folder; no link is followed on the way, those were resolved before."""
    found = os.open(os.path.realpath(root), os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in names:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o755, dir_fd=found)
            deeper = os.open(name, FOLDER, dir_fd=found)
            os.close(found)
            found = deeper
        yield found
    finally:
        os.close(found)


@contextmanager
def _alone(folder: int) -> Generator[None]:
    """One of us at a time: the folder itself is what is locked, so that no file is left behind."""
    fcntl.flock(folder, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(folder, fcntl.LOCK_UN)


def _content(folder: int, name: str, path: str) -> bytes | None:
    try:
        return read_regular(name, LARGEST, links=False, folder=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(path, (error.strerror or str(error)).lower()) from None


def _placed(folder: int, name: str, made: bytes, known: bytes | None, path: str) -> bool:
    """Whether it stands there now; not when someone else wrote in the meantime."""
    draft = f".{name}.{token_hex(4)}"
    mode = 0o644
    if known is not None:
        mode = stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    opened = os.open(draft, NEW, 0o600, dir_fd=folder)
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(made)
            file.flush()
            os.fchmod(opened, mode)
            os.fsync(opened)
        same = _content(folder, name, path) == known
        if same:
            os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(draft, dir_fd=folder)
        raise
    if not same:
        os.unlink(draft, dir_fd=folder)
        return False
    os.fsync(folder)
    return True
