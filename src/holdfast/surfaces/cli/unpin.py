"""`holdfast unpin`: lift what was pinned, or a constraint that was read from the conversation."""

import click

from holdfast.core.view.conversation import opening
from holdfast.core.view.summary import meant
from holdfast.errors import NotRecorded
from holdfast.surfaces.actions import asked_in
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import echo, plain, print_json

EXAMPLE = """\b
Examples:
  holdfast unpin 1f3a9c2b4d5e                       as `holdfast intent` names it
  holdfast unpin "Never touch the billing schema."   by its words"""
SHOWN = 60
LISTED = 3


@click.command(epilog=EXAMPLE)
@click.argument("pin")
@click.option("--all", "all_", is_flag=True, help="Lift everything that was said in that entry.")
@session_option
@project_option
@json_option
@click.pass_context
def unpin(
    ctx: click.Context,
    pin: str,
    all_: bool,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Lift PIN: the name of a pin or of the entry that a constraint was said in, or its words.

    The next summary does not carry it any more; the ledger keeps it, marked as lifted.
    """
    session = project_of(ctx, root).session(name, agent)
    lifted = meant(asked_in(session).constraints, pin)
    if not lifted:
        raise NotRecorded("constraint", pin, where=f"session {session.name!r} that could be lifted")
    if len(lifted) > 1 and not all_:
        several = "; ".join(opening(one.text, SHOWN) for one in lifted[:LISTED])
        more = f" and {len(lifted) - LISTED} more" if len(lifted) > LISTED else ""
        raise click.UsageError(
            f"{plain(pin)} says {len(lifted)} things: {plain(several)}{more}. "
            "Give the words of one, or --all"
        )
    session.unpin(pin if lifted[0].text == pin else lifted[0].entry)
    if as_json:
        texts = [{"ref": one.entry[:12], "text": one.text} for one in lifted]
        print_json("unpin", {"session": session.name, "lifted": texts})
        return
    for one in lifted:
        echo(plain(f"lifted {one.entry[:12]} in {session.name}: {opening(one.text, SHOWN)}"))
