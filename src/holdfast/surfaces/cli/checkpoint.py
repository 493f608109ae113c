"""`holdfast checkpoint`: put down where the work stands, look at it again, and start afresh."""

import click
from msgspec import to_builtins

from holdfast.core.ledger.entry import Checkpointed, Entry
from holdfast.core.view.checkpoints import Listed, changes, listed, render_changes
from holdfast.engine.checkpoints import checkpoints_of, page_of
from holdfast.errors import Ambiguous, NotRecorded
from holdfast.session.session import Session
from holdfast.surfaces.actions import start_afresh
from holdfast.surfaces.cli.options import json_option, project_of, project_option, session_option
from holdfast.surfaces.cli.output import echo, exact, page, plain, plain_lines, print_json, short

EXAMPLE = """\b
Examples:
  holdfast checkpoint                      put down where the work stands
  holdfast checkpoint --reset              and go on in a fresh session
  holdfast checkpoint list
  holdfast checkpoint diff                 what changed between the last two"""


@click.group(epilog=EXAMPLE, invoke_without_command=True)
@click.option("--reset", is_flag=True, help="End the session and open a fresh one that goes on.")
@click.option("--as", "new", metavar="NAME", help="With --reset: what the fresh one is called.")
@session_option
@project_option
@json_option
@click.pass_context
def checkpoint(
    ctx: click.Context,
    reset: bool,
    new: str | None,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Put down where a session stands: no model, nothing leaves the window.

    The ledger gets an entry, and cache/checkpoints a page that anyone can read. With --reset, the
    session is ended and a fresh one is opened that goes on from there; what it needs is printed.
    """
    if ctx.invoked_subcommand is not None:
        return
    if new is not None and not reset:
        raise click.UsageError("--as goes with --reset")
    session = project_of(ctx, root).session(name, agent)
    if reset:
        _start_afresh(session, new, as_json=as_json)
        return
    made = session.checkpoint()
    if as_json:
        print_json("checkpoint", {"session": session.name, "ref": made.ref, "path": made.path})
    else:
        echo(plain(f"checkpoint {made.ref} of {session.name}"))
        if made.path:
            echo(plain(f"  {made.path}"))
        echo(f"go on from it: holdfast resume {made.ref}")


def _start_afresh(session: Session, name: str | None, *, as_json: bool) -> None:
    made = start_afresh(session, name)
    if as_json:
        document = {
            "session": session.name,
            "ref": made.ended.ref,
            "path": made.ended.path,
            "fresh": made.fresh,
            "text": made.text,
        }
        print_json("checkpoint", document)
    else:
        echo(exact(made.text))
        told = (
            f"holdfast: {session.name} ended at checkpoint {made.ended.ref}; {made.fresh} goes on"
        )
        echo(plain(told), err=True)


@checkpoint.command("list", epilog=EXAMPLE)
@session_option
@project_option
@json_option
@click.pass_context
def list_(
    ctx: click.Context, name: str | None, agent: str, root: str | None, as_json: bool
) -> None:
    """List the checkpoints of a session, the newest last."""
    session = project_of(ctx, root).session(name, agent)
    found = [listed(entry) for entry in _all(session)]
    if as_json:
        print_json("checkpoint", {"session": session.name, "checkpoints": to_builtins(found)})
        return
    for one in found:
        echo(plain(_row(one)))
    if not found:
        echo(plain(f"no checkpoints in {session.name} yet"))


def _row(one: Listed) -> str:
    full = f"{short(one.tokens)} of {short(one.limit)}"
    when = one.at[:19].replace("T", " ")
    return f"{one.ref}  {when:19}  {one.entries:>6,} entries  {full:>14}  {one.trigger}"


@checkpoint.command(epilog=EXAMPLE)
@click.argument("ref", required=False)
@session_option
@project_option
@json_option
@click.pass_context
def show(
    ctx: click.Context,
    ref: str | None,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Show a checkpoint as people read it: the one REF names, or the newest."""
    session = project_of(ctx, root).session(name, agent)
    entry = _one(session, ref)
    assert isinstance(entry.body, Checkpointed)
    if as_json:
        rows = to_builtins(entry.body.summary)
        document = {"session": session.name, **to_builtins(listed(entry)), "summary": rows}
        print_json("checkpoint", document)
    else:
        page(plain_lines(page_of(entry.body.summary, session.name)))


@checkpoint.command(epilog=EXAMPLE)
@click.argument("old", required=False)
@click.argument("new", required=False)
@session_option
@project_option
@json_option
@click.pass_context
def diff(
    ctx: click.Context,
    old: str | None,
    new: str | None,
    name: str | None,
    agent: str,
    root: str | None,
    as_json: bool,
) -> None:
    """Say what changed from checkpoint OLD to NEW: by default, between the last two."""
    session = project_of(ctx, root).session(name, agent)
    later = _one(session, new)
    earlier = _one(session, old) if old is not None else _before(session, later)
    assert isinstance(earlier.body, Checkpointed)
    assert isinstance(later.body, Checkpointed)
    found = changes(earlier.body.summary, later.body.summary)
    if as_json:
        document = {
            "session": session.name,
            "old": to_builtins(listed(earlier)),
            "new": to_builtins(listed(later)),
            "changes": to_builtins(found),
        }
        print_json("checkpoint", document)
    else:
        page(plain_lines(render_changes(listed(earlier), listed(later), found)))


def _all(session: Session) -> list[Entry]:
    return checkpoints_of(session.ledger.events(), session.agent)


def _one(session: Session, ref: str | None) -> Entry:
    """The checkpoint that a reference names; the newest without one."""
    taken = _all(session)
    fitting = [entry for entry in taken if ref is None or entry.id.startswith(ref.lower())]
    if ref is None:
        fitting = fitting[-1:]
    if len(fitting) > 1:
        raise Ambiguous("checkpoint", ref or "", tuple(entry.id[:12] for entry in fitting))
    if not fitting:
        raise NotRecorded("checkpoint", ref or "", where=f"session {session.name!r}")
    return fitting[0]


def _before(session: Session, later: Entry) -> Entry:
    earlier = [entry for entry in _all(session) if entry.seq < later.seq]
    if not earlier:
        raise NotRecorded("earlier checkpoint", "", where=f"session {session.name!r}")
    return earlier[-1]
