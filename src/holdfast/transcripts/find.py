"""Find session files: below a folder, and in the folders where agents store theirs."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from holdfast.errors import Unreadable
from holdfast.project.regular_files import open_regular, read_regular
from holdfast.text.jsontext import NotJson, as_object, as_text, parse
from holdfast.transcripts import opencode_db
from holdfast.transcripts.open import error_reason

SESSION_ENDINGS = (".jsonl", ".json", ".jsonl.gz", ".json.gz")
HEAD_BYTES = 64 * 1024
"""Bytes read from the start of a file, to find its folder or whether it has an answer."""


class SessionFile(Struct, frozen=True):
    """A session file."""

    path: Path
    size: int = 0
    folder: str = ""
    """The folder its agent worked in, if its path or its first line says so."""
    encoded: bool = False
    """Whether `folder` is encoded as Claude Code does it: every special character is a hyphen."""
    changed: float = 0.0
    """The time of its last change, if that was read."""

    def belongs_to(self, root: Path) -> bool:
        """Return whether the agent worked in the folder `root` or below it."""
        if self.encoded:
            # Matches "/", "." and " "; must not match letters and digits.
            encoded_root = re.sub(r"[^A-Za-z0-9]", "-", str(root))
            return self.folder == encoded_root or self.folder.startswith(encoded_root + "-")
        return self.folder == str(root) or self.folder.startswith(f"{root}{os.sep}")


def session_files(path: Path) -> list[SessionFile]:
    """Return the given file, or every session file below the given folder.

    Raises:
        Unreadable: the folder has no session files, or cannot be read.
    """
    if path.name == opencode_db.DATABASE_NAME and path.is_file():
        return _database_files(path)
    try:
        if not path.is_dir():
            return [SessionFile(path, path.stat().st_size if path.exists() else 0)]
        paths = sorted(Path(folder) / name for folder, _, names in os.walk(path) for name in names)
    except (OSError, ValueError) as error:
        raise Unreadable(str(path), error_reason(error)) from None
    # A pipe would block; a broken link is reported when it is read.
    candidates = (file for file in paths if file.name.endswith(SESSION_ENDINGS))
    files = [
        SessionFile(file, _size_of(file))
        for file in candidates
        if file.is_file() or not file.exists()
    ]
    if not files:
        raise Unreadable(str(path), "no session files below this folder")
    return files


def _size_of(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def agent_sessions(environment: Mapping[str, str]) -> list[SessionFile]:
    """Return the session files that agents store in the user's home, oldest first."""
    finders = (_claude_code_files, _codex_files, _gemini_files, _opencode_files)
    files = [item for find in finders for item in find(environment)]
    return sorted(files, key=lambda item: (item.changed, item.path))


def _claude_code_files(environment: Mapping[str, str]) -> Iterator[SessionFile]:
    home = environment.get("CLAUDE_CONFIG_DIR")
    projects = (Path(home) if home else Path.home() / ".claude") / "projects"
    for file in filter(Path.is_file, sorted(projects.glob("*/**/*.jsonl"))):
        folder = file.relative_to(projects).parts[0]
        yield _make_session_file(file, folder, encoded=True)


def _codex_files(environment: Mapping[str, str]) -> Iterator[SessionFile]:
    home = environment.get("CODEX_HOME")
    sessions = (Path(home) if home else Path.home() / ".codex") / "sessions"
    for file in filter(Path.is_file, sorted(sessions.glob("**/rollout-*.jsonl"))):
        yield _make_session_file(file, _codex_folder(file))


def _gemini_files(environment: Mapping[str, str]) -> Iterator[SessionFile]:
    home = environment.get("GEMINI_CLI_HOME")
    projects = (Path(home) if home else Path.home()) / ".gemini" / "tmp"
    for file in filter(Path.is_file, sorted(projects.glob("*/chats/**/*.json*"))):
        if _has_answer(file):
            yield _make_session_file(
                file, _gemini_folder(projects / file.relative_to(projects).parts[0])
            )


def _opencode_files(environment: Mapping[str, str]) -> Iterator[SessionFile]:
    base = environment.get("XDG_DATA_HOME", "")
    data = Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "share"
    database = data / "opencode" / opencode_db.DATABASE_NAME
    if database.is_file():
        yield from _database_files(database)


def _database_files(database: Path) -> list[SessionFile]:
    return [
        SessionFile(path, folder=folder, changed=changed)
        for path, folder, changed in opencode_db.sessions_in(database)
    ]


def _make_session_file(file: Path, folder: str, *, encoded: bool = False) -> SessionFile:
    info = file.stat()
    return SessionFile(file, info.st_size, folder, encoded=encoded, changed=info.st_mtime)


def _gemini_folder(chat_folder: Path) -> str:
    """Return the project folder that Gemini CLI recorded for one of its own folders."""
    try:
        return read_regular(chat_folder / ".project_root", HEAD_BYTES, links=True).decode().strip()
    except (OSError, ValueError):
        return ""


def _has_answer(file: Path) -> bool:
    """Return whether the model answered in a chat: resuming another chat leaves an empty one."""
    try:
        with open_regular(file, links=True) as stream:
            return b'"gemini"' in stream.read(HEAD_BYTES) or file.stat().st_size > HEAD_BYTES
    except OSError:
        return False


def _codex_folder(file: Path) -> str:
    try:
        with open_regular(file, links=True) as stream:
            first = stream.readline(HEAD_BYTES)
        value, _ = parse(first)
    except (OSError, NotJson):
        return ""
    return as_text(as_object(as_object(value).get("payload")).get("cwd"))
