"""`holdfast intent`: show the user's requests and constraints word for word."""

import click

from holdfast.core.view.summary import intent_document, render_intent
from holdfast.surfaces.actions import user_intent
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize_for_terminal

EXAMPLE = """\b
Examples:
  holdfast intent
  holdfast intent --session 3ae3 --json"""


@click.command(epilog=EXAMPLE)
@session_options
def intent(selection: Selection, as_json: bool) -> None:
    """Show the user's requests and constraints word for word, each with its entry.

    Printed are the first and the current request, changes of scope, and all constraints: found in
    the conversation, pinned, and lifted.
    """
    session = selection.session()
    asked = user_intent(session)
    if as_json:
        print_json("intent", {"session": session.name, **intent_document(asked)})
    else:
        echo(sanitize_for_terminal(render_intent(asked)))
