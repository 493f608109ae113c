"""`holdfast unattended`: let a plan run on without asking, look at it, and end it."""

import re

import click
from msgspec import to_builtins

from holdfast.core.observe.unattended import Standing
from holdfast.engine.unattended import start as start_run
from holdfast.engine.unattended import status as run_status
from holdfast.engine.unattended import stop as stop_run
from holdfast.session.session import Session
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import echo, plain, print_json

EXAMPLE = """\b
Examples:
  holdfast unattended start --plan sprint-plan-7 --max-age 10h
  holdfast unattended status
  holdfast unattended stop"""
AGE = re.compile(r"(\d{1,6})([smhd]?)")
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
LONGEST = 7 * 86_400


def _age(ctx: click.Context, param: click.Parameter, value: str) -> int:
    """The seconds of `90m`, `12h` or `2d`."""
    found = AGE.fullmatch(value)
    seconds = int(found[1]) * SECONDS[found[2]] if found else 0
    if not 0 < seconds <= LONGEST:
        raise click.BadParameter(f"{value!r} is no time such as 12h, up to 7d", ctx, param)
    return seconds


@click.group(epilog=EXAMPLE)
def unattended() -> None:
    """Say whether an agent may go on by itself after its context was compressed.

    Only what was started here, by you, for a plan and a time, runs on without asking. A run-state
    file in the work tree tells how far it is, and starts nothing.
    """


@unattended.command(epilog=EXAMPLE)
@click.option("--plan", required=True, help="What runs: the id that the run-state file has too.")
@click.option(
    "--max-age",
    default="12h",
    show_default=True,
    callback=_age,
    metavar="TIME",
    help="How long the consent holds: 90m, 12h, 2d.",
)
@session_option
@project_option
@json_option
@click.pass_context
def start(
    ctx: click.Context,
    plan: str,
    max_age: int,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Let a plan run on in a session without asking, until the time is over."""
    session = project_of(ctx, root).session(name, agent)
    _print(session, start_run(session.ledger, plan, max_age=max_age), as_json=as_json)


@unattended.command(epilog=EXAMPLE)
@session_option
@project_option
@json_option
@click.pass_context
def status(
    ctx: click.Context, name: str | None, agent: str, root: str | None, as_json: bool
) -> None:
    """Say whether the agent goes on by itself; exit code 1 when it has to ask."""
    session = project_of(ctx, root).session(name, agent)
    found = run_status(session.ledger)
    _print(session, found, as_json=as_json)
    raise click.exceptions.Exit(0 if found.unattended else 1)


@unattended.command(epilog=EXAMPLE)
@session_option
@project_option
@json_option
@click.pass_context
def stop(ctx: click.Context, name: str | None, agent: str, root: str | None, as_json: bool) -> None:
    """End the run: from now on the agent asks."""
    session = project_of(ctx, root).session(name, agent)
    _print(session, stop_run(session.ledger), as_json=as_json)


def _print(session: Session, found: Standing, *, as_json: bool) -> None:
    if as_json:
        run = to_builtins(found.run) if found.run is not None else None
        if run is not None:
            del run["seal"]
        file = to_builtins(found.file) if found.file is not None else None
        document = {
            "session": session.name,
            "state": found.state,
            "unattended": found.unattended,
            "line": found.line,
            "run": run,
            "file": file,
        }
        print_json("unattended", document)
    else:
        until = f" (until {found.run.until})" if found.unattended and found.run else ""
        told = found.line or "attended: the agent asks before it goes on"
        echo(plain(f"{session.name}: {told}{until}"))
