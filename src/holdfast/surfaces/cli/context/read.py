"""`holdfast context read`: a worker reads its packet, and that it did is put on record."""

import click

from holdfast.core.view.packet.document import nested
from holdfast.packets.read import take
from holdfast.packets.records import found
from holdfast.packets.revise import staleness
from holdfast.surfaces.cli.context.options import (
    format_option,
    layers_of,
    pane_option,
    shown,
    worker,
)
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import echo, exact, plain, print_json

EXAMPLE = """\b
Examples:
  holdfast context read --pane 1
  HOLDFAST_PANE=1 holdfast context read            the worker that this environment names
  holdfast context read --pane 1 --layers 2        only what was decided"""


@click.command(epilog=EXAMPLE)
@pane_option
@click.option("--layers", metavar="2,3", help="Only these layers, when more is needed.")
@format_option
@session_option
@project_option
@json_option
@click.pass_context
def read(
    ctx: click.Context,
    pane: str | None,
    layers: str | None,
    form: str | None,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Read your packet: what to do, what binds you, what was decided, and what was tried.

    A file that is not what was handed over is refused, with what differs.
    """
    session, audience = worker(project_of(ctx, root), pane, name, agent)
    packet = take(session.ledger, audience, layers=layers_of(layers))
    stale = staleness(session.ledger, found(session.ledger, audience).packet)
    if as_json:
        told = {"session": session.name, "audience": audience, "revision": packet.revision}
        body = {"stale": stale, "packet": nested(packet), "prompt": packet.to_prompt()}
        print_json("context.read", {**told, **body})
        return
    echo(exact(shown(packet, form or "prompt")))
    if stale:
        ask = "`holdfast context push` brings it up to date"
        echo(plain(f"holdfast: this packet is stale: {stale}; {ask}"), err=True)
