"""`holdfast run`: run a quick command by its chat phrase."""

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
from holdfast.surfaces.cli.output import echo, print_json, sanitize_lines
from holdfast.surfaces.commands import QUICK, parse_quick_command, usage_of

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
    """Run the quick command that WORDS name, as in a prompt to an agent."""
    parsed = parse_quick_command(" ".join(words))
    if parsed is None or (parsed.command.argument and not parsed.rest):
        raise NotUnderstood(" ".join(words), tuple(usage_of(command) for command in QUICK))
    project = project_of(ctx, root, flags_of(model, window, profile, role))
    session = project.session(name, agent)
    text = parsed.command.run(session, parsed.rest)
    if as_json:
        document = {"session": session.name, "command": parsed.command.name, "text": text}
        print_json("run", document)
    else:
        echo(sanitize_lines(text))
