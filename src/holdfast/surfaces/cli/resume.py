"""`holdfast resume`: print what a new session needs to continue an old one, or open it."""

import click

from holdfast.core.view.levels import RecoveryLevel
from holdfast.errors import NotRecorded
from holdfast.session.resume import RESUME_BUDGET, find_resumable, resume_point
from holdfast.session.resume import resume as resume_session
from holdfast.surfaces.cli.options import Project, Selection, project_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize, sanitize_for_terminal

EXAMPLE = """\b
Examples:
  holdfast resume                          continue the newest session
  holdfast resume 1f3a9c2b4d5e             continue from a checkpoint
  holdfast resume --budget 800
  holdfast resume --as monday              create the new session"""


@click.command(epilog=EXAMPLE)
@click.argument("session", required=False)
@click.option(
    "--budget",
    type=click.IntRange(min=100),
    default=RESUME_BUDGET,
    show_default=True,
    help="Maximum number of tokens.",
)
@click.option(
    "--as", "new", metavar="NAME", help="Create a session of this name that continues SESSION."
)
@project_options
def resume(
    selection: Selection, session: str | None, budget: int, new: str | None, as_json: bool
) -> None:
    """Print what a new session needs to continue SESSION, a session or a checkpoint.

    With --as, a new session is created that starts with this text as data, and the ledger links the
    two sessions. Without --as, nothing is changed.
    """
    project = selection.project
    name = _find_name(project, session)
    if new is None:
        old, checkpoint = find_resumable(name, project.root)
        recovered = resume_point(old, checkpoint, budget)
        _print(old.name, recovered, as_json=as_json)
        return
    with resume_session(name, as_=new, budget=budget, root=project.root) as new_session:
        text = str(new_session.messages()[0]["content"])
        if as_json:
            print_json("resume", {"session": name, "fresh": new_session.name, "text": text})
        else:
            echo(sanitize_for_terminal(text))
            echo(sanitize(f"holdfast: {new_session.name} goes on from {name}"), err=True)


def _find_name(project: Project, name: str | None) -> str:
    """Return the name of the session, or the given name if it may be a checkpoint."""
    try:
        return project.session(name).name
    except NotRecorded:
        # It may be a checkpoint; the lookup of checkpoints raises if it is not.
        if name is None or not project.has_ledger:
            raise
        return name


def _print(name: str, recovered: RecoveryLevel, *, as_json: bool) -> None:
    if as_json:
        document = {
            "session": name,
            "budget": recovered.budget,
            "tokens": recovered.tokens,
            "shown": recovered.shown,
            "rows": recovered.rows,
            "text": recovered.text,
        }
        print_json("resume", document)
    else:
        echo(sanitize_for_terminal(recovered.text))
