"""Finding session files: below a folder, and where Claude Code and Codex keep theirs."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from holdfast.core.ledger.jsontext import NotJson, as_object, as_text, parse
from holdfast.errors import Unreadable
from holdfast.files.reading import reason_of

ENDINGS = (".jsonl", ".json", ".jsonl.gz", ".json.gz")
HEAD = 64 * 1024
"""Bytes of a rollout in which its first line says where it was made."""


class Found(Struct, frozen=True):
    """A session file."""

    path: Path
    size: int = 0
    folder: str = ""
    """The folder its agent worked in, as far as its place or its first line tells."""
    encoded: bool = False
    """Whether that is Claude Code's spelling of it: every odd character a hyphen."""

    def belongs_to(self, root: Path) -> bool:
        """Whether the agent worked in a project or below it."""
        if self.encoded:
            mine = re.sub(r"[^A-Za-z0-9]", "-", str(root))
            return self.folder == mine or self.folder.startswith(mine + "-")
        return self.folder == str(root) or self.folder.startswith(f"{root}{os.sep}")


def session_files(path: Path) -> list[Found]:
    """The file named, or every session file below the folder named.

    Raises:
        Unreadable: it is a folder with no session files, or cannot be looked into.
    """
    try:
        if not path.is_dir():
            return [Found(path, path.stat().st_size if path.exists() else 0)]
        found = sorted(Path(folder) / name for folder, _, names in os.walk(path) for name in names)
    except (OSError, ValueError) as error:
        raise Unreadable(str(path), reason_of(error)) from None
    # A pipe would be waited for; a link that leads nowhere is told of when it is read.
    named = (file for file in found if file.name.endswith(ENDINGS))
    files = [Found(file, _size(file)) for file in named if file.is_file() or not file.exists()]
    if not files:
        raise Unreadable(str(path), "no session files below this folder")
    return files


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def agent_sessions(environment: Mapping[str, str]) -> list[Found]:
    """The sessions that Claude Code and Codex keep in the user's home, the oldest first."""
    found = [*_claude_code(environment), *_codex(environment)]
    return sorted(found, key=lambda item: (item.path.stat().st_mtime, item.path))


def _claude_code(environment: Mapping[str, str]) -> Iterator[Found]:
    home = environment.get("CLAUDE_CONFIG_DIR")
    projects = (Path(home) if home else Path.home() / ".claude") / "projects"
    for file in filter(Path.is_file, sorted(projects.glob("*/**/*.jsonl"))):
        folder = file.relative_to(projects).parts[0]
        yield Found(file, file.stat().st_size, folder, encoded=True)


def _codex(environment: Mapping[str, str]) -> Iterator[Found]:
    home = environment.get("CODEX_HOME")
    sessions = (Path(home) if home else Path.home() / ".codex") / "sessions"
    for file in filter(Path.is_file, sorted(sessions.glob("**/rollout-*.jsonl"))):
        yield Found(file, file.stat().st_size, _made_in(file))


def _made_in(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            first = stream.readline(HEAD)
        value, _ = parse(first)
    except (OSError, NotJson):
        return ""
    return as_text(as_object(as_object(value).get("payload")).get("cwd"))
