"""`holdfast run`: a quick command by the words a person says for it."""

import click

from holdfast.errors import NotUnderstood
from holdfast.surfaces.cli.options import (
    flags_of,
    json_option,
    policy_options,
    project_of,
    project_option,
    session_option,
)
from holdfast.surfaces.cli.output import echo, plain_lines, print_json
from holdfast.surfaces.commands import QUICK, spelled, understood

EXAMPLE = """\b
Examples:
  holdfast run "context status"
  holdfast run compress
  holdfast run "recover the retry loop" """


@click.command(epilog=EXAMPLE)
@click.argument("words", nargs=-1, required=True)
@session_option
@policy_options
@project_option
@json_option
@click.pass_context
def run(
    ctx: click.Context,
    words: tuple[str, ...],
    name: str | None,
    agent: str,
    model: str | None,
    window: int | None,
    profile: str | None,
    role: str | None,
    root: str | None,
    as_json: bool,
) -> None:
    """Run a quick command by its words, as any conversation may say them."""
    asked = understood(" ".join(words))
    if asked is None or (asked.command.takes and not asked.rest):
        raise NotUnderstood(" ".join(words), tuple(spelled(command) for command in QUICK))
    project = project_of(ctx, root, flags_of(model, window, profile, role))
    session = project.session(name, agent)
    text = asked.command.run(session, asked.rest)
    if as_json:
        document = {"session": session.name, "command": asked.command.name, "text": text}
        print_json("run", document)
    else:
        echo(plain_lines(text))
