"""`holdfast context preview`: what a worker would get; nothing is recorded."""

import click

from holdfast.packets.make import generate
from holdfast.packets.records import Listed, found
from holdfast.surfaces.cli.context.options import (
    about,
    document,
    format_option,
    pane_option,
    shown,
    worker,
)
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import echo, exact, plain, print_json

EXAMPLE = """\b
Examples:
  holdfast context preview --pane 1
  holdfast context preview "Add JWT auth"          what one made now would hold"""


@click.command(epilog=EXAMPLE)
@click.argument("task", required=False)
@pane_option
@format_option
@session_option
@project_option
@json_option
@click.pass_context
def preview(
    ctx: click.Context,
    task: str | None,
    pane: str | None,
    form: str | None,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Show the packet of a worker, or the one that TASK would get now, as the worker reads it."""
    project = project_of(ctx, root)
    if task is not None:
        session = project.session(name, agent)
        one = Listed("", session.name, generate(session.ledger, task))
    else:
        session, audience = worker(project, pane, name, agent)
        one = found(session.ledger, audience)
    if as_json:
        print_json("context.preview", document(session, one))
        return
    echo(exact(shown(one.packet, form or "prompt")))
    echo(plain(f"holdfast: {about(session, one)}"), err=True)
