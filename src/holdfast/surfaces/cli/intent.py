"""`holdfast intent`: what was asked for, word for word."""

import click

from holdfast.core.view.summary import intent_document, render_intent
from holdfast.surfaces.actions import asked_in
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import echo, exact, print_json

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
    """Show what the user wants, word for word, and where each of the words stands.

    The first request and the current one, how the scope changed, and every constraint: those that
    were read from the conversation, those that were pinned, and those that were lifted since.
    """
    session = project_of(ctx, root).session(name, agent)
    asked = asked_in(session)
    if as_json:
        print_json("intent", {"session": session.name, **intent_document(asked)})
    else:
        echo(exact(render_intent(asked)))
