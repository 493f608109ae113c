"""`holdfast undo`: undo the newest compression of a session."""

import click

from holdfast.core.ledger.entry import Compressed, Entry
from holdfast.core.view.conversation import EntryRow
from holdfast.engine.engine import newest_undoable
from holdfast.engine.status import sized_window
from holdfast.errors import NotRecorded
from holdfast.session.session import Session
from holdfast.surfaces.actions import notes_after_compression
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import columns, echo, print_json, sanitize
from holdfast.surfaces.status import session_rows

EXAMPLE = """\b
Examples:
  holdfast undo
  holdfast undo --session 3ae3 --json"""
MAX_ROWS_SHOWN = 8


@click.command(epilog=EXAMPLE)
@session_options
def undo(selection: Selection, as_json: bool) -> None:
    """Undo the newest compression: the window shows the hidden entries again, unchanged."""
    session = selection.session()
    newest, before = _newest_compression(session), sized_window(session.ledger)
    hidden = {row.ref for row in session_rows(session, before) if row.hidden}
    session.undo()
    after = sized_window(session.ledger)
    back = [row for row in session_rows(session, after) if row.ref in hidden and not row.hidden]
    rows = sorted(back, key=lambda row: -row.tokens)
    returned = after.usage.tokens - before.usage.tokens
    if as_json:
        document = {
            "session": session.name,
            "compression": newest.id[:12],
            "returned": returned,
            "tokens": after.usage.tokens,
            "entries": [{"ref": r.ref, "what": r.what, "tokens": r.tokens} for r in rows],
        }
        print_json("undo", document)
        return
    for line in _report_lines(session, newest, rows, returned):
        echo(line)
    usage = after.usage
    echo(f"window: {usage.tokens:,} of {usage.limit:,} tokens ({usage.percent()})")
    for note in notes_after_compression(session):
        echo(f"note: {note}")


def _newest_compression(session: Session) -> Entry:
    newest = newest_undoable(session.ledger.whole_window())
    if newest is None:
        where = f"session {session.name!r} that could be undone"
        raise NotRecorded("compression", "", where=where)
    return newest


def _report_lines(
    session: Session, newest: Entry, rows: list[EntryRow], returned: int
) -> list[str]:
    body = newest.body
    assert isinstance(body, Compressed)
    back = sum(row.tokens for row in rows)
    placed = back - returned
    instead = f", in place of {placed:,}" if placed else ""
    when = f" of {newest.at}" if newest.at else ""
    why = f" ({body.trigger})" if body.trigger else ""
    lines = [
        sanitize(f"undid the compression {newest.id[:12]}{when} of session {session.name}{why}"),
        f"back in the window: {len(rows):,} entries, {back:,} tokens{instead}",
    ]
    width = max(columns() - 56, 20)
    lines += [
        f"  {row.ref}  {row.tokens:>8,}  {sanitize(row.what):22.22}  {row.opening[:width]}"
        for row in rows[:MAX_ROWS_SHOWN]
    ]
    more = len(rows) - MAX_ROWS_SHOWN
    rest = sum(row.tokens for row in rows[MAX_ROWS_SHOWN:])
    return [*lines, f"  and {more:,} smaller ones, {rest:,} tokens"] if more > 0 else lines
