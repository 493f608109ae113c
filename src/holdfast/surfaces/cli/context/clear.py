"""`holdfast context clear`: take the file of a packet away; the record stays."""

import click

from holdfast.packets.deliver import clear as cleared
from holdfast.packets.records import handed
from holdfast.surfaces.cli.context.options import pane_option, worker
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import echo, plain, print_json

EXAMPLE = """\b
Examples:
  holdfast context clear --pane 1
  holdfast context clear --all"""


@click.command(epilog=EXAMPLE)
@click.option("--all", "every", is_flag=True, help="Every worker's, the shared one included.")
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
    """Take away the file that a worker reads, after its task; statistics and history stay."""
    project = project_of(ctx, root)
    if every:
        session = project.session(name, agent)
        last = {one.packet.audience: one for one in handed(session.ledger) if one.packet.audience}
        audiences = [one for one, packet in last.items() if not packet.cleared]
    else:
        session, audience = worker(project, pane, name, agent)
        audiences = [audience]
    gone = [cleared(session.ledger, one) for one in audiences]
    if as_json:
        told = [{"audience": one.packet.audience, "file": one.file, "ref": one.ref} for one in gone]
        print_json("context.clear", {"session": session.name, "cleared": told})
        return
    for one in gone:
        echo(plain(f"{one.packet.audience}: cleared; on record as {one.ref}"))
    if not gone:
        echo(plain(f"no packets in {session.name}"))
