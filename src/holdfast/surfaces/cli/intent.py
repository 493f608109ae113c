"""`holdfast intent`: what was asked for, word for word."""

import click
from msgspec import to_builtins

from holdfast.core.view.excerpts import intents_of, render_intent
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.printing import echo, exact, print_json

EXAMPLE = """\b
Examples:
  holdfast intent
  holdfast intent --session 3ae3 --json"""


@click.command(epilog=EXAMPLE)
@session_option
@project_option
@json_option
@click.pass_context
def intent(
    ctx: click.Context, name: str | None, agent: str, root: str | None, as_json: bool
) -> None:
    """Show the first request of a session and the latest, word for word."""
    session = project_of(ctx, root).session(name, agent)
    first, latest = intents_of(session.path())
    if as_json:
        asked = {"first": to_builtins(first), "latest": to_builtins(latest)}
        print_json("intent", {"session": session.name, **asked})
    else:
        echo(exact(render_intent(first, latest)))
