"""`holdfast context push`: update a packet from its session and write its file again."""

import click

from holdfast.packets.records import PacketRecord
from holdfast.packets.revise import refresh_packet
from holdfast.surfaces.cli.context.options import (
    find_workers,
    packet_line,
    packet_with_state,
    pane_option,
)
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize

EXAMPLE = """\b
Examples:
  holdfast context push --pane 1
  holdfast context push --pane 1 --message "Changed to JWT per user request"
  holdfast context push --all"""


@click.command(epilog=EXAMPLE)
@click.option("-m", "--message", "why", default="", help="Reason for the changelog.")
@click.option("--all", "every", is_flag=True, help="Update all packets that are not cleared.")
@pane_option
@session_options
def push(selection: Selection, why: str, every: bool, pane: str | None, as_json: bool) -> None:
    """Update a worker's packet from the current session; manual edits are kept.

    If something changed, a new revision is made, and its changelog says what changed and why.
    """
    session, audiences = find_workers(selection, pane, every=every)
    pushed: list[PacketRecord] = [
        refresh_packet(session.ledger, audience, why=why, act="push") for audience in audiences
    ]
    if as_json:
        documents = [packet_with_state(session, record) for record in pushed]
        print_json("context.push", {"session": session.name, "packets": documents})
        return
    for record in pushed:
        echo(sanitize(packet_line(session, record)))
        if record.packet.changelog:
            echo(sanitize(f"  {record.packet.changelog[-1].what}"))
    if not pushed:
        echo(sanitize(f"no packets in {session.name}"))
