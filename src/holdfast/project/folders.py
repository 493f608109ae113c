"""Open folders of the project without following links, and replace files in them atomically."""

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from secrets import token_hex

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


@contextmanager
def open_folder(root: str, names: Iterable[str], *, mode: int = 0) -> Generator[int]:
    """Open a folder below the root without following links; with `mode`, create missing ones."""
    folder = os.open(os.path.realpath(root), os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in names:
            if mode:
                with suppress(FileExistsError):
                    os.mkdir(name, mode, dir_fd=folder)
            deeper = os.open(name, FOLDER_FLAGS, dir_fd=folder)
            os.close(folder)
            folder = deeper
        yield folder
    finally:
        os.close(folder)


def replace_file(
    folder: int, name: str, content: bytes, mode: int, may_replace: Callable[[], bool] | None = None
) -> bool:
    """Write a file atomically; return False if `may_replace` says no when all is written."""
    draft = f".{name}.{token_hex(4)}"
    descriptor = os.open(draft, CREATE_FLAGS, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        if may_replace is not None and not may_replace():
            os.unlink(draft, dir_fd=folder)
            return False
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)
        raise
    os.fsync(folder)
    return True
