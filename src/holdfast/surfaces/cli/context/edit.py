"""`holdfast context edit`: the orchestrator writes parts of a packet by hand."""

from typing import TextIO

import click

from holdfast.core.view.packet.revise import EDITABLE
from holdfast.packets.revise import edit as edited
from holdfast.surfaces.cli.context.options import about, document, pane_option, worker
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import echo, plain, print_json

EXAMPLE = """\b
Examples:
  holdfast context edit --pane 1 --set goal="Add JWT auth to /login only"
  holdfast context edit --pane 1 --set "decisions=RS256 — no shared secret" --set decisions=24h
  holdfast context edit --pane 1 --file pane-1.yaml   a copy of the packet that you rewrote"""


@click.command(epilog=EXAMPLE)
@click.option(
    "--set",
    "parts",
    multiple=True,
    metavar="PART=TEXT",
    help=f"A part and its text; once a row: {', '.join(EDITABLE)}.",
)
@click.option(
    "--file",
    type=click.File("r", encoding="utf-8"),
    help="A packet whose parts were rewritten; its checksum need not hold.",
)
@click.option("--why", default="", help="What the changelog says.")
@pane_option
@session_option
@project_option
@json_option
@click.pass_context
def edit(
    ctx: click.Context,
    parts: tuple[str, ...],
    file: TextIO | None,
    why: str,
    pane: str | None,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Write parts of a worker's packet: it becomes a new revision, and a refresh leaves them."""
    if not parts and file is None:
        raise click.UsageError("give a --set PART=TEXT or a --file")
    rows = _rows(parts)
    session, audience = worker(project_of(ctx, root), pane, name, agent)
    text = file.read() if file is not None else ""
    one = edited(session.ledger, audience, rows, text=text, why=why)
    if as_json:
        print_json("context.edit", document(session, one))
        return
    echo(plain(about(session, one)))


def _rows(parts: tuple[str, ...]) -> dict[str, list[str]]:
    rows: dict[str, list[str]] = {}
    for part in parts:
        name, found, text = part.partition("=")
        if not found:
            raise click.UsageError(f"--set takes PART=TEXT, and not {part!r}")
        rows.setdefault(name.strip(), []).append(text)
    return rows
