"""`Project`: the settings, the store and the sessions of a project folder, for all surfaces."""

import os
from functools import cached_property
from pathlib import Path

from holdfast.core.plan.policy import SettingValue
from holdfast.engine.references import entries_named
from holdfast.errors import Ambiguous, Erased, NotRecorded
from holdfast.project.paths import find_root, ledger_path
from holdfast.project.settings import Settings, load, load_for
from holdfast.session.open import open as open_session
from holdfast.session.open import open_store
from holdfast.session.session import Session
from holdfast.stores.store import Store, newest_session, sessions_newest_first
from holdfast.transcripts.follow import follow_if_possible


class Project:
    """A project folder; settings and store are opened on first use."""

    def __init__(self, root: str | None, flags: dict[str, SettingValue] | None = None) -> None:
        self.root = find_root(root, os.environ, Path.cwd())
        self._flags = flags or {}

    @cached_property
    def settings(self) -> Settings:
        """The settings in force."""
        return load(self.root, os.environ, self._flags)

    def settings_in(self, host: str) -> Settings:
        """Return the settings for an agent such as `claude-code`, or `settings` without one."""
        return load_for(host, self.root, os.environ, self._flags) if host else self.settings

    @cached_property
    def store(self) -> Store:
        """The project's store; opening it applies retention, at most once a day."""
        store = open_store(self.root)
        rules = self.settings.policy.retention
        if rules.days or rules.megabytes:
            from holdfast.engine.purge.retention import (
                retain_daily,  # late: only needed with retention settings
            )

            retain_daily(store, self.settings.policy, str(self.root))
        return store

    def close(self) -> None:
        """Close the store if it was opened."""
        if "store" in self.__dict__:
            self.store.close()

    @property
    def has_ledger(self) -> bool:
        """Whether the project has a ledger file."""
        return ledger_path(self.root).exists()

    def session(self, name: str | None, agent: str = "") -> Session:
        """Open a session by its name or the beginning of it; the newest if `name` is None.

        Raises:
            NotRecorded: there is no such session or agent.
            Ambiguous: several names begin with `name`.
        """
        found = self._find_name(name)
        policy = self.settings.policy
        follow_if_possible(self.store, found, policy)
        head = self.store.head(found)
        if agent and head is not None and agent not in head.lanes:
            agents = ", ".join(filter(None, head.lanes)) or "none"
            raise NotRecorded("agent", agent, where=f"session {found!r}; it has {agents}")
        return open_session(found, root=self.root, agent=agent, policy=policy, store=self.store)

    def session_with_entry(self, ref: str) -> Session:
        """Open the session that has an entry: the newest session first, then the others.

        Raises:
            NotRecorded: the project has no session.
            Ambiguous: several entries of a session have an id that begins with `ref`.
        """
        session = self.session(None).holding(ref)
        if ref.startswith("#") or entries_named(self.store, session.name, ref):
            return session
        others = (
            listed.name
            for listed in sessions_newest_first(self.store)
            if listed.name != session.name
        )
        found = next((name for name in others if entries_named(self.store, name, ref)), None)
        return session if found is None else self.session(found)

    def _find_name(self, name: str | None) -> str:
        if not self.has_ledger:
            where = f"{self.root} yet; `holdfast ingest [FILE]` makes one"
            raise NotRecorded("ledger", "", where=where)
        names = [listed.name for listed in self.store.sessions()]
        if name is None:
            if not names:
                raise NotRecorded(
                    "session", "", where=f"{self.root} yet; `holdfast ingest` reads some"
                )
            # Inside an agent, the default is the agent's own session.
            own = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
            return own if own in names else newest_session(self.store)
        matches = [name] if name in names else [known for known in names if known.startswith(name)]
        if len(matches) > 1:
            raise Ambiguous("session", name, tuple(matches))
        if not matches:
            self._raise_if_erased(name)
            raise NotRecorded("session", name, where=str(self.root))
        return matches[0]

    def _raise_if_erased(self, name: str) -> None:
        tombstones = self.store.tombstones(name)
        if tombstones:
            size, last = sum(tombstone.size for tombstone in tombstones), tombstones[-1]
            raise Erased("session", name, reason=last.reason, size=size, at=last.at)
