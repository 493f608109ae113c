"""The program is about to compact: everything is put down first, and its summary is steered.

The conversation is archived and a checkpoint taken, so that nothing depends on what a model makes
of it. Whoever writes the summary is given the user's own words to keep, and the record.
"""

from holdfast.core.faults import attempt
from holdfast.core.view.conversation import render_conversation
from holdfast.engine.fault_log import noting
from holdfast.project.layout import archive_of
from holdfast.project.write import project
from holdfast.session.session import Session
from holdfast.surfaces.hooks.event import Happened, Reply
from holdfast.surfaces.hooks.session import LONGEST, followed, has_record, opened, told_within

RECORD = 1_500
"""Tokens of the record that the summary is to agree with."""
WORDS = """\
Keep word for word: the user's first request, their latest one, and every constraint and correction
of theirs. Name every file by its path with what was done to it, every decision with its reason,
errors that are still open, and the next step. Do not invent progress. What follows was read off the
record of this session; where your summary and the record disagree, the record is right.
"""


def answer(happened: Happened) -> Reply:
    """Archive, take a checkpoint, and say what the summary has to hold."""
    with opened(happened) as session:
        followed(happened, session)
        if not has_record(session):
            return Reply()
        secure(session)
        record = told_within(session, RECORD, LONGEST - len(WORDS), title="before compaction")
    return Reply(instructions=f"{WORDS}\n{record}")


def secure(session: Session) -> None:
    """Write the whole conversation and a checkpoint; if one fails, the other is still written."""
    with noting(session.ledger):
        attempt("hooks.archive", lambda: _archive(session), lambda: None)
        attempt("hooks.checkpoint", session.checkpoint, lambda: None)


def _archive(session: Session) -> None:
    whole = render_conversation(
        session.name, session.ledger.redactor.entries(session.ledger.path())
    )
    archive = archive_of(session.name, session.policy.layout)
    project(session.root, archive, whole.encode("utf-8", "surrogatepass"))
