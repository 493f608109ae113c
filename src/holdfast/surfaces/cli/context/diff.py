"""`holdfast context diff`: what changed between two revisions of a packet."""

import click
from msgspec import to_builtins

from holdfast.core.view.packet.prompt import NOTHING
from holdfast.core.view.packet.revise import Difference, differences
from holdfast.errors import NotRecorded
from holdfast.packets.records import Listed, handed
from holdfast.session.session import Session
from holdfast.surfaces.cli.context.options import pane_option, worker
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import echo, plain, print_json

EXAMPLE = """\b
Examples:
  holdfast context diff --pane 1                   between the last two revisions
  holdfast context diff --pane 1 1 3"""


@click.command(epilog=EXAMPLE)
@click.argument("old", required=False, type=click.IntRange(min=1))
@click.argument("new", required=False, type=click.IntRange(min=1))
@pane_option
@session_option
@project_option
@json_option
@click.pass_context
def diff(
    ctx: click.Context,
    old: int | None,
    new: int | None,
    pane: str | None,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Say what changed from revision OLD to NEW of a worker's packet: by default, the last two."""
    session, audience = worker(project_of(ctx, root), pane, name, agent)
    later = _revision(session, audience, new)
    earlier = _revision(session, audience, old or later.packet.revision - 1, later)
    found = differences(earlier.packet, later.packet)
    if as_json:
        told = {"session": session.name, "audience": audience}
        numbers = {"old": earlier.packet.revision, "new": later.packet.revision}
        print_json("context.diff", {**told, **numbers, "changes": to_builtins(found)})
        return
    echo(plain(f"{audience}: v{earlier.packet.revision} → v{later.packet.revision}"))
    for one in found:
        _show(one)
    if not found:
        echo(f"  {NOTHING}")


def _revision(
    session: Session, audience: str, number: int | None, later: Listed | None = None
) -> Listed:
    """A revision of the packet that a worker has now; the newest when none is named."""
    mine = [one for one in handed(session.ledger) if one.packet.audience == audience]
    task = (later or mine[-1]).packet.target_task if mine else ""
    fitting = [one for one in mine if one.packet.target_task == task]
    fitting = [one for one in fitting if number is None or one.packet.revision == number]
    if not fitting:
        where = f"the packet for {audience}"
        raise NotRecorded("revision", f"v{number}" if number else "before v1", where=where)
    return fitting[-1]


def _show(one: Difference) -> None:
    echo(f"  {one.part}")
    for mark, rows in (("−", one.gone), ("+", one.come)):
        for row in rows:
            echo(plain(f"    {mark} {' '.join(row.split())}"))
