"""`holdfast context clear`: delete the file of a packet; its record stays."""

import click

from holdfast.packets.deliver import clear_packet
from holdfast.packets.records import packet_records
from holdfast.surfaces.cli.context.options import find_worker, pane_option
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
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
@session_option
@project_option
@json_option
@click.pass_context
def clear(
    ctx: click.Context,
    every: bool,
    pane: str | None,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Delete the packet file of a worker after its task; record and statistics stay."""
    project = project_of(ctx, root)
    if every:
        session = project.session(name, agent)
        last = {
            record.packet.audience: record
            for record in packet_records(session.ledger)
            if record.packet.audience
        }
        audiences = [audience for audience, packet in last.items() if not packet.cleared]
    else:
        session, audience = find_worker(project, pane, name, agent)
        audiences = [audience]
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
