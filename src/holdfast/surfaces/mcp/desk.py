"""Where one request is worked on: the project, the session and the worker that it means."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager

from holdfast.session import Session
from holdfast.surfaces.handoffs import worker_of
from holdfast.surfaces.mcp.kept import Kept, Shelf
from holdfast.surfaces.mcp.server import Place
from holdfast.surfaces.project import Project


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
