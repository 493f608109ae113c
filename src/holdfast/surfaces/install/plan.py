"""The types of an installation: its target, its planned file edits, and the installer of an agent.

A plan is a plain value, so that it can be printed (`--dry-run`), applied, and undone.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from msgspec import Struct

from holdfast.errors import NotRecorded, Unreadable

PROJECT, USER = "project", "user"
SCOPES = (PROJECT, USER)

AGENT_MODULES = {
    "claude-code": "claude_code",
    "codex": "codex",
    "opencode": "opencode",
    "gemini": "gemini",
}
"""For each agent program, the module of this package that installs into it."""


class InstallTarget(Struct, frozen=True):
    """Where Holdfast is installed: in one project, or for all projects of the user."""

    root: Path
    """The project's folder."""
    scope: str = PROJECT
    home: Path = Path()
    environment: Mapping[str, str] = {}

    @property
    def record_folder(self) -> Path:
        """The folder of our records and backups."""
        if self.scope == PROJECT:
            return self.root / ".holdfast" / "agents"
        base = Path(self.environment.get("XDG_DATA_HOME", ""))
        data = base if base.is_absolute() else self.home / ".local" / "share"
        return data / "holdfast" / "agents"


class FileEdit(Struct, frozen=True):
    """The new content of one file."""

    path: Path
    content: bytes
    about: str
    """What the edit does, in a few words."""
    mode: int = 0
    """Permissions of a new file; 0 for the default."""
    ours: bool = False
    """Whether we own the whole file, so that it can be removed as a whole."""


class InstallPlan(Struct, frozen=True):
    """The edits that install Holdfast into an agent program."""

    agent: str
    edits: tuple[FileEdit, ...] = ()
    notes: tuple[str, ...] = ()
    """What the user should also know or do."""


class DoctorCheck(Struct, frozen=True):
    """The result of one check of `holdfast doctor`."""

    what: str
    holds: bool
    detail: str = ""
    """What is wrong and how to repair it, in one line; or how long the check took."""


def edit_bytes(path: Path, content: bytes | None, change: Callable[[str], str]) -> bytes:
    """Apply a change to the text of a file's content; `None`, for no file, is an empty text.

    Raises:
        Unreadable: the content cannot be parsed, or changed safely; nothing is changed.
    """
    try:
        return change((content or b"").decode("utf-8")).encode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable(str(path), "it is not UTF-8; it is left as it is") from None
    except ValueError as error:  # NotJsonc or NotToml
        raise Unreadable(str(path), f"{error}; it is left as it is") from None


class AgentInstaller(Protocol):
    """Installs Holdfast into one agent program. Each module of `AGENT_MODULES` implements this."""

    def known_paths(self, target: InstallTarget) -> tuple[Path, ...]:
        """Return paths of the user and the project that exist if the program was ever used."""
        ...

    def plan(self, target: InstallTarget) -> InstallPlan:
        """Plan the edits of an installation.

        Raises:
            Unreadable: a settings file cannot be parsed; nothing is changed.
        """
        ...

    def without_our_parts(self, path: Path, content: bytes) -> bytes | None:
        """Return the content without our parts; None if nothing is left and the file can go.

        Raises:
            Unreadable: the file cannot be parsed, so our parts cannot be found.
        """
        ...

    def run_checks(self, target: InstallTarget) -> Iterator[DoctorCheck]:
        """Run the checks of `holdfast doctor`, one after the other."""
        ...


def installer_for(name: str) -> AgentInstaller:
    """Return the installer of an agent program.

    Raises:
        NotRecorded: there is no installer for that name.
    """
    if name not in AGENT_MODULES:
        raise NotRecorded("agent", name, where=f"{', '.join(AGENT_MODULES)}")
    return cast(AgentInstaller, import_module(f"holdfast.surfaces.install.{AGENT_MODULES[name]}"))
