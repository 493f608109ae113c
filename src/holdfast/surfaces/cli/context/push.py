"""`holdfast context push`: bring a packet up to date and hand it over again."""

import click

from holdfast.packets.records import Listed, handed
from holdfast.packets.revise import refresh
from holdfast.surfaces.cli.context.options import about, document, pane_option, worker
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import echo, plain, print_json

EXAMPLE = """\b
Examples:
  holdfast context push --pane 1
  holdfast context push --pane 1 --message "Changed to JWT per user request"
  holdfast context push --all"""


@click.command(epilog=EXAMPLE)
@click.option("-m", "--message", "why", default="", help="What the changelog says.")
@click.option("--all", "every", is_flag=True, help="Every worker's packet that was not cleared.")
@pane_option
@session_option
@project_option
@json_option
@click.pass_context
def push(
    ctx: click.Context,
    why: str,
    every: bool,
    pane: str | None,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Make a worker's packet again from where the session stands; what was edited stays.

    Where something changed, that is a new revision, and its changelog says what and why.
    """
    project = project_of(ctx, root)
    if every:
        session = project.session(name, agent)
        last = {one.packet.audience: one for one in handed(session.ledger) if one.packet.audience}
        audiences = [one for one, packet in last.items() if not packet.cleared]
    else:
        session, audience = worker(project, pane, name, agent)
        audiences = [audience]
    pushed: list[Listed] = [refresh(session.ledger, one, why=why, act="push") for one in audiences]
    if as_json:
        told = [document(session, one) for one in pushed]
        print_json("context.push", {"session": session.name, "packets": told})
        return
    for one in pushed:
        echo(plain(about(session, one)))
        if one.packet.changelog:
            echo(plain(f"  {one.packet.changelog[-1].what}"))
    if not pushed:
        echo(plain(f"no packets in {session.name}"))
