"""`holdfast recover --level` and `--full`: print a recovery level or the whole conversation."""

import click

from holdfast.core.view.levels import LEVELS
from holdfast.engine.levels import full_pages
from holdfast.models.tokenizers import counter
from holdfast.session.session import Session
from holdfast.surfaces.cli.output import echo, print_json, sanitize_for_terminal


def print_level_or_all(session: Session, number: int | None, *, as_json: bool) -> None:
    """Print a recovery level, or the whole conversation if `number` is None."""
    if number is None:
        _print_conversation(session, as_json=as_json)
    else:
        _print_level(session, number, as_json=as_json)


def _print_level(session: Session, number: int, *, as_json: bool) -> None:
    text = session.level(number)
    if not as_json:
        echo(sanitize_for_terminal(text))
        return
    document = {
        "session": session.name,
        "level": number,
        "budget": LEVELS[number],
        "tokens": counter(session.ledger.head().vocabulary)(text),
        "text": text,
    }
    print_json("recover", document)


def _print_conversation(session: Session, *, as_json: bool) -> None:
    if as_json:
        print_json(
            "recover", {"session": session.name, "text": "".join(full_pages(session.ledger))}
        )
        return
    for part in full_pages(session.ledger):
        click.echo(sanitize_for_terminal(part), nl=False)
