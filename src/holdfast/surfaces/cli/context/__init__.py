"""`holdfast context`: packets for workers. Each command below it lives in a module of its name."""

from importlib import import_module

import click

COMMANDS = {
    "generate": "make a packet for a task",
    "preview": "show what a worker would get",
    "read": "read your packet, as its worker",
    "feedback": "report on your packet, or see what was reported",
    "query": "ask what was decided",
    "edit": "write parts of a packet by hand",
    "push": "bring a packet up to date and hand it over again",
    "diff": "tell what changed between two revisions",
    "history": "show how decisions and packets evolved",
    "graph": "show the decisions of all sessions",
    "stats": "tell what packets were worth",
    "tune": "change what packets are made of, by the record",
    "clear": "take a packet's file away; the record stays",
    "roles": "what orchestrators and workers are told about packets",
}
"""Every command and what it is for; each lives in a module of its name in this folder."""

EXAMPLE = """\b
Examples:
  holdfast context generate "Add JWT auth" --depth standard --pane 1
  holdfast context read --pane 1
  holdfast context clear --pane 1"""


class Commands(click.Group):
    """Loads a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        if cmd_name not in COMMANDS:
            return None
        return getattr(import_module(f"{__name__}.{cmd_name}"), cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, made without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, epilog=EXAMPLE)
def context() -> None:
    """Hand a worker what it needs for a task, in a packet of 100, 400 or 800 tokens."""
