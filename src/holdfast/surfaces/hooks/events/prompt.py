"""Answer a prompt: run a quick command, or store the user's request.

The result of a quick command goes to the user, without the model; only what it recovers goes to the
model. A request is stored before anything else is done with it.
"""

from holdfast.core.ledger.notes import Prompted
from holdfast.errors import HoldfastError
from holdfast.session.session import record
from holdfast.surfaces.commands import ParsedCommand, parse_quick_command
from holdfast.surfaces.hooks.event import NOTHING, HookEvent, HookReply
from holdfast.surfaces.hooks.session import MAX_CONTEXT_CHARS, follow_transcript, open_event_session

MODEL_COMMANDS = ("recover", "resume")
"""Commands whose result goes to the model."""
COMPRESS_COMMAND = "compress"
PROGRAM_PREFIXES = ("<task-notification>", "<local-command", "<system-reminder>", "<bash-")
"""Prefixes of prompts that the program wrote itself."""


def answer(event: HookEvent) -> HookReply:
    """Run a quick command; store any other request."""
    if event.prompt.lstrip().startswith(PROGRAM_PREFIXES) or not event.prompt.strip():
        return NOTHING
    command = parse_quick_command(event.prompt)
    with open_event_session(event) as session:
        if (
            command is None
            or command.rest == "reset"
            or (command.command.argument and not command.rest)
        ):
            record(session, Prompted(event.prompt))
            return NOTHING
        follow_transcript(event, session)
        try:
            result = command.command.run(session, command.rest)
        except HoldfastError as error:
            result = str(error)
    return _reply_to_command(command, result)


def _reply_to_command(command: ParsedCommand, result: str) -> HookReply:
    if command.command.name in MODEL_COMMANDS:
        return HookReply(context=result[:MAX_CONTEXT_CHARS])
    if command.command.name == COMPRESS_COMMAND:
        result += "\n\nSay /compact to have the window itself made smaller now."
    return HookReply(block=result[:MAX_CONTEXT_CHARS])
