"""The files of a repository that a packet may tell of: what git ignores is left out."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from holdfast.project.regular_files import read_regular

MOST_FILES = 2_000
LARGEST = 128 * 1024
"""Bytes of a file that is looked at."""
SECONDS = 10
SKIPPED = frozenset(
    {
        *(".git", ".holdfast", ".agentwire", ".hg", ".svn", "node_modules", "__pycache__", ".venv"),
        *("venv", "dist", "build", "target", ".tox", ".mypy_cache", ".pytest_cache", ".next"),
    }
)
"""Folders that are left out where there is no git to ask."""
LISTED = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")


def scan(root: Path, *, most: int = MOST_FILES) -> dict[str, str]:
    """By path below the root: the text of every file that is text, small and not ignored."""
    found: dict[str, str] = {}
    for path in _paths(root):
        if len(found) >= most:
            break
        text = _text(root, path)
        if text is not None:
            found[path] = text
    return found


def _paths(root: Path) -> list[str]:
    listed = _by_git(root)
    if listed is None:
        listed = list(_walked(root))
    return sorted(path for path in set(listed) if not SKIPPED.intersection(path.split("/")[:-1]))


def _by_git(root: Path) -> list[str] | None:
    """What git knows or would add; nothing where there is no repository."""
    try:
        done = subprocess.run(
            LISTED,
            cwd=root,
            capture_output=True,
            timeout=SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return [os.fsdecode(path) for path in done.stdout.split(b"\0") if path]


def _walked(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(files):
            yield Path(folder, name).relative_to(root).as_posix()


def _text(root: Path, path: str) -> str | None:
    """What a file says; nothing when it is a link, too large, or no text."""
    place = root / path
    with suppress(OSError, UnicodeDecodeError, ValueError):
        data = read_regular(place, LARGEST, links=False)
        return None if b"\0" in data[:4096] else data.decode()
    return None
