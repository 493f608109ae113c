"""`holdfast context clear`: delete the file of a packet; its record stays."""

import click

from holdfast.packets.deliver import clear_packet
from holdfast.surfaces.cli.context.options import find_workers, pane_option
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize

EXAMPLE = """\b
Examples:
  holdfast context clear --pane 1
  holdfast context clear --all"""


@click.command(epilog=EXAMPLE)
@click.option(
    "--all", "every", is_flag=True, help="Delete the files of all packets, also the shared one."
)
@pane_option
@session_options
def clear(selection: Selection, every: bool, pane: str | None, as_json: bool) -> None:
    """Delete the packet file of a worker after its task; record and statistics stay."""
    session, audiences = find_workers(selection, pane, every=every)
    cleared_packets = [clear_packet(session.ledger, audience) for audience in audiences]
    if as_json:
        documents = [
            {"audience": record.packet.audience, "file": record.file, "ref": record.ref}
            for record in cleared_packets
        ]
        print_json("context.clear", {"session": session.name, "cleared": documents})
        return
    for record in cleared_packets:
        echo(sanitize(f"{record.packet.audience}: cleared; on record as {record.ref}"))
    if not cleared_packets:
        echo(sanitize(f"no packets in {session.name}"))
