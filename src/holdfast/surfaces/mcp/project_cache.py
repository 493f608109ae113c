"""Cache the open project between calls, so that a call reads only what is new in the ledger.

The cache only copies what the ledger says. It is dropped when the ledger file was replaced, when
entries were erased (they must not be shown from memory), when a setting changed, after an error of
the store, and after ten minutes.
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
from holdfast.surfaces.mcp.server import ServerOptions
from holdfast.surfaces.project import Project

if TYPE_CHECKING:
    from holdfast.packets.questions import ProjectDecisions


MAX_AGE_SECONDS = 600.0
"""Seconds after which a cached project is opened again."""
CLOSE_AFTER = (StoreRefused, StoreBusy, StoreFull, StoreDamaged, Conflict)
"""After these errors the cached project is closed; other errors say nothing about the store."""
MAX_SESSIONS = 4
"""Most sessions of a project that are cached."""


class CachedProject:
    """An open project, with the sessions and decisions that were read from it."""

    def __init__(self, root: str | None) -> None:
        self.project = Project(root)
        self._decisions: tuple[str, ProjectDecisions] | None = None
        self._sessions: dict[tuple[str, str], Session] = {}
        self._opened_at = monotonic()
        self._file, self._tombstones = self._ledger_state()

    def session(self, name: str | None, agent: str) -> Session:
        """Return a session, found as `Project.session` does; from the cache if possible."""
        opened = self.project.session(name, agent)
        session = self._sessions.pop((opened.name, agent), opened)
        while len(self._sessions) >= MAX_SESSIONS:
            self._sessions.pop(next(iter(self._sessions)))
        self._sessions[opened.name, agent] = session
        return session

    def decisions(self, session: Session) -> "ProjectDecisions":
        """Return the decisions of the project's sessions that a session may see."""
        from holdfast.packets.questions import (
            project_decisions,  # late: few calls look through all sessions
        )

        if self._decisions is None or self._decisions[0] != session.name:
            self._decisions = session.name, project_decisions(session.ledger)
        return self._decisions[1]

    def is_current(self) -> bool:
        """Whether the cached values are still valid."""
        if monotonic() - self._opened_at > MAX_AGE_SECONDS or self._file is None:
            return False
        if self._ledger_state() != (self._file, self._tombstones):
            return False
        policy = load(self.project.root, os.environ).policy
        return policy == self.project.settings.policy

    def _ledger_state(self) -> tuple[tuple[int, int] | None, list[Tombstone]]:
        """Return the identity of the ledger file, and its tombstones."""
        try:
            status = ledger_path(self.project.root).stat()
        except OSError:
            return None, []
        return (status.st_dev, status.st_ino), self.project.store.tombstones()

    def close(self) -> None:
        """Close the store, if it was opened."""
        if "store" in self.project.__dict__:
            self.project.store.close()


class ProjectCache:
    """Open projects that no call uses; each is used by one call at a time."""

    def __init__(self, root: str | None) -> None:
        self._root, self._free, self._lock = root, list[CachedProject](), Lock()

    @contextmanager
    def borrow(self) -> Generator[CachedProject]:
        """Lend a valid project to a call; take it back unless the store failed."""
        cached, reusable = self._take(), False
        try:
            yield cached
            reusable = True
        except HoldfastError as error:
            reusable = not isinstance(error, CLOSE_AFTER)
            raise
        finally:
            if reusable:
                with self._lock:
                    self._free.append(cached)
            else:
                cached.close()

    def _take(self) -> CachedProject:
        while True:
            with self._lock:
                cached = self._free.pop() if self._free else None
            if cached is None:
                return CachedProject(self._root)
            try:
                current = cached.is_current()
            except BaseException:
                cached.close()
                raise
            if current:
                return cached
            cached.close()


class RequestContext:
    """Gives one request access to its project, its session and its worker."""

    def __init__(
        self,
        options: ServerOptions,
        cache: ProjectCache,
        client: str,
        report_stage: Callable[[str], None],
    ) -> None:
        self.options, self.client, self.report_stage = options, client, report_stage
        self._cache = cache

    @contextmanager
    def project(self) -> Generator[CachedProject]:
        """Open the project, or take it from the cache."""
        with self._cache.borrow() as cached:
            yield cached

    @contextmanager
    def session(self, name: str = "") -> Generator[Session]:
        """Open the named session; without a name, that of the options or the newest."""
        with self._cache.borrow() as cached:
            yield self.session_in(cached, name)

    def session_in(self, cached: CachedProject, name: str = "") -> Session:
        """Return that session of a project that is already open."""
        return cached.session(name or self.options.session or None, self.options.agent)

    def find_worker(self, project: Project, pane: int | str | None) -> tuple[str, str]:
        """Return the session that has a worker's packet, and the audience of the packet."""
        return worker_of(
            project,
            pane,
            environment=os.environ,
            client=self.client,
            session=self.options.session,
        )
