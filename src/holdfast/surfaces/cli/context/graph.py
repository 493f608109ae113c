"""`holdfast context graph`: the decisions of a project, and how they hang together."""

import click

from holdfast.core.view.decisions.render import as_dot, as_mermaid, graph_document, render_graph
from holdfast.packets.decisions import decision_graph
from holdfast.packets.questions import settled_for
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import echo, page, plain_lines, print_json

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
)
@session_option
@project_option
@json_option
@click.pass_context
def graph(
    ctx: click.Context,
    form: str,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Show every decision with who made it, why, what replaced it and which sessions refer to it.

    All sessions of the project, or the one --session names.
    """
    if as_json and form not in ("text", "json"):
        raise click.UsageError(f"--json and --format {form} exclude each other")
    session = project_of(ctx, root).session(name, agent)
    only = [session.name] if name is not None else None
    made = decision_graph(settled_for(session.ledger), sessions=only)
    if as_json or form == "json":
        print_json("context.graph", graph_document(made))
    elif form == "text":
        page(plain_lines(render_graph(made)))
    else:
        echo(plain_lines(as_dot(made) if form == "dot" else as_mermaid(made)))
