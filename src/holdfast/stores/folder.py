"""The private folder a store lives in: nobody else can read it or plant things in it.

Everything is done through a descriptor of the folder: a folder that is swapped for a link between
two steps is then never written through.
"""

import errno
import os
import stat

from holdfast.errors import HoldfastError, StoreFull, StoreRefused

FOLDER_MODE, FILE_MODE = 0o700, 0o600
NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
IGNORE = b"*\n"
OWN = ".holdfast"
"""The name of a folder that is ours whoever made it."""


def prepare(path: str) -> str:
    """Make the folder and the empty file of a store, or make sure that both are ours alone.

    Returns the path with no link in it.

    Raises:
        StoreRefused: something of it is a link, a pipe, somebody else's, or open to others.
    """
    above, name = os.path.split(os.path.dirname(path) or ".")
    try:
        above = os.path.realpath(above or ".")
        folder = os.path.join(above, name) if name != "." else above
        made = _make(above, folder)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (OSError, ValueError) as error:
        raise _refused(os.path.dirname(path) or ".", error) from None
    try:
        _check_folder(folder, os.fstat(descriptor))
        if made:
            _sync_entry(above)
        if made or name == OWN:
            _ignore(descriptor)
        _prepare_file(path, descriptor)
    except OSError as error:
        raise _refused(path, error) from None
    finally:
        os.close(descriptor)
    return os.path.join(folder, os.path.basename(path))


def _refused(path: str, error: Exception) -> HoldfastError:
    words = error.strerror if isinstance(error, OSError) else None
    reason = (words or str(error)).lower()
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return StoreFull(path, reason) if full else StoreRefused(path, reason)


def _sync_entry(folder: str) -> None:
    """Make sure that a new folder is still there after a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make(above: str, folder: str) -> bool:
    """Whether the folder had to be made."""
    os.makedirs(above, exist_ok=True)
    try:
        os.mkdir(folder, FOLDER_MODE)
    except FileExistsError:
        return False
    return True


def _check_folder(path: str, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise StoreRefused(path, "it belongs to another user")
    if found.st_mode & 0o022:
        raise StoreRefused(path, "others may write to it; `chmod go-w` it")


def _ignore(folder: int) -> None:
    """Keep the store out of the project's repository."""
    try:
        made = os.open(".gitignore", NEW, FILE_MODE, dir_fd=folder)
    except FileExistsError:
        return
    try:
        os.write(made, IGNORE)
    except OSError:
        os.unlink(".gitignore", dir_fd=folder)
        raise
    finally:
        os.close(made)


def _prepare_file(path: str, folder: int) -> None:
    name = os.path.basename(path)
    try:
        made = os.open(name, NEW, FILE_MODE, dir_fd=folder)
    except FileExistsError:
        _check_file(path, os.stat(name, dir_fd=folder, follow_symlinks=False))
        return
    # The umask can only take bits away; a file of ours has exactly these.
    os.fchmod(made, FILE_MODE)
    os.close(made)


def _check_file(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise StoreRefused(path, "it is not a plain file")
    if found.st_uid != os.geteuid():
        raise StoreRefused(path, "it belongs to another user")
    if found.st_nlink > 1:
        raise StoreRefused(path, "it has a second name elsewhere")


def close_to_others(path: str) -> None:
    """Take from others what an earlier copy or move may have given them."""
    try:
        if os.stat(path, follow_symlinks=False).st_mode & 0o077:
            os.chmod(path, FILE_MODE)
    except OSError as error:
        raise _refused(path, error) from None
