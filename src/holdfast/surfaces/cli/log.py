"""`holdfast log`: every compression there was, and what it did."""

import click
from msgspec import to_builtins

from holdfast.core.view.conversation import opening
from holdfast.core.view.log import Event, render_log
from holdfast.surfaces.actions import RECENT, events_of
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import (
    columns,
    echo,
    for_a_person,
    plain_lines,
    print_json,
    short,
    styled,
)

EXAMPLE = """\b
Examples:
  holdfast log
  holdfast log --all --limit 0     everything, also what was put off
  holdfast log --session 3ae3 --json"""
COLOURS = {
    "UNDO": "yellow",
    "POSTPONED": "bright_black",
    "HOST": "magenta",
    "FORK": "red",
    "BLOCKED": "red",
    "DATA_LOSS": "red",
    "DRIFT": "red",
}


@click.command(epilog=EXAMPLE)
@click.option("--limit", type=click.IntRange(min=0), default=RECENT, show_default=True)
@click.option("--all", "everything", is_flag=True, help="Also what was weighed and put off.")
@session_option
@project_option
@json_option
@click.pass_context
def log(
    ctx: click.Context,
    limit: int,
    everything: bool,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Show the compressions of a session, the newest last; --limit 0 for all of them."""
    session = project_of(ctx, root).session(name, agent)
    events = events_of(session, limit, everything=everything)
    if as_json:
        print_json("log", {"session": session.name, "events": to_builtins(events)})
    elif for_a_person():
        echo(_table(events, everything=everything))
    else:
        echo(plain_lines(render_log(events)))


def _table(events: list[Event], *, everything: bool) -> str:
    if not events:
        return "no compressions yet" + ("" if everything else "; --all also shows what was put off")
    heading = (
        f"{'time':19}  {'event':9}  {'before':>6}  {'after':>6}  {'saved':>6}  intent  trigger"
    )
    wide = max(columns() - len(heading) + len("trigger"), 24)
    return "\n".join([styled(heading, dim=True), *(_row(event, wide) for event in events)])


def _row(event: Event, wide: int) -> str:
    kind = styled(f"{event.kind:9}", colour=COLOURS.get(event.kind, "green"))
    figures = [short(number) if number else "-" for number in (event.before, event.after)]
    saved = short(event.saved) if event.saved else "-"
    kept = "yes" if event.intent else "check"
    return (
        f"{event.at[:19].replace('T', ' '):19}  {kind}  {figures[0]:>6}  {figures[1]:>6}  "
        f"{saved:>6}  {kept:6}  {opening(event.trigger, wide)}"
    )
