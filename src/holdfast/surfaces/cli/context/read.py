"""`holdfast context read`: print a worker's packet and record that it was read."""

import click

from holdfast.core.view.packet.document import packet_document
from holdfast.packets.read import read_for_worker
from holdfast.packets.records import find_packet
from holdfast.packets.revise import stale_reason
from holdfast.surfaces.cli.context.options import (
    find_worker,
    format_option,
    pane_option,
    parse_layers,
    render_packet,
)
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize, sanitize_for_terminal

EXAMPLE = """\b
Examples:
  holdfast context read --pane 1
  HOLDFAST_PANE=1 holdfast context read            the worker of this environment
  holdfast context read --pane 1 --layers 2        only the decisions"""


@click.command(epilog=EXAMPLE)
@pane_option
@click.option("--layers", metavar="2,3", help="Print only these layers.")
@format_option
@session_options
def read(
    selection: Selection, pane: str | None, layers: str | None, form: str | None, as_json: bool
) -> None:
    """Print your packet (goal, constraints, decisions, attempts) and record that you read it.

    If the packet file was changed by hand, it is refused and the differences are printed.
    """
    session, audience = find_worker(selection, pane)
    packet = read_for_worker(session.ledger, audience, layers=parse_layers(layers))
    stale = stale_reason(session.ledger, find_packet(session.ledger, audience).packet)
    if as_json:
        document = {"session": session.name, "audience": audience, "revision": packet.revision}
        body = {"stale": stale, "packet": packet_document(packet), "prompt": packet.to_prompt()}
        print_json("context.read", {**document, **body})
        return
    echo(sanitize_for_terminal(render_packet(packet, form or "prompt")))
    if stale:
        ask = "`holdfast context push` brings it up to date"
        echo(sanitize(f"holdfast: this packet is stale: {stale}; {ask}"), err=True)
