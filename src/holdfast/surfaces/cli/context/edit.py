"""`holdfast context edit`: change parts of a packet by hand."""

from typing import TextIO

import click

from holdfast.core.view.packet.revise import EDITABLE
from holdfast.packets.revise import edit_packet
from holdfast.surfaces.cli.context.options import (
    find_worker,
    packet_line,
    packet_with_state,
    pane_option,
)
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize

EXAMPLE = """\b
Examples:
  holdfast context edit --pane 1 --set goal="Add JWT auth to /login only"
  holdfast context edit --pane 1 --set "decisions=RS256 — no shared secret" --set decisions=24h
  holdfast context edit --pane 1 --file pane-1.yaml   an edited copy of the packet"""


@click.command(epilog=EXAMPLE)
@click.option(
    "--set",
    "parts",
    multiple=True,
    metavar="PART=TEXT",
    help=f"Set a part; repeat the option for each row of it: {', '.join(EDITABLE)}.",
)
@click.option(
    "--file",
    type=click.File("r", encoding="utf-8"),
    help="Read the parts from an edited packet file; its checksum is ignored.",
)
@click.option("--why", default="", help="Reason for the changelog.")
@pane_option
@session_options
def edit(
    selection: Selection,
    parts: tuple[str, ...],
    file: TextIO | None,
    why: str,
    pane: str | None,
    as_json: bool,
) -> None:
    """Change parts of a worker's packet. This makes a new revision; updates keep the changes."""
    if not parts and file is None:
        raise click.UsageError("give a --set PART=TEXT or a --file")
    rows = _rows(parts)
    session, audience = find_worker(selection, pane)
    text = file.read() if file is not None else ""
    record = edit_packet(session.ledger, audience, rows, text=text, why=why)
    if as_json:
        print_json("context.edit", packet_with_state(session, record))
        return
    echo(sanitize(packet_line(session, record)))


def _rows(parts: tuple[str, ...]) -> dict[str, list[str]]:
    rows: dict[str, list[str]] = {}
    for part in parts:
        name, found, text = part.partition("=")
        if not found:
            raise click.UsageError(f"--set takes PART=TEXT, and not {part!r}")
        rows.setdefault(name.strip(), []).append(text)
    return rows
