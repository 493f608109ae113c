"""`holdfast context history`: how decisions evolved, and which packets were handed over."""

import os

import click

from holdfast.core.view.decisions.history import (
    handovers,
    history_document,
    lineages,
    render_history,
)
from holdfast.packets.decisions import decision_graph
from holdfast.packets.questions import settled_for
from holdfast.packets.records import audience_of
from holdfast.surfaces.cli.context.options import pane_option
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import page, plain_lines, print_json

EXAMPLE = """\b
Examples:
  holdfast context history
  holdfast context history --pane 1
  holdfast context history --all --json"""


@click.command(epilog=EXAMPLE)
@pane_option
@click.option("--all", "single", is_flag=True, help="Decisions that never changed as well.")
@session_option
@project_option
@json_option
@click.pass_context
def history(
    ctx: click.Context,
    pane: str | None,
    single: bool,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Show decisions version by version, and packets revision by revision with what came of them.

    All sessions of the project, or the one --session names; of packets, those of --pane alone.
    """
    session = project_of(ctx, root).session(name, agent)
    settled = settled_for(session.ledger)
    only = [session.name] if name is not None else None
    names = only or [listed.name for listed in reversed(session.store.sessions())]
    audience = audience_of(pane, os.environ) if pane is not None else ""
    packets = [
        one
        for each in names
        for one in handovers(settled.redact(each, session.store.read(each)), session=each)
        if not audience or one.audience == audience
    ]
    lines = lineages(decision_graph(settled, sessions=only), single=single)
    if as_json:
        print_json("context.history", history_document(lines, packets))
    else:
        page(plain_lines(render_history(lines, packets)))
