"""Options that commands share (`--root`, `--json`, `--session`, `--model` …), and their project."""

from collections.abc import Callable
from functools import cached_property, partial, wraps
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from holdfast.core.measure.models import model_warning
from holdfast.core.plan.policy import PROFILES, Redact, SettingValue
from holdfast.engine.redact import redacted_title
from holdfast.session.session import Session
from holdfast.surfaces.cli.output import echo, sanitize
from holdfast.surfaces.project import Project

F = TypeVar("F", bound=Callable[..., object])
POLICY_OPTIONS = ("model", "window", "profile", "role")
"""Options that override the settings of the same name."""


def project_option(command: F) -> F:
    """Add `--root`, which is also accepted before the command."""
    return click.option(
        "--root",
        metavar="FOLDER",
        help="Project folder; default: HOLDFAST_ROOT, else the git top level.",
    )(command)


def json_option(command: F) -> F:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)


def agent_option(command: F) -> F:
    """Add `--agent`."""
    return click.option(
        "--agent", "agent_name", default="", help="Name of a sub-agent; default: the main agent."
    )(command)


def session_option(command: F) -> F:
    """Add `--session` and `--agent`, which choose the window."""
    session = click.option(
        "--session",
        "session_name",
        shell_complete=complete_session,
        help="Session name or its beginning; default: the newest.",
    )
    return session(agent_option(command))


def policy_options(command: F) -> F:
    """Add `--model`, `--window`, `--profile` and `--role`, which override settings."""
    for option in reversed(
        (
            click.option(
                "--model",
                callback=_warn_unknown_model,
                help="The agent's model; default: the session's.",
            ),
            click.option(
                "--window",
                type=click.IntRange(min=1),
                is_eager=True,  # _warn_unknown_model reads it
                help="Size of the model's window in tokens.",
            ),
            click.option(
                "--profile", type=click.Choice(list(PROFILES)), help="A named set of settings."
            ),
            click.option("--role", help="The agent's role, which may have its own settings."),
        )
    ):
        command = option(command)
    return command


def _warn_unknown_model(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> str | None:
    """Warn if the model given by `--model` is not in the table of models."""
    del param
    warning = model_warning(value, ctx.params.get("window") or 0) if value else ""
    if warning:
        echo(sanitize(f"holdfast: {warning}"), err=True)
    return value


def complete_session(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the sessions whose name begins with the typed text, for shell completion."""
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
    ctx: click.Context, root: str | None, flags: dict[str, SettingValue] | None = None
) -> Project:
    """Return the project of the command's `--root`, or of the one before the command."""
    return Project(root or ctx.find_object(str), flags)


class Selection:
    """The project and the session that the shared options of a command name."""

    def __init__(self, ctx: click.Context, options: dict[str, Any]) -> None:
        """Take the shared options out of those that the command was called with."""
        root = options.pop("root")
        # An argument ROLE without a window is the role of a worker or an orchestrator.
        names = POLICY_OPTIONS if "window" in options else ()
        given = {name: options.pop(name) for name in names if name in options}
        flags: dict[str, SettingValue] = {name: value for name, value in given.items() if value}
        self.open_project = partial(project_of, ctx, root, flags)
        self.name: str | None = options.pop("session_name", None)
        self.agent: str = options.pop("agent_name", "")

    @cached_property
    def project(self) -> Project:
        """The project, opened on first use."""
        return self.open_project()

    def session(self) -> Session:
        """Open the session."""
        return self.project.session(self.name, self.agent)


def project_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add `--root` and `--json`; pass a `Selection` in place of the shared options."""

    @wraps(command)
    def run(ctx: click.Context, **options: Any) -> None:
        command(Selection(ctx, options), **options)

    return project_option(json_option(click.pass_context(run)))


def session_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add `--session`, `--agent`, `--root` and `--json`; pass a `Selection` in their place."""
    return session_option(project_options(command))
