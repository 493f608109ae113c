"""Write readable copies of offloaded content, for an agent's read tool.

The ledger is the source of truth, not the copies. Each is written atomically, with permissions
for the user only, and before any window names it.
"""

import os
from collections.abc import Callable
from stat import S_ISREG

from holdfast.errors import NotWritten
from holdfast.project.folders import open_folder, replace_file
from holdfast.project.regular_files import open_regular, read_regular
from holdfast.text.utf8 import from_bytes, to_bytes

FOLDER_MODE, FILE_MODE = 0o700, 0o600
APPEND_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK


def write_copy(root: str, path: str, content: bytes) -> None:
    """Write a copy below the root, unless the file already has that content.

    Raises:
        NotWritten: it could not be written, or a link on its path leads out of the root.
    """
    names = path.split("/")
    if any(name in ("", ".", "..") for name in names):
        raise NotWritten(path, "it leads out of the project")
    try:
        with open_folder(root, names[:-1], mode=FOLDER_MODE) as folder:
            if not _has_content(folder, names[-1], content):
                replace_file(folder, names[-1], content, FILE_MODE)
    except OSError as error:
        raise NotWritten(path, (error.strerror or str(error)).lower()) from None


def append_copy(root: str, path: str, content: bytes, *, after: int) -> bool:
    """Append to a copy that has `after` bytes; return False, and change nothing, if it has not.

    Raises:
        NotWritten: it could not be written.
    """
    folders, _, name = path.rpartition("/")
    try:
        with open_folder(root, folders.split("/"), mode=FOLDER_MODE) as folder:
            try:
                descriptor = os.open(name, APPEND_FLAGS, dir_fd=folder)
            except OSError:
                return False
        with os.fdopen(descriptor, "ab") as file:
            found = os.fstat(descriptor)
            if not S_ISREG(found.st_mode) or found.st_nlink > 1 or found.st_size != after:
                return False
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        return True
    except OSError as error:
        raise NotWritten(path, (error.strerror or str(error)).lower()) from None


def rewrite_copy(root: str, path: str, change: Callable[[str], str]) -> None:
    """Change the text of a copy, if it exists and can be read.

    Raises:
        NotWritten: the changed text could not be written.
    """
    try:
        with open_regular(os.path.join(root, path), links=False) as file:
            old = from_bytes(file.read())
    except OSError:
        return
    new = change(old)
    if new != old:
        write_copy(root, path, to_bytes(new))


def _has_content(folder: int, name: str, content: bytes) -> bool:
    try:
        return read_regular(name, len(content), links=False, folder=folder) == content
    except OSError:
        return False
