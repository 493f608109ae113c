"""The user said something: a quick command is answered here, and every request is on record.

What a quick command tells is for the user, so the model is not asked; what it recovers is for the
model. A request is written down before anything is done about it.
"""

from holdfast.engine.originals import ASKED
from holdfast.errors import HoldfastError
from holdfast.surfaces.commands import Asked, understood
from holdfast.surfaces.hooks.event import NOTHING, Happened, Reply
from holdfast.surfaces.hooks.session import LONGEST, followed, opened

TO_MODEL = ("recover", "resume")
"""Commands whose answer the model is to have."""
HANDS_OVER = "compress"
OURS = ("<task-notification>", "<local-command", "<system-reminder>", "<bash-")
"""How prompts begin that the program wrote itself."""


def answer(happened: Happened) -> Reply:
    """Answer a quick command; put any other request on record."""
    if happened.prompt.lstrip().startswith(OURS) or not happened.prompt.strip():
        return NOTHING
    asked = understood(happened.prompt)
    with opened(happened) as session:
        if asked is None or asked.rest == "reset" or (asked.command.takes and not asked.rest):
            session.note(ASKED, text=happened.prompt)
            return NOTHING
        followed(happened, session)
        try:
            told = asked.command.run(session, asked.rest)
        except HoldfastError as error:
            told = str(error)
    return _reply(asked, told)


def _reply(asked: Asked, told: str) -> Reply:
    if asked.command.name in TO_MODEL:
        return Reply(context=told[:LONGEST])
    if asked.command.name == HANDS_OVER:
        told += "\n\nSay /compact to have the window itself made smaller now."
    return Reply(block=told[:LONGEST])
