"""`holdfast uninstall`: take Holdfast out of an agent again."""

import click

from holdfast.surfaces.agents.plans import agent_named
from holdfast.surfaces.agents.writing import Done, record_of, take_out
from holdfast.surfaces.cli.install import agent_argument, document_of, place_of, scope_option, tell
from holdfast.surfaces.cli.options import json_option, project_option
from holdfast.surfaces.cli.printing import print_json

EXAMPLE = """\b
Examples:
  holdfast uninstall claude-code
  holdfast uninstall codex --user --dry-run"""


@click.command(epilog=EXAMPLE)
@agent_argument
@scope_option
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@project_option
@json_option
@click.pass_context
def uninstall(
    ctx: click.Context, agent: str, scope: str, dry_run: bool, root: str | None, as_json: bool
) -> None:
    """Take Holdfast out of AGENT again.

    Files are as they were, byte for byte; where others wrote since, only our parts go. What was
    recorded stays: the ledger is yours, `holdfast purge` erases it.
    """
    place, known = place_of(ctx, root, scope), agent_named(agent)
    if dry_run:
        record = record_of(place, agent)
        files = record.files if record is not None else ()
        done = [Done(one.path, "would change") for one in reversed(files)]
    else:
        done = take_out(place, agent, known)
    if as_json:
        print_json("uninstall", document_of(agent, scope, done, dry_run=dry_run))
    else:
        tell(done, nothing=f"{agent} has no Holdfast of ours")
