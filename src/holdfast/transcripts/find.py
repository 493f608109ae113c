"""Finding session files: below a folder, and where agents keep theirs."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from holdfast.errors import Unreadable
from holdfast.project.regular_files import open_regular, read_regular
from holdfast.text.jsontext import NotJson, as_object, as_text, parse
from holdfast.transcripts import opencode_db
from holdfast.transcripts.open import reason_of

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
    changed: float = 0.0
    """When it was written to, where that was looked up."""

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
    if path.name == opencode_db.NAME and path.is_file():
        return _in_database(path)
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
    """The sessions that agents keep in the user's home, the oldest first."""
    keepers = (_claude_code, _codex, _gemini, _opencode)
    found = [item for keeper in keepers for item in keeper(environment)]
    return sorted(found, key=lambda item: (item.changed, item.path))


def _claude_code(environment: Mapping[str, str]) -> Iterator[Found]:
    home = environment.get("CLAUDE_CONFIG_DIR")
    projects = (Path(home) if home else Path.home() / ".claude") / "projects"
    for file in filter(Path.is_file, sorted(projects.glob("*/**/*.jsonl"))):
        folder = file.relative_to(projects).parts[0]
        yield _found(file, folder, encoded=True)


def _codex(environment: Mapping[str, str]) -> Iterator[Found]:
    home = environment.get("CODEX_HOME")
    sessions = (Path(home) if home else Path.home() / ".codex") / "sessions"
    for file in filter(Path.is_file, sorted(sessions.glob("**/rollout-*.jsonl"))):
        yield _found(file, _made_in(file))


def _gemini(environment: Mapping[str, str]) -> Iterator[Found]:
    home = environment.get("GEMINI_CLI_HOME")
    projects = (Path(home) if home else Path.home()) / ".gemini" / "tmp"
    for file in filter(Path.is_file, sorted(projects.glob("*/chats/**/*.json*"))):
        if _holds_words(file):
            yield _found(file, _rooted(projects / file.relative_to(projects).parts[0]))


def _opencode(environment: Mapping[str, str]) -> Iterator[Found]:
    base = environment.get("XDG_DATA_HOME", "")
    data = Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "share"
    database = data / "opencode" / opencode_db.NAME
    if database.is_file():
        yield from _in_database(database)


def _in_database(database: Path) -> list[Found]:
    kept = opencode_db.sessions_in(database)
    return [Found(one.path, folder=one.folder, changed=one.changed) for one in kept]


def _found(file: Path, folder: str, *, encoded: bool = False) -> Found:
    told = file.stat()
    return Found(file, told.st_size, folder, encoded=encoded, changed=told.st_mtime)


def _rooted(kept: Path) -> str:
    """The folder that Gemini CLI says a folder of its own is about."""
    try:
        return read_regular(kept / ".project_root", HEAD, links=True).decode().strip()
    except (OSError, ValueError):
        return ""


def _holds_words(file: Path) -> bool:
    """Whether anybody spoke in a chat: going on in an old one leaves an empty one behind."""
    try:
        with open_regular(file, links=True) as stream:
            return b'"gemini"' in stream.read(HEAD) or file.stat().st_size > HEAD
    except OSError:
        return False


def _made_in(file: Path) -> str:
    try:
        with open_regular(file, links=True) as stream:
            first = stream.readline(HEAD)
        value, _ = parse(first)
    except (OSError, NotJson):
        return ""
    return as_text(as_object(as_object(value).get("payload")).get("cwd"))
