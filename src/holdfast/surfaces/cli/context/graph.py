"""`holdfast context graph`: show the decisions of a project and their relations."""

import click

from holdfast.core.view.decisions.render import as_dot, as_mermaid, graph_document, render_graph
from holdfast.packets.decisions import decision_graph
from holdfast.packets.questions import project_decisions
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import echo, page, print_json, sanitize_lines

EXAMPLE = """\b
Examples:
  holdfast context graph
  holdfast context graph --format mermaid > decisions.mmd
  holdfast context graph --format dot | dot -Tsvg > decisions.svg"""


@click.command(epilog=EXAMPLE)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "dot", "mermaid", "json"]),
    default="text",
    show_default=True,
    help="Format of the output.",
)
@session_options
def graph(selection: Selection, form: str, as_json: bool) -> None:
    """Show each decision: author, reason, replacement, and the sessions that refer to it.

    All sessions of the project are read, or only --session.
    """
    if as_json and form not in ("text", "json"):
        raise click.UsageError(f"--json and --format {form} exclude each other")
    session = selection.session()
    only = [session.name] if selection.name is not None else None
    decisions = decision_graph(project_decisions(session.ledger), sessions=only)
    if as_json or form == "json":
        print_json("context.graph", graph_document(decisions))
    elif form == "text":
        page(sanitize_lines(render_graph(decisions)))
    else:
        echo(sanitize_lines(as_dot(decisions) if form == "dot" else as_mermaid(decisions)))
