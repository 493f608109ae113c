"""`holdfast doctor`: try whether what was put into an agent really works."""

import click
from msgspec import to_builtins

from holdfast.surfaces.agents.plans import AGENTS, agent_named
from holdfast.surfaces.cli.install import place_of, scope_option
from holdfast.surfaces.cli.options import json_option, project_option
from holdfast.surfaces.cli.printing import echo, plain, print_json, styled

EXAMPLE = """\b
Examples:
  holdfast doctor claude-code
  holdfast doctor codex --user --json"""


@click.command(epilog=EXAMPLE)
@click.argument("agent", type=click.Choice(list(AGENTS)))
@scope_option
@project_option
@json_option
@click.pass_context
def doctor(ctx: click.Context, agent: str, scope: str, root: str | None, as_json: bool) -> None:
    """Try every hook and every tool of AGENT, and say what is wrong, a line each.

    Nothing is guessed: each hook is run as the agent would run it, in a project made for that, and
    the server is started and asked. The exit code is 1 when something does not work.
    """
    found = list(agent_named(agent).checks(place_of(ctx, root, scope)))
    broken = [one for one in found if not one.holds]
    if as_json:
        document = {"agent": agent, "scope": scope, "works": not broken}
        print_json("doctor", {**document, "checks": to_builtins(found)})
    else:
        for one in found:
            mark = styled("ok   ", colour="green") if one.holds else styled("wrong", colour="red")
            echo(f"{mark}  {plain(one.what)}{'  ' if one.detail else ''}{plain(one.detail)}")
    if broken:
        raise click.exceptions.Exit(1)
