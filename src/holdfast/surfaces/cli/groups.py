"""Groups of commands whose modules are imported when a command is called."""

from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A group with a module for each command, of the command's name."""

    def __init__(self, *args: Any, package: str, about: dict[str, str], **kwargs: Any) -> None:
        """Make a group of the modules of a package; `about` has the help line of each command."""
        super().__init__(*args, **kwargs)
        self._package, self._about = package, about

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the table."""
        return list(self._about)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, or None if there is none of that name."""
        if cmd_name not in self._about:
            return None
        return getattr(import_module(f"{self._package}.{cmd_name}"), cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._about.items()))
