"""`holdfast unpin`: lift a pin, or a constraint that was found in the conversation."""

import click

from holdfast.core.observe.requests.pins import matching_constraints
from holdfast.errors import NotRecorded
from holdfast.surfaces.actions import user_intent
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize
from holdfast.text.clip import and_more, clip_line

EXAMPLE = """\b
Examples:
  holdfast unpin 1f3a9c2b4d5e                       the id that `holdfast intent` prints
  holdfast unpin "Never touch the billing schema."   its text"""
MAX_CHARS_SHOWN = 60
MAX_LISTED = 3


@click.command(epilog=EXAMPLE)
@click.argument("pin")
@click.option("--all", "all_", is_flag=True, help="Lift all constraints of that entry.")
@session_options
def unpin(selection: Selection, pin: str, all_: bool, as_json: bool) -> None:
    """Lift the constraint PIN: the id of a pin or of the constraint's entry, or its text.

    The next summary no longer contains it; the ledger keeps it, marked as lifted.
    """
    session = selection.session()
    lifted = matching_constraints(user_intent(session).constraints, pin)
    if not lifted:
        raise NotRecorded("constraint", pin, where=f"session {session.name!r} that could be lifted")
    if len(lifted) > 1 and not all_:
        listed, rest = lifted[:MAX_LISTED], len(lifted) - MAX_LISTED
        several = "; ".join(clip_line(constraint.text, MAX_CHARS_SHOWN) for constraint in listed)
        more = and_more(rest)
        raise click.UsageError(
            f"{sanitize(pin)} has {len(lifted)} constraints: {sanitize(several)}{more}. "
            "Give the text of one, or --all"
        )
    session.unpin(pin if lifted[0].text == pin else lifted[0].entry)
    if as_json:
        texts = [{"ref": constraint.entry[:12], "text": constraint.text} for constraint in lifted]
        print_json("unpin", {"session": session.name, "lifted": texts})
        return
    for constraint in lifted:
        text = clip_line(constraint.text, MAX_CHARS_SHOWN)
        echo(sanitize(f"lifted {constraint.entry[:12]} in {session.name}: {text}"))
