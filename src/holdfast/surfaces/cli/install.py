"""`holdfast install`: put Holdfast into an agent that is already there."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click
from msgspec import Struct, to_builtins

from holdfast.surfaces.cli.options import json_option, project_of, project_option
from holdfast.surfaces.cli.output import echo, plain, print_json, styled
from holdfast.surfaces.install.apply import Done, carry_out, pending
from holdfast.surfaces.install.detect import Failed, Found, agents_in, each
from holdfast.surfaces.install.plan import AGENTS, PROJECT, USER, Place, agent_named

EXAMPLE = """\b
Examples:
  holdfast install                         into every agent that is there, for this project
  holdfast install claude-code             into this one
  holdfast install codex --user            for all that you do
  holdfast install gemini --dry-run        what would change, and nothing is changed"""

OURS = "holdfast/agents/"
"""What is nobody else's: which files there are matters to few."""

F = TypeVar("F", bound=Callable[..., object])


def agent_argument(command: F) -> F:
    """The agent that is meant; those that are there when none is named."""
    return click.argument("agent", required=False, type=click.Choice(list(AGENTS)))(command)


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
    ctx: click.Context,
    agent: str | None,
    scope: str,
    dry_run: bool,
    root: str | None,
    as_json: bool,
) -> None:
    """Put Holdfast into AGENT: hooks, tools, commands and what else it takes.

    Without AGENT, into every agent that is there: its program is on the path, or its settings are
    in your home or in the project. Settings are changed as a careful person would: what others
    wrote stays as it is, a copy of what was there is kept, and `holdfast uninstall` brings the very
    bytes back. Doing it twice is doing it once.
    """
    place = place_of(ctx, root, scope)

    def act(name: str) -> Did:
        return _install(name, place, dry_run=dry_run)

    if agent is not None:
        did = act(agent)
        if as_json:
            print_json("install", did.document(dry_run=dry_run))
        else:
            _tell_install(did, dry_run=dry_run)
        return
    found = agents_in(place)
    done = each([one.agent for one in found], act)
    if as_json:
        print_json("install", all_of(found, done, scope, dry_run=dry_run))
    else:
        for one in done:
            tell_found(found, one.agent)
            if isinstance(one, Did):
                _tell_install(one, dry_run=dry_run)
    end(done)


class Did(Struct, frozen=True):
    """What was done to one agent."""

    agent: str
    scope: str
    files: list[Done]
    notes: tuple[str, ...] = ()

    def document(self, *, dry_run: bool) -> dict[str, object]:
        """The same for a program."""
        return {
            "agent": self.agent,
            "scope": self.scope,
            "dry_run": dry_run,
            "files": to_builtins(self.files),
            "notes": list(self.notes),
        }


def _install(agent: str, place: Place, *, dry_run: bool) -> Did:
    known = agent_named(agent)
    plan = known.plan(place)
    waiting = [Done(str(edit.path), "would change", edit.about) for edit in pending(plan)]
    done = waiting if dry_run else carry_out(plan, place, known)
    return Did(agent, place.scope, done, plan.notes)


def _tell_install(did: Did, *, dry_run: bool) -> None:
    tell(did.files, nothing=f"{did.agent} has Holdfast already")
    for note in did.notes if did.files else ():
        echo(plain(note))
    if did.files and not dry_run:
        user = "" if did.scope == PROJECT else " --user"
        echo(plain(f"try it: holdfast doctor {did.agent}{user}"))


def tell_found(found: Sequence[Found], agent: str) -> None:
    """Say which agent the next lines are about, and by what it was found."""
    where = next((one.where for one in found if one.agent == agent), "")
    echo(f"{styled(agent, bold=True)}  {styled(plain(f'found: {where}'), dim=True)}")


def all_of(
    found: Sequence[Found], done: Sequence[Did | Failed], scope: str, *, dry_run: bool
) -> dict[str, object]:
    """What was done to every agent that was found, for a program."""
    documents = [one.document(dry_run=dry_run) for one in done if isinstance(one, Did)]
    errors = [to_builtins(one) for one in done if isinstance(one, Failed)]
    return {"scope": scope, "found": to_builtins(found), "agents": documents, "errors": errors}


def end(done: Sequence[object]) -> None:
    """Say what failed, and end with its code."""
    failed = [one for one in done if isinstance(one, Failed)]
    for one in failed:
        echo(plain(f"holdfast: {one.agent}: {one.error}"), err=True)
    if failed:
        raise click.exceptions.Exit(failed[-1].code)


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
