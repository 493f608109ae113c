"""`holdfast completion`: what a shell needs to complete our commands."""

import click
from click.shell_completion import get_completion_class

EXAMPLE = """\b
Examples:
  eval "$(holdfast completion bash)"                      in ~/.bashrc
  holdfast completion fish > ~/.config/fish/completions/holdfast.fish"""


@click.command(epilog=EXAMPLE)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a completion script for a shell."""
    made = get_completion_class(shell)
    assert made is not None
    root = ctx.find_root().command
    click.echo(made(root, {}, "holdfast", "_HOLDFAST_COMPLETE").source())
