"""`holdfast install`: add Holdfast to an installed agent."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click
from msgspec import Struct, to_builtins

from holdfast.surfaces.cli.options import Selection, project_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize, styled
from holdfast.surfaces.install.apply import FileChange, apply_plan, pending_edits
from holdfast.surfaces.install.detect import AgentFailure, FoundAgent, find_agents, for_each_agent
from holdfast.surfaces.install.plan import (
    AGENT_MODULES,
    PROJECT,
    USER,
    InstallTarget,
    installer_for,
)

EXAMPLE = """\b
Examples:
  holdfast install                         add it to every installed agent, for this project
  holdfast install claude-code             add it to one agent
  holdfast install codex --user            for all your projects
  holdfast install gemini --dry-run        show what would change"""

OWN_FOLDER = "holdfast/agents/"
"""Folder of files that only Holdfast uses: they are printed as one line."""

F = TypeVar("F", bound=Callable[..., object])


def agent_argument(command: F) -> F:
    """Add the optional argument AGENT."""
    return click.argument("agent", required=False, type=click.Choice(list(AGENT_MODULES)))(command)


def scope_option(command: F) -> F:
    """Add `--project` and `--user`, which choose the settings to change."""
    mine = click.option("--user", "scope", flag_value=USER, help="For all projects of the user.")
    here = click.option(
        "--project",
        "scope",
        flag_value=PROJECT,
        default=PROJECT,
        help="For this project only (default).",
    )
    return here(mine(command))


def place_of(selection: Selection, scope: str) -> InstallTarget:
    """Return the place of the agent settings to read or change."""
    home = Path(os.environ.get("HOME") or Path.home())
    return InstallTarget(selection.project.root, scope, home, dict(os.environ))


@click.command(epilog=EXAMPLE)
@agent_argument
@scope_option
@click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
@project_options
def install(
    selection: Selection, agent: str | None, scope: str, dry_run: bool, as_json: bool
) -> None:
    """Add Holdfast to AGENT: hooks, tools, commands and instructions.

    Without AGENT, Holdfast is added to every installed agent: an agent whose program is on the PATH
    or whose settings are in your home folder or in the project. Other settings are left unchanged,
    each changed file is backed up, and `holdfast uninstall` restores the original bytes. A second
    run changes nothing.
    """
    place = place_of(selection, scope)

    def act(name: str) -> InstallResult:
        return _install(name, place, dry_run=dry_run)

    if agent is not None:
        result_of_agent = act(agent)
        if as_json:
            print_json("install", result_of_agent.document(dry_run=dry_run))
        else:
            _print_install(result_of_agent, dry_run=dry_run)
        return
    found = find_agents(place)
    done = for_each_agent([candidate.agent for candidate in found], act)
    if as_json:
        print_json("install", results_document(found, done, scope, dry_run=dry_run))
    else:
        for result in done:
            print_agent_heading(found, result.agent)
            if isinstance(result, InstallResult):
                _print_install(result, dry_run=dry_run)
    exit_if_failed(done)


class InstallResult(Struct, frozen=True):
    """The files that were changed for one agent."""

    agent: str
    scope: str
    files: list[FileChange]
    notes: tuple[str, ...] = ()

    def document(self, *, dry_run: bool) -> dict[str, object]:
        """Return the result for `--json`."""
        return {
            "agent": self.agent,
            "scope": self.scope,
            "dry_run": dry_run,
            "files": to_builtins(self.files),
            "notes": list(self.notes),
        }


def _install(agent: str, place: InstallTarget, *, dry_run: bool) -> InstallResult:
    installer = installer_for(agent)
    plan = installer.plan(place)
    pending_files = [
        FileChange(str(edit.path), "would change", edit.about) for edit in pending_edits(plan)
    ]
    done = pending_files if dry_run else apply_plan(plan, place, installer)
    return InstallResult(agent, place.scope, done, plan.notes)


def _print_install(result: InstallResult, *, dry_run: bool) -> None:
    print_files(result.files, nothing=f"{result.agent} has Holdfast already")
    for note in result.notes if result.files else ():
        echo(sanitize(note))
    if result.files and not dry_run:
        user = "" if result.scope == PROJECT else " --user"
        echo(sanitize(f"try it: holdfast doctor {result.agent}{user}"))


def print_agent_heading(found: Sequence[FoundAgent], agent: str) -> None:
    """Print the name of an agent and where it was found."""
    where = next((candidate.where for candidate in found if candidate.agent == agent), "")
    echo(f"{styled(agent, bold=True)}  {styled(sanitize(f'found: {where}'), dim=True)}")


def results_document(
    found: Sequence[FoundAgent],
    done: Sequence[InstallResult | AgentFailure],
    scope: str,
    *,
    dry_run: bool,
) -> dict[str, object]:
    """Return the results of all agents for `--json`."""
    documents = [
        result.document(dry_run=dry_run) for result in done if isinstance(result, InstallResult)
    ]
    errors = [to_builtins(result) for result in done if isinstance(result, AgentFailure)]
    return {"scope": scope, "found": to_builtins(found), "agents": documents, "errors": errors}


def exit_if_failed(done: Sequence[object]) -> None:
    """Print the failures and exit with the code of the last one, if there are any."""
    failed = [result for result in done if isinstance(result, AgentFailure)]
    for failure in failed:
        echo(sanitize(f"holdfast: {failure.agent}: {failure.error}"), err=True)
    if failed:
        raise click.exceptions.Exit(failed[-1].code)


def print_files(done: list[FileChange], *, nothing: str) -> None:
    """Print one line per changed file; files of Holdfast's own folder share a line."""
    for group in _group_own_files(done):
        first = group[0]
        where = os.path.commonpath([file.path for file in group])
        many = f"{len(group)} files" if len(group) > 1 else ""
        details = ", ".join(filter(None, (first.about, many)))
        about = f"  {styled(sanitize(details), dim=True)}" if details else ""
        echo(f"{first.act:12} {sanitize(where)}{about}")
    if not done:
        echo(sanitize(nothing))


def _group_own_files(done: list[FileChange]) -> list[list[FileChange]]:
    """Group neighbouring files of our own folder that were changed in the same way."""
    groups: list[list[FileChange]] = []
    for current in done:
        last = groups[-1][-1] if groups else None
        both_own = last is not None and all(OWN_FOLDER in file.path for file in (last, current))
        if both_own and last is not None and (last.act, last.about) == (current.act, current.about):
            groups[-1].append(current)
        else:
            groups.append([current])
    return groups
