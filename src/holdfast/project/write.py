"""Readable copies of what left the window, for an agent's own read tool.

They are written from the ledger and are never the truth. Each appears whole or not at all, is
readable by nobody else, and is there before any window names it.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from secrets import token_hex

from holdfast.errors import NotWritten
from holdfast.project.regular_files import open_regular, read_regular

FOLDER_MODE, FILE_MODE = 0o700, 0o600
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def project(root: str, path: str, content: bytes) -> None:
    """Write a copy below the root, unless it is there as it should be.

    Raises:
        NotWritten: it could not be written, or something on the way leads out of the root.
    """
    names = path.split("/")
    if any(name in ("", ".", "..") for name in names):
        raise NotWritten(path, "it leads out of the project")
    try:
        folder = _folder(root, names[:-1])
        try:
            _place(folder, names[-1], content)
        finally:
            os.close(folder)
    except OSError as error:
        raise NotWritten(path, (error.strerror or str(error)).lower()) from None


def rewrite(root: str, path: str, change: Callable[[str], str]) -> None:
    """Change what a copy says, where there is one; one that is in the way stays as it is.

    Raises:
        NotWritten: it is there, has to change, and could not be written.
    """
    try:
        with open_regular(os.path.join(root, path), links=False) as file:
            was = file.read().decode("utf-8", "surrogatepass")
    except OSError:
        return
    now = change(was)
    if now != was:
        project(root, path, now.encode("utf-8", "surrogatepass"))


def _folder(root: str, names: list[str]) -> int:
    """A descriptor of the folder, made where it is not there; no link is followed on the way."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    found = os.open(os.path.realpath(root), os.O_RDONLY | os.O_DIRECTORY)
    for name in names:
        try:
            try:
                deeper = os.open(name, flags, dir_fd=found)
            except FileNotFoundError:
                with suppress(FileExistsError):  # another process came first
                    os.mkdir(name, FOLDER_MODE, dir_fd=found)
                deeper = os.open(name, flags, dir_fd=found)
        finally:
            os.close(found)
        found = deeper
    return found


def _place(folder: int, name: str, content: bytes) -> None:
    if _is_there(folder, name, content):
        return
    draft = f".{name}.{token_hex(4)}"
    made = os.open(draft, NEW, FILE_MODE, dir_fd=folder)
    try:
        with os.fdopen(made, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.unlink(draft, dir_fd=folder)
        raise
    os.fsync(folder)


def _is_there(folder: int, name: str, content: bytes) -> bool:
    try:
        return read_regular(name, len(content), links=False, folder=folder) == content
    except OSError:
        return False
