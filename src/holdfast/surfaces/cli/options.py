"""What every command shares: its options, and the project they point at."""

from collections.abc import Callable
from typing import TypeVar

import click
from click.shell_completion import CompletionItem

from holdfast.core.measure.models import doubt
from holdfast.core.plan.policy import PROFILES, Plain, Redact
from holdfast.engine.redact import redacted_title
from holdfast.surfaces.cli.output import echo, plain
from holdfast.surfaces.project import Project

F = TypeVar("F", bound=Callable[..., object])


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
            click.option(
                "--model",
                callback=_doubted,
                help="The agent's model; found in the session if not given.",
            ),
            click.option(
                "--window",
                type=click.IntRange(min=1),
                is_eager=True,  # whether it is given decides what is said of the model
                help="The model's window in tokens.",
            ),
            click.option("--profile", type=click.Choice(list(PROFILES)), help="A set of values."),
            click.option("--role", help="The agent's part, which may have values of its own."),
        )
    ):
        command = made(command)
    return command


def _doubted(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Warn of a model that is not in the table, by the name that was given."""
    del param
    warning = doubt(value, ctx.params.get("window") or 0) if value else ""
    if warning:
        echo(plain(f"holdfast: {warning}"), err=True)
    return value


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
