"""How things are printed: JSON for programs, plain text for pipes, colour for people."""

import json
import os
import sys
from collections.abc import Mapping

import click
import msgspec

from holdfast.text.jsontext import cleaned

COLOURS = {
    "GREEN": "green",
    "YELLOW": "yellow",
    "ORANGE": "bright_yellow",
    "RED": "red",
    "CRITICAL": "bright_red",
}


def print_json(command: str, document: Mapping[str, object]) -> None:
    """One document, with the name and version of its shape."""
    whole = {"schema": f"holdfast.{command}/1", **document}
    try:
        click.echo(msgspec.json.format(msgspec.json.encode(whole), indent=2))
    except UnicodeEncodeError:
        # A session's own messages may hold half a letter, which only an escape can spell.
        click.echo(json.dumps(msgspec.to_builtins(whole), indent=2))


def for_a_person() -> bool:
    """Whether a person is looking: a terminal, and nobody asked for plain text."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def in_colour() -> bool:
    """Whether colour is welcome."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or for_a_person()


def plain(text: str) -> str:
    """Text from a session as a terminal may have it: no escape codes, no tricks with direction."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def echo(text: str = "", *, err: bool = False) -> None:
    """Print a line; colours stay where they are welcome, whatever the stream looks like."""
    # No stream takes half a letter.
    click.echo(str(cleaned(text)), err=err, color=in_colour() or None)


def styled(text: str, *, colour: str | None = None, bold: bool = False, dim: bool = False) -> str:
    """Text in a style, where styles are welcome."""
    return click.style(text, fg=colour, bold=bold, dim=dim) if in_colour() else text


def columns() -> int:
    """How wide the terminal is; wide enough for a table when there is none."""
    from shutil import get_terminal_size

    return get_terminal_size((120, 24)).columns


def short(count: int) -> str:
    """A count as a person says it: 999, 1.2k, 34k, 1.2M."""
    if count < 1_000:
        return str(count)
    if count < 1_000_000:
        return f"{count / 1000:.1f}k" if count < 10_000 else f"{count / 1000:.0f}k"
    return f"{count / 1_000_000:.1f}M"


def page(text: str) -> None:
    """Print a text; a person who has a screen of it or more gets a pager."""
    from shutil import get_terminal_size

    long = text.count("\n") + 2 > get_terminal_size((120, 24)).lines
    if for_a_person() and long:
        click.echo_via_pager(text + "\n", color=in_colour() or None)
    else:
        echo(text)


def plain_lines(text: str) -> str:
    """A text of several lines as a terminal may have it."""
    return "\n".join(plain(line.expandtabs(4)) for line in text.split("\n"))


def exact(text: str) -> str:
    """Words of a session: as they are for a pipe; a terminal is not to obey what stands in them."""
    return plain_lines(text) if for_a_person() else text
