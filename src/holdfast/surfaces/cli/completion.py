"""`holdfast completion`: print the completion script of a shell."""

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
    """Print the completion script for SHELL."""
    completion_class = get_completion_class(shell)
    assert completion_class is not None
    root = ctx.find_root().command
    click.echo(completion_class(root, {}, "holdfast", "_HOLDFAST_COMPLETE").source())
