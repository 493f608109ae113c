"""`holdfast checkpoint`: create, list, show and compare checkpoints of a session."""

import click
from msgspec import to_builtins

from holdfast.core.ledger.entry import Checkpointed, Entry
from holdfast.core.view.checkpoints import (
    CheckpointRow,
    checkpoint_row,
    render_changes,
    section_changes,
)
from holdfast.engine.checkpoints import checkpoint_page
from holdfast.errors import Ambiguous, NotRecorded
from holdfast.session.session import Session
from holdfast.surfaces.actions import reset_session
from holdfast.surfaces.cli.options import Selection, session_options
from holdfast.surfaces.cli.output import (
    echo,
    page,
    print_json,
    sanitize,
    sanitize_for_terminal,
    sanitize_lines,
    short_count,
)

EXAMPLE = """\b
Examples:
  holdfast checkpoint                      save the state of the newest session
  holdfast checkpoint --reset              and continue in a new session
  holdfast checkpoint list
  holdfast checkpoint diff                 changes between the last two"""


@click.group(epilog=EXAMPLE, invoke_without_command=True)
@click.option("--reset", is_flag=True, help="End the session and continue in a new one.")
@click.option("--as", "new", metavar="NAME", help="With --reset: name of the new session.")
@session_options
def checkpoint(selection: Selection, reset: bool, new: str | None, as_json: bool) -> None:
    """Save a checkpoint of a session: requests, constraints, files, decisions, next steps.

    The checkpoint becomes an entry of the ledger and a readable page in cache/checkpoints. No model
    is called and the window does not change. With --reset, the session ends, a new session
    continues it, and the text that the new session starts with is printed.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    if new is not None and not reset:
        raise click.UsageError("--as goes with --reset")
    session = selection.session()
    if reset:
        _reset(session, new, as_json=as_json)
        return
    saved = session.checkpoint()
    if as_json:
        print_json("checkpoint", {"session": session.name, "ref": saved.ref, "path": saved.path})
    else:
        echo(sanitize(f"checkpoint {saved.ref} of {session.name}"))
        if saved.path:
            echo(sanitize(f"  {saved.path}"))
        echo(f"go on from it: holdfast resume {saved.ref}")


def _reset(session: Session, name: str | None, *, as_json: bool) -> None:
    reset = reset_session(session, name)
    if as_json:
        document = {
            "session": session.name,
            "ref": reset.ended.ref,
            "path": reset.ended.path,
            "fresh": reset.new_session,
            "text": reset.text,
        }
        print_json("checkpoint", document)
    else:
        echo(sanitize_for_terminal(reset.text))
        ended = f"{session.name} ended at checkpoint {reset.ended.ref}"
        line = f"holdfast: {ended}; {reset.new_session} goes on"
        echo(sanitize(line), err=True)


@checkpoint.command("list", epilog=EXAMPLE)
@session_options
def list_(selection: Selection, as_json: bool) -> None:
    """List the checkpoints of a session, newest last."""
    session = selection.session()
    found = [checkpoint_row(entry) for entry in _checkpoints(session)]
    if as_json:
        print_json("checkpoint", {"session": session.name, "checkpoints": to_builtins(found)})
        return
    for row in found:
        echo(sanitize(_row(row)))
    if not found:
        echo(sanitize(f"no checkpoints in {session.name} yet"))


def _row(row: CheckpointRow) -> str:
    full = f"{short_count(row.tokens)} of {short_count(row.limit)}"
    when = row.at[:19].replace("T", " ")
    return f"{row.ref}  {when:19}  {row.entries:>6,} entries  {full:>14}  {row.trigger}"


@checkpoint.command(epilog=EXAMPLE)
@click.argument("ref", required=False)
@session_options
def show(selection: Selection, ref: str | None, as_json: bool) -> None:
    """Print the checkpoint REF, or the newest one."""
    session = selection.session()
    entry = _find_checkpoint(session, ref)
    assert isinstance(entry.body, Checkpointed)
    if as_json:
        rows = to_builtins(entry.body.summary)
        document = {"session": session.name, **to_builtins(checkpoint_row(entry)), "summary": rows}
        print_json("checkpoint", document)
    else:
        page(sanitize_lines(checkpoint_page(entry.body.summary, session.name)))


@checkpoint.command(epilog=EXAMPLE)
@click.argument("old", required=False)
@click.argument("new", required=False)
@session_options
def diff(selection: Selection, old: str | None, new: str | None, as_json: bool) -> None:
    """Show what changed from checkpoint OLD to NEW; default: between the last two."""
    session = selection.session()
    later = _find_checkpoint(session, new)
    earlier = _find_checkpoint(session, old) if old is not None else _previous(session, later)
    assert isinstance(earlier.body, Checkpointed)
    assert isinstance(later.body, Checkpointed)
    found = section_changes(earlier.body.summary, later.body.summary)
    if as_json:
        document = {
            "session": session.name,
            "old": to_builtins(checkpoint_row(earlier)),
            "new": to_builtins(checkpoint_row(later)),
            "changes": to_builtins(found),
        }
        print_json("checkpoint", document)
    else:
        page(sanitize_lines(render_changes(checkpoint_row(earlier), checkpoint_row(later), found)))


def _checkpoints(session: Session) -> list[Entry]:
    return [*session.ledger.newest_checkpoints()][::-1]


def _find_checkpoint(session: Session, ref: str | None) -> Entry:
    """Return the checkpoint whose id begins with `ref`, or the newest if `ref` is None."""
    checkpoints = _checkpoints(session)
    matches = [entry for entry in checkpoints if ref is None or entry.id.startswith(ref.lower())]
    if ref is None:
        matches = matches[-1:]
    if len(matches) > 1:
        raise Ambiguous("checkpoint", ref or "", tuple(entry.id[:12] for entry in matches))
    if not matches:
        raise NotRecorded("checkpoint", ref or "", where=f"session {session.name!r}")
    return matches[0]


def _previous(session: Session, later: Entry) -> Entry:
    earlier = [entry for entry in _checkpoints(session) if entry.seq < later.seq]
    if not earlier:
        raise NotRecorded("earlier checkpoint", "", where=f"session {session.name!r}")
    return earlier[-1]
