"""`holdfast uninstall`: remove Holdfast from an agent."""

import click

from holdfast.errors import NotRecorded
from holdfast.surfaces.cli.install import (
    InstallResult,
    agent_argument,
    exit_if_failed,
    place_of,
    print_agent_heading,
    print_files,
    results_document,
    scope_option,
)
from holdfast.surfaces.cli.options import Selection, project_options
from holdfast.surfaces.cli.output import print_json
from holdfast.surfaces.install.apply import FileChange, read_record, undo_installation
from holdfast.surfaces.install.detect import FoundAgent, for_each_agent
from holdfast.surfaces.install.plan import AGENT_MODULES, PROJECT, InstallTarget, installer_for

EXAMPLE = """\b
Examples:
  holdfast uninstall                       remove it from every agent, in this project
  holdfast uninstall claude-code
  holdfast uninstall codex --user --dry-run"""


@click.command(epilog=EXAMPLE)
@agent_argument
@scope_option
@click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
@project_options
def uninstall(
    selection: Selection, agent: str | None, scope: str, dry_run: bool, as_json: bool
) -> None:
    """Remove Holdfast from AGENT, or from every agent that has it.

    Changed files get their original bytes back; if a file was changed since, only Holdfast's parts
    are removed. The ledger stays; `holdfast purge` erases recorded sessions.
    """
    place = place_of(selection, scope)

    def act(name: str) -> InstallResult:
        return _uninstall(name, place, dry_run=dry_run)

    if agent is not None:
        result_of_agent = act(agent)
        if as_json:
            print_json("uninstall", result_of_agent.document(dry_run=dry_run))
        else:
            print_files(result_of_agent.files, nothing=f"Holdfast is not installed in {agent}")
        return
    found = _agents_with_holdfast(place)
    done = for_each_agent([candidate.agent for candidate in found], act)
    if as_json:
        print_json("uninstall", results_document(found, done, scope, dry_run=dry_run))
    else:
        for result in done:
            print_agent_heading(found, result.agent)
            if isinstance(result, InstallResult):
                print_files(result.files, nothing="nothing to remove")
    exit_if_failed(done)


def _uninstall(agent: str, place: InstallTarget, *, dry_run: bool) -> InstallResult:
    if not dry_run:
        return InstallResult(
            agent, place.scope, undo_installation(place, agent, installer_for(agent))
        )
    record = read_record(place, agent)
    files = record.files if record is not None else ()
    return InstallResult(
        agent, place.scope, [FileChange(file.path, "would change") for file in reversed(files)]
    )


def _agents_with_holdfast(place: InstallTarget) -> list[FoundAgent]:
    """Return the agents that have Holdfast, according to the records of `holdfast install`.

    Raises:
        NotRecorded: no agent has it.
    """
    names = [agent for agent in AGENT_MODULES if read_record(place, agent) is not None]
    if not names:
        scope = "this project" if place.scope == PROJECT else "your home"
        raise NotRecorded("agent with Holdfast", "", where=scope)
    return [FoundAgent(agent, str(place.record_folder), place.scope) for agent in names]
