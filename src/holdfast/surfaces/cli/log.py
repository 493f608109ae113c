"""`holdfast log`: list the compressions of a session and their effect."""

import click
from msgspec import to_builtins

from holdfast.core.view.log import Event, render_log
from holdfast.surfaces.actions import DEFAULT_LOG_EVENTS, events_of
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import (
    columns,
    echo,
    is_interactive,
    print_json,
    sanitize_lines,
    short_count,
    styled,
)
from holdfast.text.clip import clip_line

EXAMPLE = """\b
Examples:
  holdfast log
  holdfast log --all --limit 0     all events, also postponed plans
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
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=DEFAULT_LOG_EVENTS,
    show_default=True,
    help="Number of events; 0 for all.",
)
@click.option("--all", "everything", is_flag=True, help="Also list plans that were postponed.")
@session_options
def log(selection: Selection, limit: int, everything: bool, as_json: bool) -> None:
    """List the compressions of a session, newest last."""
    session = selection.session()
    events = events_of(session, limit, everything=everything)
    if as_json:
        print_json("log", {"session": session.name, "events": to_builtins(events)})
    elif is_interactive():
        echo(_table(events, everything=everything))
    else:
        echo(sanitize_lines(render_log(events)))


def _table(events: list[Event], *, everything: bool) -> str:
    if not events:
        return "no compressions yet" + ("" if everything else "; --all also shows postponed plans")
    heading = (
        f"{'time':19}  {'event':9}  {'before':>6}  {'after':>6}  {'saved':>6}  intent  trigger"
    )
    width = max(columns() - len(heading) + len("trigger"), 24)
    return "\n".join([styled(heading, dim=True), *(_row(event, width) for event in events)])


def _row(event: Event, width: int) -> str:
    kind = styled(f"{event.kind:9}", colour=COLOURS.get(event.kind, "green"))
    figures = [short_count(number) if number else "-" for number in (event.before, event.after)]
    saved = short_count(event.saved) if event.saved else "-"
    intent = "yes" if event.intent else "check"
    return (
        f"{event.at[:19].replace('T', ' '):19}  {kind}  {figures[0]:>6}  {figures[1]:>6}  "
        f"{saved:>6}  {intent:6}  {clip_line(event.trigger, width)}"
    )
