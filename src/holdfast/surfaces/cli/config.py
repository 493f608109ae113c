"""`holdfast config`: what is set, and where it was set."""

import click
from msgspec.structs import asdict

from holdfast.surfaces.cli.options import json_option, project_of, project_option
from holdfast.surfaces.cli.output import echo, print_json

EXAMPLE = """\b
Examples:
  holdfast config show --origin
  HOLDFAST_WINDOW=200000 holdfast config show --origin --json"""


@click.group(epilog=EXAMPLE)
def config() -> None:
    """Show what is set, and where it was set."""


@config.command(epilog=EXAMPLE)
@click.option("--origin", is_flag=True, help="Say for each value where it came from.")
@project_option
@json_option
@click.pass_context
def show(ctx: click.Context, origin: bool, root: str | None, as_json: bool) -> None:
    """Print every setting in force: flags > environment > project file > user file > defaults."""
    project = project_of(ctx, root)
    settings = project.settings.values
    if as_json:
        found = [asdict(one) for one in settings]
        print_json("config", {"root": str(project.root), "settings": found})
        return
    wide = max(len(one.name) for one in settings)
    for one in settings:
        value = ", ".join(one.value) if isinstance(one.value, tuple) else str(one.value)
        line = f"{one.name:{wide}}  {value or '-'}"
        echo(f"{line:{wide + 26}}  {one.origin}" if origin else line)
