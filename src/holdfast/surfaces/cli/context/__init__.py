"""`holdfast context`: create, read, revise and evaluate context packets for workers."""

import click

from holdfast.surfaces.cli.groups import LazyGroup

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


@click.group(cls=LazyGroup, package=__name__, about=COMMANDS, epilog=EXAMPLE)
def context() -> None:
    """Create and manage context packets: what a worker needs for a task, in 100 to 800 tokens."""
