"""`holdfast context history`: list versions of decisions and revisions of packets."""

import os

import click

from holdfast.core.view.decisions.history import (
    handovers,
    history_document,
    lineages,
    render_history,
)
from holdfast.packets.decisions import decision_graph
from holdfast.packets.questions import project_decisions
from holdfast.packets.records import audience_of, packet_entries
from holdfast.surfaces.cli.context.options import pane_option
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import page, print_json, sanitize_lines

EXAMPLE = """\b
Examples:
  holdfast context history
  holdfast context history --pane 1
  holdfast context history --all --json"""


@click.command(epilog=EXAMPLE)
@pane_option
@click.option("--all", "single", is_flag=True, help="Also list decisions that never changed.")
@session_options
def history(selection: Selection, pane: str | None, single: bool, as_json: bool) -> None:
    """List the versions of each decision, and the revisions of packets with their results.

    All sessions of the project are read, or only --session; --pane limits the packets.
    """
    session = selection.session()
    settled = project_decisions(session.ledger)
    only = [session.name] if selection.name is not None else None
    names = only or [listed.name for listed in reversed(session.store.sessions())]
    audience = audience_of(pane, os.environ) if pane is not None else ""
    packets = [
        handover
        for session_name in names
        for handover in handovers(
            settled.redact(session_name, packet_entries(session.store, session_name)),
            session=session_name,
        )
        if not audience or handover.audience == audience
    ]
    decisions = decision_graph(settled, sessions=only, references=False)
    lines = lineages(decisions, single=single)
    if as_json:
        print_json("context.history", history_document(lines, packets))
    else:
        page(sanitize_lines(render_history(lines, packets)))
