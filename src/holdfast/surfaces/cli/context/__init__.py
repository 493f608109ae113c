"""`holdfast context`: create, read, revise and evaluate context packets for workers."""

from importlib import import_module

import click

COMMANDS = {
    "generate": "create a packet for a task",
    "preview": "print a packet without recording that it was read",
    "read": "print your packet, as its worker",
    "feedback": "report on your packet, or list all reports",
    "query": "answer a question from the recorded decisions",
    "edit": "change parts of a packet by hand",
    "push": "update a packet and write its file again",
    "diff": "show what changed between two revisions of a packet",
    "history": "show how decisions and packets changed over time",
    "graph": "show the decisions of all sessions and their relations",
    "stats": "show statistics of packets and task results",
    "tune": "adjust depth, budget and order of packets to the reports",
    "clear": "delete a packet's file; its record stays",
    "roles": "print or install the instructions for orchestrators and workers",
}
"""Help line by command; each command is in the module of its name in this folder."""

EXAMPLE = """\b
Examples:
  holdfast context generate "Add JWT auth" --depth standard --pane 1
  holdfast context read --pane 1
  holdfast context clear --pane 1"""


class ContextGroup(click.Group):
    """A group that imports the module of a command when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, or None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        return getattr(import_module(f"{__name__}.{cmd_name}"), cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=ContextGroup, epilog=EXAMPLE)
def context() -> None:
    """Create and manage context packets: what a worker needs for a task, in 100 to 800 tokens."""
