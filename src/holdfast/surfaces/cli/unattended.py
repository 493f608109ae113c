"""`holdfast unattended`: allow an agent to continue a plan without asking; show it; end it."""

import click
from msgspec import to_builtins

from holdfast.core.observe.unattended import RunStatus
from holdfast.engine.unattended import run_status, start_run, stop_run
from holdfast.session.session import Session
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize
from holdfast.text.patterns import Pattern

EXAMPLE = """\b
Examples:
  holdfast unattended start --plan sprint-plan-7 --max-age 10h
  holdfast unattended status
  holdfast unattended stop"""
AGE = Pattern(r"(\d{1,6})([smhd]?)")
SECONDS_PER_UNIT = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
MAX_CONSENT_SECONDS = 7 * 86_400


def _parse_duration(ctx: click.Context, param: click.Parameter, value: str) -> int:
    """Return the seconds of `90m`, `12h` or `2d`."""
    found = AGE.fullmatch(value)
    seconds = int(found[1]) * SECONDS_PER_UNIT[found[2]] if found else 0
    if not 0 < seconds <= MAX_CONSENT_SECONDS:
        raise click.BadParameter(f"{value!r} is no time such as 12h, up to 7d", ctx, param)
    return seconds


@click.group(epilog=EXAMPLE)
def unattended() -> None:
    """Allow an agent to continue without asking after its context was compressed.

    An agent continues only if you allowed it here, for one plan and a limited time. A run-state
    file in the work tree reports progress but cannot give this permission.
    """


@unattended.command(epilog=EXAMPLE)
@click.option("--plan", required=True, help="Id of the plan, as in the run-state file.")
@click.option(
    "--max-age",
    default="12h",
    show_default=True,
    callback=_parse_duration,
    metavar="TIME",
    help="How long the permission lasts: 90m, 12h, 2d.",
)
@session_options
def start(selection: Selection, plan: str, max_age: int, as_json: bool) -> None:
    """Allow the agent of a session to continue a plan without asking, for a limited time."""
    session = selection.session()
    _print(session, start_run(session.ledger, plan, max_age=max_age), as_json=as_json)


@unattended.command(epilog=EXAMPLE)
@session_options
def status(selection: Selection, as_json: bool) -> None:
    """Show whether the agent may continue without asking; exit code 1 if it must ask."""
    session = selection.session()
    found = run_status(session.ledger)
    _print(session, found, as_json=as_json)
    raise click.exceptions.Exit(0 if found.unattended else 1)


@unattended.command(epilog=EXAMPLE)
@session_options
def stop(selection: Selection, as_json: bool) -> None:
    """End the permission: from now on the agent asks."""
    session = selection.session()
    _print(session, stop_run(session.ledger), as_json=as_json)


def _print(session: Session, found: RunStatus, *, as_json: bool) -> None:
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
        line = found.line or "attended: the agent asks before it goes on"
        echo(sanitize(f"{session.name}: {line}{until}"))
