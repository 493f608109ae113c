"""`holdfast uninstall`: take Holdfast out of an agent again."""

import click

from holdfast.errors import NotRecorded
from holdfast.surfaces.cli.install import (
    Did,
    agent_argument,
    all_of,
    end,
    place_of,
    scope_option,
    tell,
    tell_found,
)
from holdfast.surfaces.cli.options import json_option, project_option
from holdfast.surfaces.cli.output import print_json
from holdfast.surfaces.install.apply import Done, record_of, take_out
from holdfast.surfaces.install.detect import Found, each
from holdfast.surfaces.install.plan import AGENTS, PROJECT, Place, agent_named

EXAMPLE = """\b
Examples:
  holdfast uninstall                       out of every agent that has it, in this project
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
    ctx: click.Context,
    agent: str | None,
    scope: str,
    dry_run: bool,
    root: str | None,
    as_json: bool,
) -> None:
    """Take Holdfast out of AGENT again; without AGENT, out of every agent that has it.

    Files are as they were, byte for byte; where others wrote since, only our parts go. What was
    recorded stays: the ledger is yours, `holdfast purge` erases it.
    """
    place = place_of(ctx, root, scope)

    def act(name: str) -> Did:
        return _uninstall(name, place, dry_run=dry_run)

    if agent is not None:
        did = act(agent)
        if as_json:
            print_json("uninstall", did.document(dry_run=dry_run))
        else:
            tell(did.files, nothing=f"{agent} has no Holdfast of ours")
        return
    found = _having(place)
    done = each([one.agent for one in found], act)
    if as_json:
        print_json("uninstall", all_of(found, done, scope, dry_run=dry_run))
    else:
        for one in done:
            tell_found(found, one.agent)
            if isinstance(one, Did):
                tell(one.files, nothing="nothing to take out")
    end(done)


def _uninstall(agent: str, place: Place, *, dry_run: bool) -> Did:
    if not dry_run:
        return Did(agent, place.scope, take_out(place, agent, agent_named(agent)))
    record = record_of(place, agent)
    files = record.files if record is not None else ()
    return Did(agent, place.scope, [Done(one.path, "would change") for one in reversed(files)])


def _having(place: Place) -> list[Found]:
    """The agents that have Holdfast: by what was written down when it was put in.

    Raises:
        NotRecorded: there is none.
    """
    having = [agent for agent in AGENTS if record_of(place, agent) is not None]
    if not having:
        scope = "this project" if place.scope == PROJECT else "your home"
        raise NotRecorded("agent with Holdfast", "", where=scope)
    return [Found(agent, str(place.kept), place.scope) for agent in having]
