"""`holdfast show`: list the entries of a session with sizes; print one entry or the summary."""

from collections.abc import Iterator
from pathlib import Path

import click
from msgspec import to_builtins
from msgspec.structs import asdict

from holdfast.core.ledger.summary import SUMMARY_BUDGET
from holdfast.core.measure.sizes import SizedWindow
from holdfast.core.view.conversation import EntryRow, bar
from holdfast.core.view.forms import FORMS, render_form, summary_object
from holdfast.core.view.plan import usage_document
from holdfast.engine.status import sized_window
from holdfast.project.layout import archive_path
from holdfast.session.session import Session
from holdfast.surfaces.cli.options import Selection, agent_option, complete_session, project_options
from holdfast.surfaces.cli.output import (
    columns,
    echo,
    is_interactive,
    page,
    print_json,
    sanitize,
    sanitize_for_terminal,
    short_count,
    styled,
)
from holdfast.surfaces.status import session_rows

EXAMPLE = """\b
Examples:
  holdfast show                        the newest session
  holdfast show --from 40 --limit 20   20 entries from step 40
  holdfast show --ref 1f3a9c2b         the text of one entry
  holdfast show --summary              the summary, in at most 4,000 tokens
  holdfast show --summary --form notes all rows of the summary in another form"""
BAR_WIDTH = 12
MOMENT_FORMS = ("research", "planning")
"""The forms that choose among all moments, not only those of the summary."""
WINDOW_FORM = "ctx-001"
"""The form that windows contain, and the only one that is cut to a budget."""


@click.command(epilog=EXAMPLE)
@click.argument(
    "session_name", required=False, metavar="[SESSION]", shell_complete=complete_session
)
@click.option("--from", "start", default=0, help="First step to list.")
@click.option("--limit", default=0, help="Number of entries; 0 for all.")
@agent_option
@click.option("--ref", help="Print the text of one entry: its id or #NUMBER.")
@click.option(
    "--summary", "as_summary", is_flag=True, help="Print the summary of the session so far."
)
@click.option(
    "--form",
    type=click.Choice(list(FORMS)),
    help="With --summary: the format; default: ctx-001, the format of windows.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    help=f"With --summary in ctx-001: maximum tokens; default: {SUMMARY_BUDGET:,}.",
)
@project_options
def show(
    selection: Selection,
    start: int,
    limit: int,
    ref: str | None,
    as_summary: bool,
    form: str | None,
    budget: int | None,
    as_json: bool,
) -> None:
    """List the entries of SESSION: step, size, id, kind, and the beginning of the text.

    With --summary, print requests and constraints word for word, files, decisions, progress,
    errors, facts and next steps. Nothing is changed and no model is called.
    """
    if (form or budget) and not as_summary:
        raise click.UsageError("--form and --budget go with --summary")
    if as_summary and (ref or start or limit):
        raise click.UsageError("--summary is about the whole session")
    session = selection.session()
    if as_summary:
        _show_summary(session, form or WINDOW_FORM, budget or SUMMARY_BUDGET, as_json=as_json)
        return
    if ref:
        _show_entry(session, ref, as_json=as_json)
        return
    now = sized_window(session.ledger)
    rows = _rows(session, now, start, limit)
    if as_json:
        document = {"session": session.name, "window": usage_document(now.usage)}
        print_json("show", {**document, "entries": [asdict(row) for row in rows]})
    else:
        page("\n".join(_lines(session, rows)))


def _show_summary(session: Session, form: str, budget: int, *, as_json: bool) -> None:
    account = session.summary(budget)
    archive = archive_path(session.name, session.policy.layout)
    archive = archive if (Path(session.root) / archive).is_file() else ""
    rows, written = account.rows, str(account)
    if form != WINDOW_FORM:
        written = render_form(
            rows,
            form,
            session=session.name,
            task=session.ledger.task(),
            archive=archive,
            moments=session.engine.content().moments if form in MOMENT_FORMS else (),
        )
    if as_json:
        document = {
            "session": session.name,
            "form": form,
            "summary": summary_object(rows, session.name, archive=archive),
            "rows": to_builtins(rows),
            "text": written,
        }
        print_json("show", document)
        return
    page(sanitize_for_terminal(written))


def _show_entry(session: Session, ref: str, *, as_json: bool) -> None:
    entry, text = session.ledger.find(ref), session.read(ref)
    if as_json:
        print_json("show", {"session": session.name, "ref": entry.id, "text": text})
    else:
        # A pipe gets the exact text; control characters in it must not reach a terminal.
        shown = "\n".join(sanitize(line) for line in text.split("\n"))
        echo(shown if is_interactive() else text)


def _rows(session: Session, now: SizedWindow, start: int, limit: int) -> list[EntryRow]:
    rows = [row for row in session_rows(session, now) if row.step >= start]
    return rows[: limit or None]


def _lines(session: Session, rows: list[EntryRow]) -> Iterator[str]:
    agents = [agent for agent in session.ledger.head().lanes if agent and agent != session.agent]
    yield styled(f"session {sanitize(session.name)}", bold=True) + f"  {len(rows):,} entries shown"
    yield styled("step   tokens                ref           what", dim=True)
    largest = max((row.tokens for row in rows), default=1)
    width = max(columns() - 66, 24)
    for row in rows:
        yield _line(row, largest, width)
    for agent in agents:
        yield styled(sanitize(f"sub-agent {agent}: holdfast show --agent {agent}"), dim=True)


def _line(row: EntryRow, largest: int, width: int) -> str:
    size = bar(row.tokens, largest, BAR_WIDTH).ljust(BAR_WIDTH)
    mark = "✗ " if row.failed else ("· " if row.hidden else "")
    what = styled(f"{sanitize(row.what):22.22}", colour=_colour(row), bold=row.starts_turn)
    return (
        f"{row.step:>4} {short_count(row.tokens):>8} {styled(size, colour='cyan')} "
        f"{styled(row.ref, dim=True)}  {what}  {mark}{row.opening[:width]}"
    )


def _colour(row: EntryRow) -> str | None:
    if row.failed:
        return "red"
    return "green" if row.starts_turn else None
