"""`holdfast undo`: take the newest compression back."""

from collections.abc import Sequence

import click

from holdfast.core.ledger.entry import Compressed, Entry, Step
from holdfast.core.ledger.window import in_force
from holdfast.core.view.listing import Row, rows_of
from holdfast.errors import NotRecorded
from holdfast.session import Session
from holdfast.surfaces.acts import told_elsewhere
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.printing import columns, echo, plain, print_json

EXAMPLE = """\b
Examples:
  holdfast undo
  holdfast undo --session 3ae3 --json"""
SHOWN = 8


@click.command(epilog=EXAMPLE)
@session_option
@project_option
@json_option
@click.pass_context
def undo(ctx: click.Context, name: str | None, agent: str, root: str | None, as_json: bool) -> None:
    """Take the newest compression back: what it hid is in sight again, as it was."""
    session = project_of(ctx, root).session(name, agent)
    newest = _newest(session)
    steps = _steps(newest)
    hidden = {row.ref for row in _rows(session) if row.hidden}
    session.undo()
    back = [row for row in _rows(session) if row.ref in hidden and not row.hidden]
    rows = sorted(back, key=lambda row: -row.tokens)
    after = session.status()
    if as_json:
        document = {
            "session": session.name,
            "compression": newest.id[:12],
            "returned": sum(step.before - step.after for step in steps),
            "tokens": after.tokens,
            "entries": [{"ref": r.ref, "what": r.what, "tokens": r.tokens} for r in rows],
        }
        print_json("undo", document)
        return
    for line in _told(session, newest, rows):
        echo(line)
    echo(f"window: {after.tokens:,} of {after.limit:,} tokens ({after.percent()})")
    for note in told_elsewhere(session):
        echo(f"note: {note}")


def _newest(session: Session) -> Entry:
    window = session.sight.window(whole=True)
    made = [entry for entry in in_force(window) if isinstance(entry.body, Compressed)]
    if not made:
        where = f"session {session.name!r} that could be undone"
        raise NotRecorded("compression", "", where=where)
    return made[-1]


def _steps(entry: Entry) -> Sequence[Step]:
    assert isinstance(entry.body, Compressed)
    return entry.body.steps


def _rows(session: Session) -> list[Row]:
    counts = session.store.counts(session.name, session.head().vocabulary)
    return list(rows_of(session.redactor.entries(session.path()), session.window().items, counts))


def _told(session: Session, newest: Entry, rows: list[Row]) -> list[str]:
    body = newest.body
    assert isinstance(body, Compressed)
    back = sum(step.before - step.after for step in body.steps)
    when = f" of {newest.at}" if newest.at else ""
    why = f" ({body.trigger})" if body.trigger else ""
    lines = [
        plain(f"undid the compression {newest.id[:12]}{when} of session {session.name}{why}"),
        f"back in sight: {len(rows):,} entries, {back:,} tokens",
    ]
    wide = max(columns() - 56, 20)
    lines += [
        f"  {row.ref}  {row.tokens:>8,}  {plain(row.what):22.22}  {row.opening[:wide]}"
        for row in rows[:SHOWN]
    ]
    more = len(rows) - SHOWN
    return [*lines, f"  and {more:,} smaller ones"] if more > 0 else lines
