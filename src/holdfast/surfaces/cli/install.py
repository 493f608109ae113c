"""`holdfast install`: put Holdfast into an agent that is already there."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click
from msgspec import to_builtins

from holdfast.surfaces.agents.plans import AGENTS, PROJECT, USER, Place, agent_named
from holdfast.surfaces.agents.writing import Done, carry_out, pending
from holdfast.surfaces.cli.options import json_option, project_of, project_option
from holdfast.surfaces.cli.printing import echo, plain, print_json, styled

EXAMPLE = """\b
Examples:
  holdfast install claude-code             for this project
  holdfast install codex --user            for all that you do
  holdfast install gemini --dry-run        what would change, and nothing is changed"""

OURS = "holdfast/agents/"
"""What is nobody else's: which files there are matters to few."""

F = TypeVar("F", bound=Callable[..., object])


def agent_argument(command: F) -> F:
    """The agent that is meant."""
    return click.argument("agent", type=click.Choice(list(AGENTS)))(command)


def scope_option(command: F) -> F:
    """`--project` and `--user`: whose settings are meant."""
    mine = click.option("--user", "scope", flag_value=USER, help="For all that you do.")
    here = click.option(
        "--project", "scope", flag_value=PROJECT, default=PROJECT, help="For this project."
    )
    return here(mine(command))


def place_of(ctx: click.Context, root: str | None, scope: str) -> Place:
    """Where the settings are."""
    home = Path(os.environ.get("HOME") or Path.home())
    return Place(project_of(ctx, root).root, scope, home, dict(os.environ))


@click.command(epilog=EXAMPLE)
@agent_argument
@scope_option
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@project_option
@json_option
@click.pass_context
def install(
    ctx: click.Context, agent: str, scope: str, dry_run: bool, root: str | None, as_json: bool
) -> None:
    """Put Holdfast into AGENT: hooks, tools, commands and what else it takes.

    Settings are changed as a careful person would: what others wrote stays as it is, a copy of what
    was there is kept, and `holdfast uninstall` brings the very bytes back. Doing it twice is doing
    it once.
    """
    place, known = place_of(ctx, root, scope), agent_named(agent)
    plan = known.plan(place)
    waiting = [Done(str(edit.path), "would change", edit.about) for edit in pending(plan)]
    done = waiting if dry_run else carry_out(plan, place, known)
    if as_json:
        print_json("install", document_of(agent, scope, done, plan.notes, dry_run=dry_run))
        return
    tell(done, nothing=f"{agent} has Holdfast already")
    for note in plan.notes if done else ():
        echo(plain(note))
    if done and not dry_run:
        echo(plain(f"try it: holdfast doctor {agent}{'' if scope == PROJECT else ' --user'}"))


def document_of(
    agent: str, scope: str, done: list[Done], notes: tuple[str, ...] = (), *, dry_run: bool = False
) -> dict[str, object]:
    """What was done, for a program."""
    return {
        "agent": agent,
        "scope": scope,
        "dry_run": dry_run,
        "files": to_builtins(done),
        "notes": list(notes),
    }


def tell(done: list[Done], *, nothing: str) -> None:
    """Say what was done, a line a file, or a line for the many files of one folder of ours."""
    for same in _together(done):
        first = same[0]
        where = os.path.commonpath([one.path for one in same])
        many = f"{len(same)} files" if len(same) > 1 else ""
        told = ", ".join(filter(None, (first.about, many)))
        about = f"  {styled(plain(told), dim=True)}" if told else ""
        echo(f"{first.act:12} {plain(where)}{about}")
    if not done:
        echo(plain(nothing))


def _together(done: list[Done]) -> list[list[Done]]:
    """Files of our own folder that the same was done to, as one; any other alone."""
    found: list[list[Done]] = []
    for one in done:
        last = found[-1][-1] if found else None
        ours = last is not None and all(OURS in file.path for file in (last, one))
        if ours and last is not None and (last.act, last.about) == (one.act, one.about):
            found[-1].append(one)
        else:
            found.append([one])
    return found
