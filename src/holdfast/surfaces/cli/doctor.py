"""`holdfast doctor`: try whether what was put into an agent really works."""

from collections.abc import Sequence

import click
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from holdfast.engine.fault_log import faults_in
from holdfast.surfaces.cli.install import agent_argument, end, place_of, scope_option, tell_found
from holdfast.surfaces.cli.options import Project, json_option, project_of, project_option
from holdfast.surfaces.cli.output import echo, plain, print_json, styled
from holdfast.surfaces.install.detect import Failed, Found, agents_in, each
from holdfast.surfaces.install.plan import PROJECT, Check, Place, agent_named

EXAMPLE = """\b
Examples:
  holdfast doctor                    every agent that has Holdfast, and which could have it
  holdfast doctor claude-code
  holdfast doctor codex --user --json"""


class Tried(Struct, frozen=True):
    """What was tried of one agent."""

    agent: str
    checks: list[Check]

    @property
    def works(self) -> bool:
        """Whether all of it works."""
        return all(one.holds for one in self.checks)

    def document(self) -> dict[str, object]:
        """The same for a program."""
        return {"agent": self.agent, "works": self.works, "checks": to_builtins(self.checks)}


@click.command(epilog=EXAMPLE)
@agent_argument
@scope_option
@project_option
@json_option
@click.pass_context
def doctor(
    ctx: click.Context, agent: str | None, scope: str, root: str | None, as_json: bool
) -> None:
    """Try every hook and every tool of AGENT, and say what is wrong, a line each.

    Without AGENT, of every agent that is there and has Holdfast, in this project or for all that
    you do; those that are there without it are named. Nothing is guessed: each hook is run as the
    agent would run it, in a project made for that, and the server is started and asked. Rules that
    failed on sessions of this project are counted. The exit code is 1 when something does not work,
    or when no agent has Holdfast.
    """
    place, faults = place_of(ctx, root, scope), _faults(project_of(ctx, root))
    if agent is None:
        _all(place, agents_in(place), faults, as_json=as_json)
        return
    tried = _try(agent, place)
    if as_json:
        print_json("doctor", {"scope": scope, "faults": faults, **tried.document()})
    else:
        _tell(tried)
        _tell_faults(faults)
    if not tried.works:
        raise click.exceptions.Exit(1)


def _faults(project: Project) -> dict[str, int]:
    """How many rules failed on each session of the project, sessions without a fault left out."""
    if not project.has_ledger:
        return {}
    try:
        names = [session.name for session in project.store.sessions()]
        counted = {name: len(faults_in(project.store.events(name))) for name in names}
    finally:
        project.close()
    return {name: count for name, count in counted.items() if count}


def _tell_faults(faults: dict[str, int]) -> None:
    for name, count in faults.items():
        rules = "rule" if count == 1 else "rules"
        echo(
            f"fault  {count} {rules} failed on {plain(name)}: holdfast log --session {plain(name)}"
        )


def _try(agent: str, place: Place) -> Tried:
    return Tried(agent, list(agent_named(agent).checks(place)))


def _all(place: Place, found: Sequence[Found], faults: dict[str, int], *, as_json: bool) -> None:
    scopes = {one.agent: one.has for one in found if one.has}
    done = each(list(scopes), lambda agent: _try(agent, replace(place, scope=scopes[agent])))
    tried = [one for one in done if isinstance(one, Tried)]
    works = bool(tried) and len(tried) == len(done) and all(one.works for one in tried)
    if as_json:
        errors = [to_builtins(one) for one in done if isinstance(one, Failed)]
        document = {"scope": place.scope, "works": works, "found": to_builtins(found)}
        document["faults"] = faults
        agents = [one.document() for one in tried]
        print_json("doctor", {**document, "agents": agents, "errors": errors})
    else:
        _tell_all(place, found, tried)
        _tell_faults(faults)
    end(done)
    if not works:
        raise click.exceptions.Exit(1)


def _tell_all(place: Place, found: Sequence[Found], tried: Sequence[Tried]) -> None:
    by_name = {one.agent: one for one in tried}
    user = "" if place.scope == PROJECT else " --user"
    for one in found:
        tell_found(found, one.agent)
        if one.agent in by_name:
            _tell(by_name[one.agent])
        elif not one.has:
            echo(f"none   it has no Holdfast: holdfast install {one.agent}{user}")


def _tell(tried: Tried) -> None:
    for one in tried.checks:
        mark = styled("ok   ", colour="green") if one.holds else styled("wrong", colour="red")
        echo(f"{mark}  {plain(one.what)}{'  ' if one.detail else ''}{plain(one.detail)}")
