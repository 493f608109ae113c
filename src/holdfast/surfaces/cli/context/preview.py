"""`holdfast context preview`: print a packet without recording anything."""

import click

from holdfast.packets.make import generate_packet
from holdfast.packets.records import PacketRecord, find_packet
from holdfast.surfaces.cli.context.options import (
    find_worker,
    format_option,
    packet_line,
    packet_with_state,
    pane_option,
    render_packet,
)
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize, sanitize_for_terminal

EXAMPLE = """\b
Examples:
  holdfast context preview --pane 1
  holdfast context preview "Add JWT auth"          the packet for a new task"""


@click.command(epilog=EXAMPLE)
@click.argument("task", required=False)
@pane_option
@format_option
@session_options
def preview(
    selection: Selection, task: str | None, pane: str | None, form: str | None, as_json: bool
) -> None:
    """Print the packet of a worker, or the packet that TASK would get now; record nothing."""
    if task is not None:
        session = selection.session()
        record = PacketRecord("", session.name, generate_packet(session.ledger, task))
    else:
        session, audience = find_worker(selection, pane)
        record = find_packet(session.ledger, audience)
    if as_json:
        print_json("context.preview", packet_with_state(session, record))
        return
    echo(sanitize_for_terminal(render_packet(record.packet, form or "prompt")))
    echo(sanitize(f"holdfast: {packet_line(session, record)}"), err=True)
