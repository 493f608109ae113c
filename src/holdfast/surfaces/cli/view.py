"""`holdfast view`: print the messages that would be sent to the model."""

import sys

import click

from holdfast.core.view.plan import usage_document
from holdfast.core.view.sent import render_sent
from holdfast.engine.live_window import message_dicts
from holdfast.errors import NotRecorded
from holdfast.session.session import Session
from holdfast.surfaces.cli.options import Selection, agent_option, complete_session, project_options
from holdfast.surfaces.cli.output import page, print_json, sanitize_for_terminal
from holdfast.wire.detect import DEFAULT_MESSAGE_WIRE, MESSAGE_WIRES, TRANSCRIPT_WIRES

EXAMPLE = """\b
Examples:
  holdfast view                        the newest session, as readable text
  holdfast view 3ae3 --json            the messages in a JSON document
  holdfast view --wire > request.json  only the messages, byte for byte"""


@click.command(epilog=EXAMPLE)
@click.argument(
    "session_name", required=False, metavar="[SESSION]", shell_complete=complete_session
)
@click.option(
    "--session", "named", shell_complete=complete_session, help="The same as the argument SESSION."
)
@agent_option
@click.option(
    "--wire", "as_bytes", is_flag=True, help="Print the JSON array of messages, byte for byte."
)
@project_options
def view(selection: Selection, named: str | None, as_bytes: bool, as_json: bool) -> None:
    """Print the window of SESSION exactly as it would be sent, including stand-ins.

    The current window is printed: nothing is planned, compressed or written.
    `holdfast compress --dry-run` shows what the engine would do before the next request. Each part
    is printed below the number and the role of its message; --json prints the messages.
    """
    if as_bytes and as_json:
        raise click.UsageError("give --wire or --json, not both")
    session = selection.project.session(selection.name or named, selection.agent)
    raws = session.ledger.live_window.messages()
    if not raws:
        raise NotRecorded("message to send", "", where=f"session {session.name!r}")
    if as_bytes:
        sys.stdout.buffer.write(b"[" + b",".join(raws) + b"]\n")
        return
    wire_format, messages = _format(session), message_dicts(raws)
    if as_json:
        document = {"session": session.name, "agent": session.agent, "format": wire_format}
        usage = usage_document(session.status())
        print_json("view", {**document, "usage": usage, "messages": messages})
        return
    page(
        sanitize_for_terminal(
            render_sent(MESSAGE_WIRES[wire_format].read(message) for message in messages)
        )
    )


def _format(session: Session) -> str:
    """Return the format of the messages."""
    wire = session.ledger.raw_head().wire or DEFAULT_MESSAGE_WIRE
    return TRANSCRIPT_WIRES[wire].SENT_AS if wire in TRANSCRIPT_WIRES else wire
