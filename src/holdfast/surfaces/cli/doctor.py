"""`holdfast doctor`: test the hooks and tools that `holdfast install` added to agents."""

from collections.abc import Sequence

import click
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from holdfast.engine.fault_log import faults_in
from holdfast.surfaces.cli.install import (
    agent_argument,
    exit_if_failed,
    place_of,
    print_agent_heading,
    scope_option,
)
from holdfast.surfaces.cli.options import Project, Selection, project_options
from holdfast.surfaces.cli.output import echo, print_json, sanitize, styled
from holdfast.surfaces.install.detect import AgentFailure, FoundAgent, find_agents, for_each_agent
from holdfast.surfaces.install.plan import PROJECT, DoctorCheck, InstallTarget, installer_for

EXAMPLE = """\b
Examples:
  holdfast doctor                    test every agent that has Holdfast
  holdfast doctor claude-code
  holdfast doctor codex --user --json"""


class AgentChecks(Struct, frozen=True):
    """The results of all checks of one agent."""

    agent: str
    checks: list[DoctorCheck]

    @property
    def works(self) -> bool:
        """Whether every check passed."""
        return all(check.holds for check in self.checks)

    def document(self) -> dict[str, object]:
        """Return the results for `--json`."""
        return {"agent": self.agent, "works": self.works, "checks": to_builtins(self.checks)}


@click.command(epilog=EXAMPLE)
@agent_argument
@scope_option
@project_options
def doctor(selection: Selection, agent: str | None, scope: str, as_json: bool) -> None:
    """Test every hook and every tool of AGENT and print one line per check.

    Each hook is run as the agent runs it, in a temporary project, and the server is started and
    queried. Without AGENT, every agent with Holdfast is tested, whether Holdfast was added for this
    project or for the user; installed agents without Holdfast are listed. Rules that failed on
    sessions of this project are counted. Exit code 1 if a check fails or if no agent has Holdfast.
    """
    place, faults = place_of(selection, scope), _faults(selection.project)
    if agent is None:
        _check_all(place, find_agents(place), faults, as_json=as_json)
        return
    result = _check_agent(agent, place)
    if as_json:
        print_json("doctor", {"scope": scope, "faults": faults, **result.document()})
    else:
        _print_checks(result)
        _print_faults(faults)
    if not result.works:
        raise click.exceptions.Exit(1)


def _faults(project: Project) -> dict[str, int]:
    """Return the number of failed rules by session, for sessions with at least one."""
    if not project.has_ledger:
        return {}
    try:
        names = [session.name for session in project.store.sessions()]
        counted = {name: len(faults_in(project.store.events(name))) for name in names}
    finally:
        project.close()
    return {name: count for name, count in counted.items() if count}


def _print_faults(faults: dict[str, int]) -> None:
    for name, count in faults.items():
        rules = "rule" if count == 1 else "rules"
        session = sanitize(name)
        echo(f"fault  {count} {rules} failed on {session}: holdfast log --session {session}")


def _check_agent(agent: str, place: InstallTarget) -> AgentChecks:
    return AgentChecks(agent, list(installer_for(agent).run_checks(place)))


def _check_all(
    place: InstallTarget, found: Sequence[FoundAgent], faults: dict[str, int], *, as_json: bool
) -> None:
    scopes = {candidate.agent: candidate.has for candidate in found if candidate.has}
    done = for_each_agent(
        list(scopes), lambda agent: _check_agent(agent, replace(place, scope=scopes[agent]))
    )
    results = [result for result in done if isinstance(result, AgentChecks)]
    works = bool(results) and len(results) == len(done) and all(result.works for result in results)
    if as_json:
        errors = [to_builtins(result) for result in done if isinstance(result, AgentFailure)]
        document = {"scope": place.scope, "works": works, "found": to_builtins(found)}
        document["faults"] = faults
        agents = [result.document() for result in results]
        print_json("doctor", {**document, "agents": agents, "errors": errors})
    else:
        _print_all(place, found, results)
        _print_faults(faults)
    exit_if_failed(done)
    if not works:
        raise click.exceptions.Exit(1)


def _print_all(
    place: InstallTarget, found: Sequence[FoundAgent], results: Sequence[AgentChecks]
) -> None:
    by_name = {result.agent: result for result in results}
    user = "" if place.scope == PROJECT else " --user"
    for candidate in found:
        print_agent_heading(found, candidate.agent)
        if candidate.agent in by_name:
            _print_checks(by_name[candidate.agent])
        elif not candidate.has:
            echo(f"none   it has no Holdfast: holdfast install {candidate.agent}{user}")


def _print_checks(result: AgentChecks) -> None:
    for check in result.checks:
        mark = styled("ok   ", colour="green") if check.holds else styled("wrong", colour="red")
        echo(
            f"{mark}  {sanitize(check.what)}{'  ' if check.detail else ''}{sanitize(check.detail)}"
        )
