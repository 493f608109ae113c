"""Programs that clear or compact a window without a hook that can inject context.

`answer_and_remind`: the window is about to be compacted. Answer the event as usual, and add the
context that must not be lost, once.

`note_or_remind`: store a note (another session follows this one, or the user compacted the window),
and deliver the context with the next prompt.
"""

from msgspec.structs import replace

from holdfast.core.ledger.entry import Compacted
from holdfast.core.ledger.notes import (
    CompactedByHand,
    FollowedBy,
    Prompted,
    Reminded,
    is_note,
    note_of,
)
from holdfast.session.session import Session, record
from holdfast.stores.store import events_newest_first
from holdfast.surfaces.hooks.event import NOTHING, HookEvent, HookReply
from holdfast.surfaces.hooks.events import prompt, tool_result
from holdfast.surfaces.hooks.events.compaction import secure
from holdfast.surfaces.hooks.events.session import (
    cleared_session_context,
    find_cleared_session,
    find_predecessor,
    start,
)
from holdfast.surfaces.hooks.session import follow_transcript, open_event_session


def answer_and_remind(event: HookEvent) -> HookReply:
    """Answer as usual, and add the context that must not be lost."""
    reply = tool_result.answer(event) if event.tool else prompt.answer(event)
    if reply.block:
        return reply
    with open_event_session(event) as session:
        follow_transcript(event, session)
        if _was_reminded(session):
            return reply
        secure(session)
        record(session, Reminded())
    reminder = start(event).context
    return replace(reply, context="\n\n".join(filter(None, (reply.context, reminder))))


def _was_reminded(session: Session) -> bool:
    """Whether the agent got the context since the last compaction."""
    for entry in events_newest_first(session.store, session.name):
        if isinstance(entry.body, Compacted):
            return False
        if is_note(entry.body, Reminded):
            return True
    return False


MAX_NOTE_ENTRIES = 50
"""Entries at the end of a session in which such a note must be: it is the last thing stored."""


def note_or_remind(event: HookEvent) -> HookReply:
    """Store a note about a clear or a compaction; deliver the context with the next prompt."""
    match event.source:
        case "clear":
            return _note_cleared(event)
        case "manual":
            return _note_compacted(event)
        case _:
            return _answer_prompt(event)


def _note_cleared(event: HookEvent) -> HookReply:
    with open_event_session(event) as session:
        last = find_cleared_session(event, session)
        if last is not None:
            record(last, FollowedBy(session.name))
    return NOTHING


def _note_compacted(event: HookEvent) -> HookReply:
    with open_event_session(event) as session:
        follow_transcript(event, session)
        if session.ledger.raw_head().lane(session.agent).end:
            secure(session)
            record(session, CompactedByHand())
    return NOTHING


def _answer_prompt(event: HookEvent) -> HookReply:
    reminder = _due_reminder(event)
    reply = prompt.answer(event)
    if reply.block or not reminder:
        return reply
    return replace(reply, context="\n\n".join(filter(None, (reply.context, reminder))))


def _due_reminder(event: HookEvent) -> str:
    """Return the context that a note asks for; empty if there is none."""
    with open_event_session(event) as session:
        note_kinds = _recent_note_kinds(session)
        if CompactedByHand not in note_kinds:
            has_begun = event.tokens or Prompted in note_kinds
            return "" if has_begun else _predecessor_context(event, session)
    return start(replace(event, source="compact")).context


def _predecessor_context(event: HookEvent, session: Session) -> str:
    """Render the context of the session that this one follows, if any."""
    last = find_predecessor(event, session)
    return cleared_session_context(last, session) if last is not None else ""


def _recent_note_kinds(session: Session) -> list[type]:
    """Return the kinds of the notes from the last prompt on."""
    head = session.store.head(session.name)
    since = max(head.seq - MAX_NOTE_ENTRIES, 0) if head is not None else 0
    entries = session.store.read(session.name, since=since)
    kinds = [type(note_of(entry.body)) for entry in entries]
    prompts = [position for position, kind in enumerate(kinds) if kind is Prompted]
    return kinds[prompts[-1] :] if prompts else kinds
