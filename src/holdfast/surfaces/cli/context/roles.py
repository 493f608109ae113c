"""`holdfast context roles`: print or install the instructions for orchestrators and workers."""

import os
from pathlib import Path

import click

from holdfast.errors import NotWritten, Unreadable
from holdfast.project.integrations.files import rewrite_file
from holdfast.project.integrations.notes import decode, encode
from holdfast.surfaces.cli.options import Selection, project_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize
from holdfast.surfaces.roles import ROLES, role_text, role_variables, with_block, without_block

EXAMPLE = """\b
Examples:
  holdfast context roles                                both texts
  holdfast context roles worker --pane 1
  holdfast context roles orchestrator --install CLAUDE.md
  holdfast context roles worker --install AGENTS.md --prefix agentwire_"""


@click.command(epilog=EXAMPLE)
@click.argument("role", type=click.Choice(ROLES), required=False)
@click.option("--pane", type=click.IntRange(min=0), help="Number of the pane in the text.")
@click.option("--prefix", default="", help="Prefix of tool names in the client.")
@click.option("--install", metavar="FILE", help="Add the text to this file, or update it there.")
@click.option("--remove", metavar="FILE", help="Remove the text from this file.")
@project_options
def roles(
    selection: Selection,
    role: str | None,
    pane: int | None,
    prefix: str,
    install: str | None,
    remove: str | None,
    as_json: bool,
) -> None:
    """Print the instructions on context packets for ROLE, or add them to a file.

    In the file, the text is between two marks. A second --install updates it; the rest of the file
    is not changed.
    """
    if install and remove:
        raise click.UsageError("give --install or --remove, not both")
    spelling = role_variables(selection.project.settings.policy.layout, prefix)
    texts = {name: role_text(name, spelling, pane) for name in ([role] if role else ROLES)}
    changed = None
    if install or remove:
        changed = _rewrite_file(install or remove or "", texts, remove=bool(remove))
    if as_json:
        document = {"roles": texts, "file": install or remove, "changed": changed}
        print_json("context.roles", document)
    elif changed is None:
        echo("\n\n".join(texts.values()))
    else:
        done = "updated" if install else "removed"
        outcome = f"{done}: {', '.join(texts)}" if changed else "nothing to change"
        echo(sanitize(f"{install or remove}: {outcome}"))


def _rewrite_file(file: str, texts: dict[str, str], *, remove: bool) -> bool:
    """Add the texts to a file, or remove them; return whether the file changed.

    Raises:
        Unreadable: the file cannot be read or written, or a mark of the end is missing.
    """
    path = Path(os.path.realpath(Path(file).expanduser()))

    def change(content: bytes) -> bytes:
        text = decode(content)
        for role, block in texts.items():
            text = without_block(text, role) if remove else with_block(text, role, block)
        return encode(text)

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return rewrite_file(str(path.parent), path.name, change)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    except NotWritten as error:
        reason = error.reason
    raise Unreadable(file, f"it cannot be written ({reason})")
