"""The project that a surface works on: its settings, its store, its sessions by name."""

import os
from functools import cached_property
from pathlib import Path

from holdfast.core.plan.policy import Plain
from holdfast.engine.references import named
from holdfast.errors import Ambiguous, Erased, NotRecorded
from holdfast.project.paths import find_root, ledger_path
from holdfast.project.settings import Settings, load, load_for
from holdfast.session.open import open as open_session
from holdfast.session.open import open_store
from holdfast.session.session import Session
from holdfast.stores.store import Store, newest_first, newest_in
from holdfast.transcripts.follow import followed_quietly


class Project:
    """The project at hand; opened when it is first needed."""

    def __init__(self, root: str | None, flags: dict[str, Plain] | None = None) -> None:
        self.root = find_root(root, os.environ, Path.cwd())
        self._flags = flags or {}

    @cached_property
    def settings(self) -> Settings:
        """What is in force here."""
        return load(self.root, os.environ, self._flags)

    def settings_in(self, host: str) -> Settings:
        """What is in force inside an agent's program; here, when none is named."""
        return load_for(host, self.root, os.environ, self._flags) if host else self.settings

    @cached_property
    def store(self) -> Store:
        """The project's store, looked through once a day for what is old."""
        store = open_store(self.root)
        rules = self.settings.policy.retention
        if rules.days or rules.megabytes:
            from holdfast.engine.purge.retention import (
                retain_daily,  # late: only where something is to expire
            )

            retain_daily(store, self.settings.policy, str(self.root))
        return store

    def close(self) -> None:
        """Let go of the store, if it was needed."""
        if "store" in self.__dict__:
            self.store.close()

    @property
    def has_ledger(self) -> bool:
        """Whether anything was ever recorded here."""
        return ledger_path(self.root).exists()

    def session(self, name: str | None, agent: str = "") -> Session:
        """A session by name or by the beginning of one; the newest when none is given.

        Raises:
            NotRecorded: there is none.
            Ambiguous: several begin like this.
        """
        found = self._named(name)
        policy = self.settings.policy
        followed_quietly(self.store, found, policy)
        head = self.store.head(found)
        if agent and head is not None and agent not in head.lanes:
            known = ", ".join(filter(None, head.lanes)) or "none"
            raise NotRecorded("agent", agent, where=f"session {found!r}; it has {known}")
        return open_session(found, root=self.root, agent=agent, policy=policy, store=self.store)

    def holding(self, ref: str) -> Session:
        """The session that a reference is of: the newest, else any other that has such an entry.

        Raises:
            NotRecorded: there is no session.
            Ambiguous: several entries of a session begin like this.
        """
        session = self.session(None).holding(ref)
        if ref.startswith("#") or named(self.store, session.name, ref):
            return session
        others = (one.name for one in newest_first(self.store) if one.name != session.name)
        found = next((name for name in others if named(self.store, name, ref)), None)
        return session if found is None else self.session(found)

    def _named(self, name: str | None) -> str:
        if not self.has_ledger:
            where = f"{self.root} yet; `holdfast ingest [FILE]` makes one"
            raise NotRecorded("ledger", "", where=where)
        names = [listed.name for listed in self.store.sessions()]
        if name is None:
            if not names:
                raise NotRecorded(
                    "session", "", where=f"{self.root} yet; `holdfast ingest` reads some"
                )
            # Inside an agent, the session meant is the agent's own.
            own = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
            return own if own in names else newest_in(self.store)
        fitting = [name] if name in names else [known for known in names if known.startswith(name)]
        if len(fitting) > 1:
            raise Ambiguous("session", name, tuple(fitting))
        if not fitting:
            self._tell_erased(name)
            raise NotRecorded("session", name, where=str(self.root))
        return fitting[0]

    def _tell_erased(self, name: str) -> None:
        stones = self.store.tombstones(name)
        if stones:
            size, last = sum(stone.size for stone in stones), stones[-1]
            raise Erased("session", name, reason=last.reason, size=size, at=last.at)
