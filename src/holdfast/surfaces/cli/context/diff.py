"""`holdfast context diff`: show what changed between two revisions of a packet."""

import click
from msgspec import to_builtins

from holdfast.core.view.packet.prompt import NOTHING
from holdfast.core.view.packet.revise import PacketDifference, packet_differences
from holdfast.errors import NotRecorded
from holdfast.packets.records import PacketRecord, packet_records
from holdfast.session.session import Session
from holdfast.surfaces.cli.context.options import find_worker, pane_option
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize

EXAMPLE = """\b
Examples:
  holdfast context diff --pane 1                   the last two revisions
  holdfast context diff --pane 1 1 3"""


@click.command(epilog=EXAMPLE)
@click.argument("old", required=False, type=click.IntRange(min=1))
@click.argument("new", required=False, type=click.IntRange(min=1))
@pane_option
@session_options
def diff(
    selection: Selection, old: int | None, new: int | None, pane: str | None, as_json: bool
) -> None:
    """Show what changed from revision OLD to NEW of a packet; default: the last two."""
    session, audience = find_worker(selection, pane)
    later = _revision(session, audience, new)
    earlier = _revision(session, audience, old or later.packet.revision - 1, later)
    found = packet_differences(earlier.packet, later.packet)
    if as_json:
        document = {"session": session.name, "audience": audience}
        numbers = {"old": earlier.packet.revision, "new": later.packet.revision}
        print_json("context.diff", {**document, **numbers, "changes": to_builtins(found)})
        return
    echo(sanitize(f"{audience}: v{earlier.packet.revision} → v{later.packet.revision}"))
    for difference in found:
        _print_difference(difference)
    if not found:
        echo(f"  {NOTHING}")


def _revision(
    session: Session, audience: str, number: int | None, later: PacketRecord | None = None
) -> PacketRecord:
    """Return a revision of the worker's current packet; the newest if `number` is None."""
    of_worker = [
        record for record in packet_records(session.ledger) if record.packet.audience == audience
    ]
    task = (later or of_worker[-1]).packet.target_task if of_worker else ""
    matches = [record for record in of_worker if record.packet.target_task == task]
    matches = [record for record in matches if number is None or record.packet.revision == number]
    if not matches:
        where = f"the packet for {audience}"
        raise NotRecorded("revision", f"v{number}" if number else "before v1", where=where)
    return matches[-1]


def _print_difference(difference: PacketDifference) -> None:
    echo(f"  {difference.part}")
    for mark, rows in (("−", difference.gone), ("+", difference.come)):
        for row in rows:
            echo(sanitize(f"    {mark} {' '.join(row.split())}"))
