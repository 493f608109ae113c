"""`holdfast sessions`: list the sessions of this project, newest first."""

import click

from holdfast.core.measure.models import find_model
from holdfast.core.measure.usage import Usage
from holdfast.engine.redact import redacted_title
from holdfast.stores.store import sessions_newest_first
from holdfast.surfaces.cli.options import Project, Selection, project_options
from holdfast.surfaces.cli.output import (
    COLOURS,
    columns,
    echo,
    print_json,
    sanitize,
    short_count,
    styled,
)
from holdfast.text.clip import clip_line

EXAMPLE = """\b
Examples:
  holdfast sessions
  holdfast sessions --limit 5 --json"""


@click.command(epilog=EXAMPLE)
@click.option("--limit", default=50, show_default=True, help="Number of sessions; 0 for all.")
@project_options
def sessions(selection: Selection, limit: int, as_json: bool) -> None:
    """List the sessions of this project, newest first.

    The newest session is the one with the latest message; commands use it if no session is given.
    Sessions without times come last.
    """
    project = selection.project
    rows = _rows(project, limit) if project.has_ledger else []
    if as_json:
        found = [row for row, _ in rows]
        print_json("sessions", {"root": str(project.root), "sessions": found})
        return
    if not rows:
        echo(f"no sessions in {project.root} yet; `holdfast ingest` reads some")
        return
    for row, usage in rows:
        echo(_line(row, usage))


def _rows(project: Project, limit: int) -> list[tuple[dict[str, object], Usage]]:
    listed = sessions_newest_first(project.store)
    return [_row(project, session.name) for session in listed[: limit or None]]


def _row(project: Project, name: str) -> tuple[dict[str, object], Usage]:
    session = project.session(name)
    usage = session.status()
    head = session.ledger.head()
    lane = head.lane("")
    row: dict[str, object] = {
        "session": name,
        "wire": head.wire,
        "model": head.model,
        "known_model": find_model(head.model).known,
        "entries": head.seq,
        "turns": lane.turns,
        "steps": lane.steps,
        "agents": [agent for agent in head.lanes if agent],
        "tokens": usage.tokens,
        "fraction": round(usage.fraction, 4),
        "level": usage.level.value,
        "at": head.at,
        "title": redacted_title(head.title, session.policy.redact, session.store, name),
    }
    return row, usage


def _line(row: dict[str, object], usage: Usage) -> str:
    level = usage.level.value
    name = sanitize(str(row["session"]))
    full = styled(f"{level:8}", colour=COLOURS[level])
    facts = f"{short_count(usage.tokens):>6} {usage.percent():>6}  {full}  {str(row['at'])[:16]:16}"
    facts += f"  {row['wire']}"
    title = clip_line(str(row["title"]), max(columns() - 4, 20))
    return f"{styled(name, bold=True)}\n  {facts}" + (f"\n  {title}" if title else "")
