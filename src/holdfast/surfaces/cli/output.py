"""Print results: JSON, text without control characters, colour and paging on a terminal."""

import json
import os
import sys
from collections.abc import Mapping

import click
import msgspec

from holdfast.text.jsontext import without_surrogates

COLOURS = {
    "GREEN": "green",
    "YELLOW": "yellow",
    "ORANGE": "bright_yellow",
    "RED": "red",
    "CRITICAL": "bright_red",
}


def print_json(command: str, document: Mapping[str, object]) -> None:
    """Print a JSON document with the name and version of its schema."""
    whole = {"schema": f"holdfast.{command}/1", **document}
    try:
        click.echo(msgspec.json.format(msgspec.json.encode(whole), indent=2))
    except UnicodeEncodeError:
        # Messages may contain lone surrogates, which only an escape can represent.
        click.echo(json.dumps(msgspec.to_builtins(whole), indent=2))


def is_interactive() -> bool:
    """Whether stdout is a terminal that is not dumb."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def use_colour() -> bool:
    """Whether to print colours."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or is_interactive()


def sanitize(text: str) -> str:
    """Replace control and direction characters, which could control a terminal."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def echo(text: str = "", *, err: bool = False) -> None:
    """Print a line, with colours only if `use_colour()`."""
    # No stream can encode a lone surrogate.
    click.echo(str(without_surrogates(text)), err=err, color=use_colour() or None)


def styled(text: str, *, colour: str | None = None, bold: bool = False, dim: bool = False) -> str:
    """Style a text if `use_colour()`."""
    return click.style(text, fg=colour, bold=bold, dim=dim) if use_colour() else text


def columns() -> int:
    """Return the width of the terminal; 120 if there is none."""
    from shutil import get_terminal_size

    return get_terminal_size((120, 24)).columns


def short_count(count: int) -> str:
    """Format a count in a few characters: 999, 1.2k, 34k, 1.2M."""
    if count < 1_000:
        return str(count)
    if count < 1_000_000:
        return f"{count / 1000:.1f}k" if count < 10_000 else f"{count / 1000:.0f}k"
    return f"{count / 1_000_000:.1f}M"


def page(text: str) -> None:
    """Print a text; use a pager on a terminal if it is longer than the screen."""
    from shutil import get_terminal_size

    exceeds_screen = text.count("\n") + 2 > get_terminal_size((120, 24)).lines
    if is_interactive() and exceeds_screen:
        click.echo_via_pager(text + "\n", color=use_colour() or None)
    else:
        echo(text)


def sanitize_lines(text: str) -> str:
    """Sanitize each line of a text and expand its tabs."""
    return "\n".join(sanitize(line.expandtabs(4)) for line in text.split("\n"))


def sanitize_for_terminal(text: str) -> str:
    """Sanitize a text if it goes to a terminal; a pipe gets it unchanged."""
    return sanitize_lines(text) if is_interactive() else text
