"""`holdfast pin`: words that stay in sight whatever leaves."""

import click

from holdfast.core.ledger.entry import Derived, text_of
from holdfast.core.view.conversation import opening
from holdfast.errors import NotRecorded
from holdfast.session.session import Session
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import echo, plain, print_json

EXAMPLE = """\b
Examples:
  holdfast pin "Never touch the billing schema."
  holdfast pin --ref 1f3a9c2b4d5e              all that was said there"""
SHOWN = 60


@click.command(epilog=EXAMPLE)
@click.argument("text", required=False)
@click.option("--ref", help="Pin what this entry says: the beginning of its id, or #NUMBER.")
@session_option
@project_option
@json_option
@click.pass_context
def pin(
    ctx: click.Context,
    text: str | None,
    ref: str | None,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Pin TEXT, or what the entry --ref says: every summary carries it, word for word.

    A pin is a constraint of the user's. `holdfast intent` lists them, `holdfast unpin` lifts them.
    """
    if (text is None) == (ref is None):
        raise click.UsageError("give a TEXT or a --ref")
    session = project_of(ctx, root).session(name, agent)
    words = text if text is not None else _words(session, ref or "")
    if not words.strip():
        raise click.UsageError("there are no words to pin")
    made = session.pin(words)[:12]
    if as_json:
        shown = session.ledger.redactor.text(words)
        print_json("pin", {"session": session.name, "pin": made, "text": shown})
        return
    shown = opening(session.ledger.redactor.text(words), SHOWN)
    echo(plain(f"pinned {made} in {session.name}: {shown}"))
    echo(f"lift it: holdfast unpin {made}")


def _words(session: Session, ref: str) -> str:
    entry = session.ledger.find(ref)
    if isinstance(entry.body, Derived):
        raise NotRecorded("words", "", where=f"entry {ref!r}")
    return text_of(entry.body)
