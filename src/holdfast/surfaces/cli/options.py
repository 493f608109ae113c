"""What every command shares: its options, and the project they point at."""

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import click
from click.shell_completion import CompletionItem

from holdfast.config import Settings, load
from holdfast.core.plan.policy import Plain, Redact
from holdfast.core.plan.profiles import PROFILES
from holdfast.errors import Ambiguous, Erased, NotRecorded
from holdfast.opening import open as open_session
from holdfast.opening import open_store
from holdfast.places import find_root, ledger_path
from holdfast.redacting import redacted_title
from holdfast.session import Session
from holdfast.stores.store import Store

F = TypeVar("F", bound=Callable[..., object])


class Project:
    """The project a command works on; opened when it is first needed."""

    def __init__(self, root: str | None, flags: dict[str, Plain] | None = None) -> None:
        self.root = find_root(root, os.environ, Path.cwd())
        self._flags = flags or {}

    @cached_property
    def settings(self) -> Settings:
        """What is in force here."""
        return load(self.root, os.environ, self._flags)

    @cached_property
    def store(self) -> Store:
        """The project's store, looked through once a day for what is old."""
        store = open_store(self.root)
        rules = self.settings.policy.retention
        if rules.days or rules.megabytes:
            from holdfast.retaining import retain_daily  # late: only where something is to expire

            retain_daily(store, self.settings.policy, str(self.root))
        return store

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
        return open_session(found, root=self.root, agent=agent, policy=policy, store=self.store)

    def _named(self, name: str | None) -> str:
        if not self.has_ledger:
            raise NotRecorded("ledger", "", where=f"{self.root} yet; `holdfast ingest` makes one")
        names = [listed.name for listed in self.store.sessions()]
        if name is None:
            if not names:
                raise NotRecorded(
                    "session", "", where=f"{self.root} yet; `holdfast ingest` reads some"
                )
            return names[0]
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


def project_option(command: F) -> F:
    """`--root`, on the command as well as before it."""
    return click.option(
        "--root", metavar="FOLDER", help="The project; found by git when not given."
    )(command)


def json_option(command: F) -> F:
    """`--json`, spelled the same everywhere."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON document for a program.")(
        command
    )


def session_option(command: F) -> F:
    """`--session` and `--agent`: whose window is meant."""
    named = click.option(
        "--session", "name", shell_complete=complete_session, help="Name or its beginning."
    )
    agent = click.option("--agent", default="", help="A sub-agent, whose window is its own.")
    return named(agent(command))


def policy_options(command: F) -> F:
    """`--model`, `--window`, `--profile` and `--role`: what a plan is made by."""
    for made in reversed(
        (
            click.option("--model", help="The agent's model; found in the session if not given."),
            click.option(
                "--window", type=click.IntRange(min=1), help="The model's window in tokens."
            ),
            click.option("--profile", type=click.Choice(list(PROFILES)), help="A set of values."),
            click.option("--role", help="The agent's part, which may have values of its own."),
        )
    ):
        command = made(command)
    return command


def flags_of(
    model: str | None, window: int | None, profile: str | None, role: str | None
) -> dict[str, Plain]:
    """What `policy_options` were given, by the settings' names."""
    given: dict[str, Plain | None] = {
        "model": model,
        "window": window,
        "profile": profile,
        "role": role,
    }
    return {name: value for name, value in given.items() if value}


def complete_session(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The sessions whose name begins as typed."""
    del param
    project = project_of(ctx, ctx.params.get("root"))
    if not project.has_ledger:
        return []
    return [
        CompletionItem(
            listed.name,
            help=redacted_title(listed.head.title, Redact(), project.store, listed.name),
        )
        for listed in project.store.sessions()
        if listed.name.startswith(incomplete)
    ]


def project_of(
    ctx: click.Context, root: str | None, flags: dict[str, Plain] | None = None
) -> Project:
    """The project meant by a command's `--root`, or by the one given before the command."""
    given = root or ctx.find_object(str)
    return Project(given, {name: value for name, value in (flags or {}).items() if value})
