"""What is to change in somebody's settings, as values: printed, carried out, taken back."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from msgspec import Struct

from holdfast.errors import NotRecorded

PROJECT, USER = "project", "user"
SCOPES = (PROJECT, USER)

AGENTS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "opencode": "opencode",
    "gemini": "gemini",
}
"""The module of each program."""


class Place(Struct, frozen=True):
    """Where something is put: into one project, or for all that its user does."""

    root: Path
    """The project's folder."""
    scope: str = PROJECT
    home: Path = Path()
    environment: Mapping[str, str] = {}

    @property
    def kept(self) -> Path:
        """The folder for what we keep about an installation."""
        if self.scope == PROJECT:
            return self.root / ".holdfast" / "agents"
        base = Path(self.environment.get("XDG_DATA_HOME", ""))
        data = base if base.is_absolute() else self.home / ".local" / "share"
        return data / "holdfast" / "agents"


class Edit(Struct, frozen=True):
    """One file as it is to be."""

    path: Path
    content: bytes
    about: str
    """What is done to it, in a few words."""
    mode: int = 0
    """Permissions of a file that is made; 0 for what is usual."""
    ours: bool = False
    """Whether the whole file is ours, so that nobody else has a part in it."""


class Plan(Struct, frozen=True):
    """What an installation does."""

    agent: str
    edits: tuple[Edit, ...] = ()
    notes: tuple[str, ...] = ()
    """What the user should know or do besides."""


class Check(Struct, frozen=True):
    """Something that was looked at."""

    what: str
    holds: bool
    detail: str = ""
    """What is wrong and what helps, in one line; or how long it took."""


class Agent(Protocol):
    """What is known about putting Holdfast into one program."""

    def homes(self, place: Place) -> tuple[Path, ...]:
        """Folders and files that are there where the program was ever used: user's, project's."""
        ...

    def plan(self, place: Place) -> Plan:
        """What an installation changes.

        Raises:
            Unreadable: something there is not what it should be; nothing is changed.
        """
        ...

    def taken_out(self, path: Path, content: bytes) -> bytes | None:
        """A file that somebody edited since, less our own parts; None for no file at all.

        Raises:
            Unreadable: it cannot be told what is ours.
        """
        ...

    def checks(self, place: Place) -> Iterator[Check]:
        """What `doctor` looks at, one by one, by trying it."""
        ...


def agent_named(name: str) -> Agent:
    """What is known about a program.

    Raises:
        NotRecorded: nothing is.
    """
    if name not in AGENTS:
        raise NotRecorded("agent", name, where=f"{', '.join(AGENTS)}")
    return cast(Agent, import_module(f"holdfast.surfaces.install.{AGENTS[name]}"))
