"""Answer a program that compacts: store everything, then steer its summary or provide our own.

`steer_summary`: archive the conversation and take a checkpoint, so that nothing depends on the
model's summary. Give the model that summarizes the user's words to keep, and the record.

`give_summary`: one message replaces the whole window. No older message is sent again, so no
signature can become invalid. The agent's last messages follow as text, because its calls and
results are removed too.
"""

from holdfast.core.faults import attempt
from holdfast.core.ledger.marks import SUMMARY_MARK
from holdfast.core.ledger.notes import Anchored
from holdfast.engine.fault_log import noting_faults
from holdfast.project.layout import archive_path
from holdfast.session.session import Session, record
from holdfast.surfaces.hooks.event import HookEvent, HookReply, WindowMessage
from holdfast.surfaces.hooks.session import (
    MAX_CONTEXT_CHARS,
    follow_transcript,
    has_record,
    open_event_session,
    render_recovery,
)
from holdfast.text.clip import clip_middle

RECORD_TOKENS = 1_500
"""Tokens of the record that goes with the instructions for the summary."""
SUMMARY_INSTRUCTIONS = """\
Keep word for word: the user's first request, their latest one, and every constraint and correction
of theirs. Name every file by its path with what was done to it, every decision with its reason,
errors that are still open, and the next step. Do not invent progress. What follows was read off the
record of this session; where your summary and the record disagree, the record is right.
"""


def steer_summary(event: HookEvent) -> HookReply:
    """Archive, take a checkpoint, and return instructions for the summary."""
    with open_event_session(event) as session:
        follow_transcript(event, session)
        if not has_record(session):
            return HookReply()
        secure(session)
        recovery = render_recovery(
            session,
            RECORD_TOKENS,
            MAX_CONTEXT_CHARS - len(SUMMARY_INSTRUCTIONS),
            title="before compaction",
        )
    return HookReply(instructions=f"{SUMMARY_INSTRUCTIONS}\n{recovery}")


def secure(session: Session) -> None:
    """Archive the conversation and take a checkpoint, each even if the other fails."""
    with noting_faults(session.ledger):
        page = archive_path(session.name, session.policy.layout)
        attempt("hooks.archive", lambda: session.ledger.archive.write(page), lambda: None)
        attempt("hooks.checkpoint", session.checkpoint, lambda: None)


SUMMARY_TOKENS = 4_000
"""Tokens of our summary."""
MAX_LATEST_CHARS = 6_000
"""Characters of the last messages, after the summary."""
MAX_MESSAGE_CHARS = 1_500
NOT_SPOKEN_PREFIXES = ("<system-reminder>", "<local-command", "<command-name>", SUMMARY_MARK)
"""Prefixes of texts that neither the user nor the agent wrote."""
CONTINUE_TEXT = "Go on with the work from here; do not ask what it was about."


def give_summary(event: HookEvent) -> HookReply:
    """Return the summary that replaces the whole window."""
    with open_event_session(event) as session:
        follow_transcript(event, session)
        if event.lane or not has_record(session):
            return HookReply()
        secure(session)
        summary = str(session.summary(SUMMARY_TOKENS))
        record(session, Anchored(event.source))
    latest = _render_latest(event.messages)
    asked = (
        f"\n\nThe user asked of this compaction: {event.instructions}"
        if (event.instructions)
        else ""
    )
    return HookReply(anchor=f"{summary}{asked}\n\n{latest}{CONTINUE_TEXT}")


def _render_latest(messages: tuple[WindowMessage, ...]) -> str:
    """Render the last messages as text, as many as fit."""
    lines: list[str] = []
    room = MAX_LATEST_CHARS
    for message in reversed(messages):
        text = clip_middle(
            message.text.strip(),
            MAX_MESSAGE_CHARS // 2,
            MAX_MESSAGE_CHARS // 2,
            "\n[… {:,} characters …]\n",
        )
        if not text or text.startswith(NOT_SPOKEN_PREFIXES):
            continue
        line = f"[{message.role}] {text}"
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    return "Latest, as it was said:\n" + "\n\n".join(reversed(lines)) + "\n\n" if lines else ""
