"""The private folder a store lives in: nobody else can read it or plant things in it."""

import os
import stat

from holdfast.errors import StoreRefused

FOLDER_MODE, FILE_MODE = 0o700, 0o600


def private_folder(path: str) -> None:
    """Make the folder, or make sure that the one there is ours alone.

    Raises:
        StoreRefused: it is a link, somebody else's, or open to others.
    """
    if not os.path.lexists(path):
        _make(path)
        return
    found = os.lstat(path)
    if stat.S_ISLNK(found.st_mode) or not stat.S_ISDIR(found.st_mode):
        raise StoreRefused(path, "it is not a folder of its own")
    if found.st_uid != os.geteuid():
        raise StoreRefused(path, "it belongs to another user")
    if found.st_mode & 0o022:
        raise StoreRefused(path, "others may write to it; `chmod go-w` it")


def _make(path: str) -> None:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    try:
        os.mkdir(path, FOLDER_MODE)
    except FileExistsError:
        return
    except OSError as error:
        raise StoreRefused(path, f"it cannot be made: {error.strerror}") from None
    # The umask can only take bits away; a folder of ours has exactly these.
    os.chmod(path, FOLDER_MODE)
    ignore = os.open(
        os.path.join(path, ".gitignore"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE
    )
    os.write(ignore, b"*\n")
    os.close(ignore)


def private_file(path: str) -> None:
    """Make an empty file that only we can read, or make sure that the one there is such a file.

    Raises:
        StoreRefused: it is a link, a pipe, a folder, or somebody else's.
    """
    try:
        made = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, FILE_MODE)
    except FileExistsError:
        _check_file(path)
        return
    except OSError as error:
        raise StoreRefused(path, f"it cannot be made: {error.strerror}") from None
    os.fchmod(made, FILE_MODE)
    os.close(made)


def _check_file(path: str) -> None:
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode):
        raise StoreRefused(path, "it is not a plain file")
    if found.st_uid != os.geteuid():
        raise StoreRefused(path, "it belongs to another user")
    if found.st_nlink > 1:
        raise StoreRefused(path, "it has a second name elsewhere")
    if found.st_mode & 0o077:
        os.chmod(path, FILE_MODE)
