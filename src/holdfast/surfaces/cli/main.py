"""The entry point of `holdfast`: run a command; turn errors into a message and an exit code."""

import os
import sys
from collections.abc import Sequence

import click

from holdfast import __version__
from holdfast.core.faults import collecting
from holdfast.engine.fault_log import new_faults
from holdfast.errors import HoldfastError
from holdfast.surfaces import commands
from holdfast.surfaces.cli.groups import LazyGroup
from holdfast.surfaces.cli.output import echo, sanitize

COMMANDS = {command.name: command.about for command in commands.COMMANDS}
"""Help line by command; each command is in the module of its name."""


class MainGroup(LazyGroup):
    """The group of all commands."""

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; exit without a message if the reader closes the pipe."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            raise click.exceptions.Exit(_discard_output()) from None
        return result


@click.command(
    cls=MainGroup,
    package="holdfast.surfaces.cli",
    about=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example:  holdfast ingest && holdfast status",
)
@click.option(
    "--root",
    metavar="FOLDER",
    help="Project folder; default: HOLDFAST_ROOT, else the git top level.",
)
@click.version_option(__version__, "-V", "--version", prog_name="holdfast")
@click.pass_context
def cli(ctx: click.Context, root: str | None) -> None:
    """Keep an agent's context small without losing anything."""
    ctx.obj = root


def main(argv: Sequence[str] | None = None) -> None:
    """Run a command and exit with its exit code."""
    try:
        with collecting(new_faults()) as faults:
            code = cli.main(argv, prog_name="holdfast", standalone_mode=False)
        for fault in faults.found:
            echo(
                sanitize(f"holdfast: {fault.rule} failed and was left out: {fault.error}"), err=True
            )
    except click.exceptions.Abort:
        code = 130
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except HoldfastError as error:
        echo(sanitize(f"holdfast: {error}"), err=True)
        code = error.exit_code
    except PermissionError as error:
        echo(sanitize(f"holdfast: {error.filename}: {(error.strerror or '').lower()}"), err=True)
        code = 77  # EX_NOPERM
    except Exception as error:
        # Users get one sentence and an exit code; a traceback helps only developers.
        if os.environ.get("HOLDFAST_DEBUG"):
            raise
        echo(
            f"holdfast: this should not have happened ({type(error).__name__}: {error}); "
            "set HOLDFAST_DEBUG=1 to see where",
            err=True,
        )
        code = 70
    sys.exit(code if isinstance(code, int) else 0)


def _discard_output() -> int:
    """Redirect stdout to /dev/null after the reader closed the pipe (`| head`); return the code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141
