"""`holdfast config`: show the settings and where each is set."""

import click
from msgspec.structs import asdict

from holdfast.surfaces.cli.options import Selection, project_options
from holdfast.surfaces.cli.output import echo, print_json

EXAMPLE = """\b
Examples:
  holdfast config show --origin
  HOLDFAST_WINDOW=200000 holdfast config show --origin --json"""


@click.group(epilog=EXAMPLE)
def config() -> None:
    """Show the settings and where each is set."""


@config.command(epilog=EXAMPLE)
@click.option("--origin", is_flag=True, help="Show where each value is set.")
@project_options
def show(selection: Selection, origin: bool, as_json: bool) -> None:
    """Print all settings in force: flags > environment > project file > user file > defaults."""
    project = selection.project
    settings = project.settings.values
    if as_json:
        found = [asdict(setting) for setting in settings]
        print_json("config", {"root": str(project.root), "settings": found})
        return
    width = max(len(setting.name) for setting in settings)
    for setting in settings:
        value = ", ".join(setting.value) if isinstance(setting.value, tuple) else str(setting.value)
        line = f"{setting.name:{width}}  {value or '-'}"
        echo(f"{line:{width + 26}}  {setting.origin}" if origin else line)
