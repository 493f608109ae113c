"""`holdfast show`: a session, step by step, with its sizes."""

from collections.abc import Iterator
from pathlib import Path

import click
from msgspec import to_builtins
from msgspec.structs import asdict

from holdfast.core.measure.sizes import Sized
from holdfast.core.view.conversation import Row, bar
from holdfast.core.view.forms import FORMS, as_object, render
from holdfast.core.view.plan import usage_document
from holdfast.engine.status import sized_window
from holdfast.project.layout import archive_of
from holdfast.session.session import SUMMARY_BUDGET, Session
from holdfast.surfaces.cli.options import (
    complete_session,
    json_option,
    project_of,
    project_option,
)
from holdfast.surfaces.cli.output import (
    columns,
    echo,
    exact,
    for_a_person,
    page,
    plain,
    print_json,
    short,
    styled,
)
from holdfast.surfaces.status import listed

EXAMPLE = """\b
Examples:
  holdfast show                        the newest session, paged
  holdfast show --from 40 --limit 20   twenty entries from step 40 on
  holdfast show --ref 1f3a9c2b         one entry, whole
  holdfast show --summary              what it came to so far, in at most 4,000 tokens
  holdfast show --summary --form notes the same in another form, every row"""
BAR_WIDTH = 12
WINDOW = "ctx-001"
"""The form that stands in a window, and the only one that is cut to a budget."""


@click.command(epilog=EXAMPLE)
@click.argument("name", required=False, metavar="[SESSION]", shell_complete=complete_session)
@click.option("--from", "start", default=0, help="The step to begin with.")
@click.option("--limit", default=0, help="How many entries; 0 for all.")
@click.option("--agent", default="", help="A sub-agent's own part of the session.")
@click.option("--ref", help="One entry, whole: its reference or #NUMBER.")
@click.option("--summary", "as_summary", is_flag=True, help="What the session came to so far.")
@click.option(
    "--form",
    type=click.Choice(list(FORMS)),
    help="With --summary: how it is written; ctx-001, the window's own form, if not given.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    help=f"With --summary: tokens of the window's form; {SUMMARY_BUDGET:,} if not given.",
)
@project_option
@json_option
@click.pass_context
def show(
    ctx: click.Context,
    name: str | None,
    start: int,
    limit: int,
    agent: str,
    ref: str | None,
    as_summary: bool,
    form: str | None,
    budget: int | None,
    root: str | None,
    as_json: bool,
) -> None:
    """Page through a session: step, size, reference, who, and how it begins.

    With --summary, what the session came to so far: requests and constraints word for word, files,
    decisions, progress, errors, facts, next steps. Nothing is changed for it, and no model asked.
    """
    if (form or budget) and not as_summary:
        raise click.UsageError("--form and --budget go with --summary")
    if as_summary and (ref or start or limit):
        raise click.UsageError("--summary is about the whole session")
    project = project_of(ctx, root)
    session = project.session(name, agent)
    if as_summary:
        _show_summary(session, form or WINDOW, budget or SUMMARY_BUDGET, as_json=as_json)
        return
    if ref:
        _show_one(session, ref, as_json=as_json)
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
    archive = archive_of(session.name, session.policy.layout)
    archive = archive if (Path(session.root) / archive).is_file() else ""
    rows, written = account.rows, str(account)
    if form != WINDOW:
        written = render(
            rows, form, session=session.name, task=session.ledger.task(), archive=archive
        )
    if as_json:
        document = {
            "session": session.name,
            "form": form,
            "summary": as_object(rows, session.name, archive=archive),
            "rows": to_builtins(rows),
            "text": written,
        }
        print_json("show", document)
        return
    page(exact(written))


def _show_one(session: Session, ref: str, *, as_json: bool) -> None:
    entry, text = session.ledger.find(ref), session.read(ref)
    if as_json:
        print_json("show", {"session": session.name, "ref": entry.id, "text": text})
    else:
        # For a pipe the entry is exact; a terminal is not to obey what stands in it.
        shown = "\n".join(plain(line) for line in text.split("\n"))
        echo(shown if for_a_person() else text)


def _rows(session: Session, now: Sized, start: int, limit: int) -> list[Row]:
    rows = [row for row in listed(session, now) if row.step >= start]
    return rows[: limit or None]


def _lines(session: Session, rows: list[Row]) -> Iterator[str]:
    agents = [agent for agent in session.ledger.head().lanes if agent and agent != session.agent]
    yield styled(f"session {plain(session.name)}", bold=True) + f"  {len(rows):,} entries shown"
    yield styled("step   tokens                ref           what", dim=True)
    largest = max((row.tokens for row in rows), default=1)
    wide = max(columns() - 66, 24)
    for row in rows:
        yield _line(row, largest, wide)
    for agent in agents:
        yield styled(plain(f"sub-agent {agent}: holdfast show --agent {agent}"), dim=True)


def _line(row: Row, largest: int, wide: int) -> str:
    size = bar(row.tokens, largest, BAR_WIDTH).ljust(BAR_WIDTH)
    mark = "✗ " if row.failed else ("· " if row.hidden else "")
    what = styled(f"{plain(row.what):22.22}", colour=_colour(row), bold=row.starts_turn)
    return (
        f"{row.step:>4} {short(row.tokens):>8} {styled(size, colour='cyan')} "
        f"{styled(row.ref, dim=True)}  {what}  {mark}{row.opening[:wide]}"
    )


def _colour(row: Row) -> str | None:
    if row.failed:
        return "red"
    return "green" if row.starts_turn else None
