"""`holdfast run`: run a quick command by its chat phrase."""

import click

from holdfast.errors import NotUnderstood
from holdfast.surfaces.cli.options import Selection, policy_options, project_options, session_option
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
@project_options
def run(selection: Selection, words: tuple[str, ...], as_json: bool) -> None:
    """Run the quick command that WORDS name, as in a prompt to an agent."""
    parsed = parse_quick_command(" ".join(words))
    if parsed is None or (parsed.command.argument and not parsed.rest):
        raise NotUnderstood(" ".join(words), tuple(usage_of(command) for command in QUICK))
    session = selection.session()
    text = parsed.command.run(session, parsed.rest)
    if as_json:
        document = {"session": session.name, "command": parsed.command.name, "text": text}
        print_json("run", document)
    else:
        echo(sanitize_lines(text))
