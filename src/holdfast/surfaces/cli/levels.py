"""`holdfast recover --level` and `--full`: where the work stands, or all that was said."""

import click

from holdfast.core.view.levels import LEVELS
from holdfast.engine.levels import full
from holdfast.models.tokenizers import counter
from holdfast.session.session import Session
from holdfast.surfaces.cli.output import echo, exact, print_json


def give(session: Session, number: int | None, *, as_json: bool) -> None:
    """Print a level, or all that was said when no level is meant."""
    if number is None:
        _give_all(session, as_json=as_json)
    else:
        _give_level(session, number, as_json=as_json)


def _give_level(session: Session, number: int, *, as_json: bool) -> None:
    """Print a level, in its tokens."""
    text = session.level(number)
    if not as_json:
        echo(exact(text))
        return
    document = {
        "session": session.name,
        "level": number,
        "budget": LEVELS[number],
        "tokens": counter(session.ledger.head().vocabulary)(text),
        "text": text,
    }
    print_json("recover", document)


def _give_all(session: Session, *, as_json: bool) -> None:
    """Print the whole conversation, as it is read."""
    if as_json:
        print_json("recover", {"session": session.name, "text": "".join(full(session.ledger))})
        return
    for part in full(session.ledger):
        click.echo(exact(part), nl=False)
