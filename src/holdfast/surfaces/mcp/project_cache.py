"""A project kept open between calls, so that a call costs what is new since the last one.

What is kept is only ever a copy of what the ledger says. It is let go of when the ledger is another
file, when something was erased (it must not be shown from memory), when a setting changed, after
anything went wrong, and after some minutes anyway.
"""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from holdfast.errors import (
    Conflict,
    HoldfastError,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreRefused,
)
from holdfast.project.paths import ledger_path
from holdfast.project.settings import load
from holdfast.session.session import Session
from holdfast.stores.store import Tombstone
from holdfast.surfaces.handoff import worker_of
from holdfast.surfaces.mcp.server import Place
from holdfast.surfaces.project import Project

if TYPE_CHECKING:
    from holdfast.packets.questions import Settled


LONGEST = 600.0
"""Seconds that a project is kept open."""
HARMED = (StoreRefused, StoreBusy, StoreFull, StoreDamaged, Conflict)
"""After these, nothing that was kept is trusted; other errors only say that something is not so."""
SESSIONS = 4
"""Sessions of it that are kept in memory."""


class Kept:
    """A project, and what was read of it."""

    def __init__(self, root: str | None) -> None:
        self.project = Project(root)
        self._settled: tuple[str, Settled] | None = None
        self._sessions: dict[tuple[str, str], Session] = {}
        self._born = monotonic()
        self._file, self._stones = self._found()

    def session(self, name: str | None, agent: str) -> Session:
        """A session, as `Project.session` finds it."""
        fresh = self.project.session(name, agent)
        known = self._sessions.pop((fresh.name, agent), fresh)
        while len(self._sessions) >= SESSIONS:
            self._sessions.pop(next(iter(self._sessions)))
        self._sessions[fresh.name, agent] = known
        return known

    def settled(self, session: Session) -> "Settled":
        """What the sessions of the project settled, as that session may see it."""
        from holdfast.packets.questions import (
            settled_for,  # late: few calls look through all sessions
        )

        if self._settled is None or self._settled[0] != session.name:
            self._settled = session.name, settled_for(session.ledger)
        return self._settled[1]

    def is_current(self) -> bool:
        """Whether all that is kept may still be shown."""
        if monotonic() - self._born > LONGEST or self._file is None:
            return False
        if self._found() != (self._file, self._stones):
            return False
        policy = load(self.project.root, os.environ).policy
        return policy == self.project.settings.policy

    def _found(self) -> tuple[tuple[int, int] | None, list[Tombstone]]:
        """Which file the ledger is, and what was erased from it."""
        try:
            found = ledger_path(self.project.root).stat()
        except OSError:
            return None, []
        return (found.st_dev, found.st_ino), self.project.store.tombstones()

    def close(self) -> None:
        """Let go of it."""
        if "store" in self.project.__dict__:
            self.project.store.close()


class Shelf:
    """Where projects are put between calls; each is used by one call at a time."""

    def __init__(self, root: str | None) -> None:
        self._root, self._free, self._lock = root, list[Kept](), Lock()

    @contextmanager
    def kept(self) -> Generator[Kept]:
        """A project that is as it should be; put back unless something goes wrong."""
        one, whole = self._taken(), False
        try:
            yield one
            whole = True
        except HoldfastError as error:
            whole = not isinstance(error, HARMED)
            raise
        finally:
            if whole:
                with self._lock:
                    self._free.append(one)
            else:
                one.close()

    def _taken(self) -> Kept:
        while True:
            with self._lock:
                one = self._free.pop() if self._free else None
            if one is None:
                return Kept(self._root)
            try:
                current = one.is_current()
            except BaseException:
                one.close()
                raise
            if current:
                return one
            one.close()


# Where one request is worked on: the project, the session and the worker that it means.


class Desk:
    """Where one request is worked on."""

    def __init__(
        self, place: Place, shelf: Shelf, client: str, tell: Callable[[str], None]
    ) -> None:
        self.place, self.client, self.tell = place, client, tell
        self._shelf = shelf

    @contextmanager
    def kept(self) -> Generator[Kept]:
        """The project, as it is now."""
        with self._shelf.kept() as kept:
            yield kept

    @contextmanager
    def session(self, name: str = "") -> Generator[Session]:
        """The session that is meant: the one named, else the newest of the project."""
        with self._shelf.kept() as kept:
            yield self.meant(kept, name)

    def meant(self, kept: Kept, name: str = "") -> Session:
        """The same, of a project at hand."""
        return kept.session(name or self.place.session or None, self.place.agent)

    def worker(self, project: Project, pane: int | str | None) -> tuple[str, str]:
        """The session that has a worker's packet, and whose it is."""
        return worker_of(
            project,
            pane,
            environment=os.environ,
            client=self.client,
            session=self.place.session,
        )
