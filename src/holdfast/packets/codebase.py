"""Read the text files of a repository that a packet may describe, without those git ignores."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from holdfast.project.regular_files import read_regular

MAX_FILES = 2_000
MAX_FILE_BYTES = 128 * 1024
"""Maximum bytes of a file that is read."""
GIT_SECONDS = 10
SKIPPED_FOLDERS = frozenset(
    {
        *(".git", ".holdfast", ".agentwire", ".hg", ".svn", "node_modules", "__pycache__", ".venv"),
        *("venv", "dist", "build", "target", ".tox", ".mypy_cache", ".pytest_cache", ".next"),
    }
)
"""Folders that are skipped."""
GIT_LIST = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")


def read_text_files(root: Path, *, limit: int = MAX_FILES) -> dict[str, str]:
    """Return, by path below the root, the text of each file that is text, small and not ignored."""
    found: dict[str, str] = {}
    for path in _paths(root):
        if len(found) >= limit:
            break
        text = _read_text(root, path)
        if text is not None:
            found[path] = text
    return found


def _paths(root: Path) -> list[str]:
    listed = _paths_from_git(root)
    if listed is None:
        listed = list(_walk_paths(root))
    return sorted(
        path for path in set(listed) if not SKIPPED_FOLDERS.intersection(path.split("/")[:-1])
    )


def _paths_from_git(root: Path) -> list[str] | None:
    """Return the paths that git tracks or would add; None if there is no repository."""
    try:
        done = subprocess.run(
            GIT_LIST,
            cwd=root,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return [os.fsdecode(path) for path in done.stdout.split(b"\0") if path]


def _walk_paths(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
        for name in sorted(files):
            yield Path(folder, name).relative_to(root).as_posix()


def _read_text(root: Path, path: str) -> str | None:
    """Return a file's text; None if it is a link, too large, or no text."""
    place = root / path
    with suppress(OSError, UnicodeDecodeError, ValueError):
        data = read_regular(place, MAX_FILE_BYTES, links=False)
        return None if b"\0" in data[:4096] else data.decode()
    return None
