"""`holdfast resume`: what a fresh session needs to go on from an old one."""

import click

from holdfast.core.view.levels import Recovered
from holdfast.errors import NotRecorded
from holdfast.session.resume import BUDGET, found, ready
from holdfast.session.resume import resume as go_on
from holdfast.surfaces.cli.options import Project, json_option, project_of, project_option
from holdfast.surfaces.cli.output import echo, exact, plain, print_json

EXAMPLE = """\b
Examples:
  holdfast resume                          what the newest session came to
  holdfast resume 1f3a9c2b4d5e             from a checkpoint
  holdfast resume --budget 800
  holdfast resume --as monday              open a session that goes on"""


@click.command(epilog=EXAMPLE)
@click.argument("session", required=False)
@click.option(
    "--budget",
    type=click.IntRange(min=100),
    default=BUDGET,
    show_default=True,
    help="Tokens at the most.",
)
@click.option("--as", "new", metavar="NAME", help="Open a session of this name that goes on.")
@project_option
@json_option
@click.pass_context
def resume(
    ctx: click.Context,
    session: str | None,
    budget: int,
    new: str | None,
    root: str | None,
    as_json: bool,
) -> None:
    """Print what a fresh session needs to go on from SESSION, a session or a checkpoint.

    Without --as nothing is changed. With it, the fresh session starts with this text as data, and
    the ledgers of both say that the one goes on from the other.
    """
    project = project_of(ctx, root)
    name = _meant(project, session)
    if new is None:
        old, taken = found(name, project.root)
        made = ready(old, taken, budget)
        _print(old.name, made, as_json=as_json)
        return
    with go_on(name, as_=new, budget=budget, root=project.root) as fresh:
        text = str(fresh.messages()[0]["content"])
        if as_json:
            print_json("resume", {"session": name, "fresh": fresh.name, "text": text})
        else:
            echo(exact(text))
            echo(plain(f"holdfast: {fresh.name} goes on from {name}"), err=True)


def _meant(project: Project, name: str | None) -> str:
    """The session or the checkpoint that is named; the newest session when none is."""
    try:
        return project.session(name).name
    except NotRecorded:
        # It may be a checkpoint; whoever looks for that says so if it is none either.
        if name is None or not project.has_ledger:
            raise
        return name


def _print(name: str, made: Recovered, *, as_json: bool) -> None:
    if as_json:
        document = {
            "session": name,
            "budget": made.budget,
            "tokens": made.tokens,
            "shown": made.shown,
            "rows": made.rows,
            "text": made.text,
        }
        print_json("resume", document)
    else:
        echo(exact(made.text))
