"""`holdfast context roles`: what orchestrators and workers are told, printed or put into a file."""

import os
from pathlib import Path

import click

from holdfast.errors import NotWritten, Unreadable
from holdfast.project.integrations.files import rewrite
from holdfast.project.integrations.notes import decoded, encoded
from holdfast.surfaces.cli.options import json_option, project_of, project_option
from holdfast.surfaces.cli.output import echo, plain, print_json
from holdfast.surfaces.roles import ROLES, role_text, spelling_of, with_block, without_block

EXAMPLE = """\b
Examples:
  holdfast context roles                                both texts
  holdfast context roles worker --pane 1
  holdfast context roles orchestrator --install CLAUDE.md
  holdfast context roles worker --install AGENTS.md --prefix agentwire_"""


@click.command(epilog=EXAMPLE)
@click.argument("role", type=click.Choice(ROLES), required=False)
@click.option("--pane", type=click.IntRange(min=0), help="The pane that the text names.")
@click.option("--prefix", default="", help="What the client puts before the names of tools.")
@click.option("--install", metavar="FILE", help="Put it into this file, once; or bring it up.")
@click.option("--remove", metavar="FILE", help="Take it out of this file again.")
@project_option
@json_option
@click.pass_context
def roles(
    ctx: click.Context,
    role: str | None,
    pane: int | None,
    prefix: str,
    install: str | None,
    remove: str | None,
    root: str | None,
    as_json: bool,
) -> None:
    """Print what a ROLE is told about context packets, or put it into a file of instructions.

    The text stands there between two marks: doing it again brings it up to date, and everything
    else in the file is left alone.
    """
    if install and remove:
        raise click.UsageError("give --install or --remove, not both")
    spelling = spelling_of(project_of(ctx, root).settings.policy.layout, prefix)
    texts = {name: role_text(name, spelling, pane) for name in ([role] if role else ROLES)}
    changed = None
    if install or remove:
        changed = _changed(install or remove or "", texts, remove=bool(remove))
    if as_json:
        document = {"roles": texts, "file": install or remove, "changed": changed}
        print_json("context.roles", document)
    elif changed is None:
        echo("\n\n".join(texts.values()))
    else:
        done = "brought up to date" if install else "taken out"
        told = f"{done}: {', '.join(texts)}" if changed else "nothing to change"
        echo(plain(f"{install or remove}: {told}"))


def _changed(file: str, texts: dict[str, str], *, remove: bool) -> bool:
    """Put the texts into a file, or take them out; whether anything was different.

    Raises:
        Unreadable: it cannot be read or written, or a block of ours in it was never ended.
    """
    path = Path(os.path.realpath(Path(file).expanduser()))

    def change(content: bytes) -> bytes:
        text = decoded(content)
        for role, block in texts.items():
            text = without_block(text, role) if remove else with_block(text, role, block)
        return encoded(text)

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return rewrite(str(path.parent), path.name, change)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    except NotWritten as error:
        reason = error.reason
    raise Unreadable(file, f"it cannot be written ({reason})")
