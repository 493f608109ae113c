"""`holdfast pin`: keep a text word for word in every summary."""

import click

from holdfast.core.ledger.entry import Derived, text_of
from holdfast.errors import NotRecorded
from holdfast.session.session import Session
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize
from holdfast.text.clip import clip_line

EXAMPLE = """\b
Examples:
  holdfast pin "Never touch the billing schema."
  holdfast pin --ref 1f3a9c2b4d5e              pin the text of this entry"""
MAX_CHARS_SHOWN = 60


@click.command(epilog=EXAMPLE)
@click.argument("text", required=False)
@click.option("--ref", help="Pin the text of this entry: the beginning of its id, or #NUMBER.")
@session_options
def pin(selection: Selection, text: str | None, ref: str | None, as_json: bool) -> None:
    """Pin TEXT, or the text of the entry --ref: every summary contains it word for word.

    A pin is a constraint of the user. `holdfast intent` lists pins, `holdfast unpin` lifts them.
    """
    if (text is None) == (ref is None):
        raise click.UsageError("give a TEXT or a --ref")
    session = selection.session()
    words = text if text is not None else _text_of_entry(session, ref or "")
    if not words.strip():
        raise click.UsageError("the text to pin is empty")
    pin_id = session.pin(words)[:12]
    if as_json:
        shown = session.ledger.redactor.text(words)
        print_json("pin", {"session": session.name, "pin": pin_id, "text": shown})
        return
    shown = clip_line(session.ledger.redactor.text(words), MAX_CHARS_SHOWN)
    echo(sanitize(f"pinned {pin_id} in {session.name}: {shown}"))
    echo(f"lift it: holdfast unpin {pin_id}")


def _text_of_entry(session: Session, ref: str) -> str:
    entry = session.ledger.find(ref)
    if isinstance(entry.body, Derived):
        raise NotRecorded("words", "", where=f"entry {ref!r}")
    return text_of(entry.body)
