"""`holdfast view`: a session's window exactly as it would be sent."""

import sys

import click

from holdfast.core.ledger.head import Head
from holdfast.core.view.plan import usage_document
from holdfast.core.view.sent import render_sent
from holdfast.engine.live_window import copied
from holdfast.errors import NotRecorded
from holdfast.session.session import Session
from holdfast.surfaces.cli.options import complete_session, json_option, project_of, project_option
from holdfast.surfaces.cli.output import exact, page, print_json
from holdfast.wire.detect import MESSAGE_WIRES, PLAIN, TRANSCRIPT_WIRES

EXAMPLE = """\b
Examples:
  holdfast view                        what the newest session would send, readable
  holdfast view 3ae3 --json            the messages, for a program
  holdfast view --wire > request.json  the messages alone, byte for byte"""


@click.command(epilog=EXAMPLE)
@click.argument("name", required=False, metavar="[SESSION]", shell_complete=complete_session)
@click.option("--session", "named", shell_complete=complete_session, help="The same as SESSION.")
@click.option("--agent", default="", help="A sub-agent, whose window is its own.")
@click.option("--wire", "as_bytes", is_flag=True, help="The JSON array of messages, byte for byte.")
@project_option
@json_option
@click.pass_context
def view(
    ctx: click.Context,
    name: str | None,
    named: str | None,
    agent: str,
    as_bytes: bool,
    root: str | None,
    as_json: bool,
) -> None:
    """Print the window of a session exactly as it would be sent, stand-ins and all.

    This is the window as it is now: nothing is planned, compressed or written for it. What the
    engine would do before the next request is shown by `holdfast compress --dry-run`. Each part
    stands under the number and the role of its message; --json has the messages themselves.
    """
    if as_bytes and as_json:
        raise click.UsageError("give --wire or --json, not both")
    session = project_of(ctx, root).session(name or named, agent)
    raws = session.ledger.sight.messages()
    if not raws:
        raise NotRecorded("message to send", "", where=f"session {session.name!r}")
    if as_bytes:
        sys.stdout.buffer.write(b"[" + b",".join(raws) + b"]\n")
        return
    speaks, messages = _format(session), copied(raws)
    if as_json:
        document = {"session": session.name, "agent": session.agent, "format": speaks}
        usage = usage_document(session.status())
        print_json("view", {**document, "usage": usage, "messages": messages})
        return
    page(exact(render_sent(MESSAGE_WIRES[speaks].read(message) for message in messages)))


def _format(session: Session) -> str:
    """The format that the messages are in."""
    wire = (session.store.head(session.name) or Head()).wire or PLAIN
    return TRANSCRIPT_WIRES[wire].SPEAKS if wire in TRANSCRIPT_WIRES else wire
