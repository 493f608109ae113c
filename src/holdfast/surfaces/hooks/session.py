"""Shared by all event handlers: load the policy, open the session, render recovery context."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.core.faults import attempt
from holdfast.core.ledger.entry import Said, is_request, text_of
from holdfast.core.ledger.head import Document
from holdfast.core.plan.policy import Policy
from holdfast.engine.fault_log import noting_faults
from holdfast.errors import Unreadable
from holdfast.project.settings import load_for
from holdfast.session.open import open as open_session
from holdfast.session.session import Session
from holdfast.surfaces.hooks.event import HookEvent, TranscriptTooLarge

if TYPE_CHECKING:
    pass

RECOVERY_HINT = "context_recover, or `holdfast recover`"
"""How an agent gets the parts that were left out."""
MAX_CONTEXT_CHARS = 9_500
"""Characters that every program accepts in one text, with a small margin."""
UNATTENDED_KIND = "session_end"
"""The kind of event that the program does not wait for: it may read transcripts of any size."""
MAX_TRANSCRIPT_BYTES = 256 * 1024 * 1024
"""A larger transcript is not read while the program waits."""
MAX_ENTRIES = 1_000_000
"""A session with more entries is not read while the program waits."""


def policy_of(event: HookEvent) -> Policy:
    """Load the user's policy over the defaults for the program.

    Raises:
        BadSetting: invalid value for a setting.
    """
    return load_for(event.agent, Path(event.root), os.environ, outside=False).policy


def open_event_session(event: HookEvent, policy: Policy | None = None) -> Session:
    """Open the session of an event."""
    chosen = policy or policy_of(event)
    return open_session(
        event.session, root=event.root, agent=event.lane, model=event.model or None, policy=chosen
    )


def follow_transcript(event: HookEvent, session: Session) -> int:
    """Read new entries of the transcript into the session; return how many were added.

    Raises:
        TranscriptTooLarge: it was never read, and is too large to read while the program waits.
    """
    if not event.transcript:
        return 0
    if event.kind != UNATTENDED_KIND and _is_huge_and_new(event.transcript, session):
        raise TranscriptTooLarge
    from holdfast.transcripts.follow import (
        follow,  # late: the answer to a tool result does not need it
    )

    with suppress(Unreadable, FileNotFoundError):  # the program writes it after the first answer
        return follow(session.store, session.name, event.transcript, policy=session.policy)
    return 0


def _is_huge_and_new(transcript: str, session: Session) -> bool:
    """Whether a file was never read to its end, and is too large for any hook.

    A smaller file is read over several events, each of which continues after the last one.
    """
    try:
        if os.path.getsize(transcript) <= MAX_TRANSCRIPT_BYTES:
            return False
    except OSError:
        return False
    head = session.ledger.raw_head()
    return not head.documents.get("", Document()).path


def has_record(session: Session) -> bool:
    """Whether a session has any entries.

    Raises:
        TranscriptTooLarge: it has too many to read while the program waits.
    """
    head = session.store.head(session.name)
    if head is not None and head.seq > MAX_ENTRIES:
        raise TranscriptTooLarge
    return head is not None and bool(head.lane(session.agent).end)


def render_recovery(session: Session, tokens: int, characters: int, *, title: str) -> str:
    """Render what an agent needs to continue, within both limits; no fence is cut open."""
    with noting_faults(session.ledger):
        return attempt(
            "hooks.recovery",
            lambda: _render_within_budget(session, tokens, characters, title),
            lambda: _render_stored_requests(session, characters),
        )


def _render_stored_requests(session: Session, characters: int) -> str:
    """Render the stored first and latest request: the fallback if rendering fails."""
    bodies = (entry.body for entry in session.ledger.path())
    requests = [text_of(body) for body in bodies if isinstance(body, Said) and is_request(body)]
    return render_requests(requests, characters)


def render_requests(requests: Sequence[str], characters: int, *, more: Iterable[str] = ()) -> str:
    """Render the first and the latest of some requests, and further lines that fit."""
    ends = {"First request": requests[:1], "Latest request": requests[1:][-1:]}
    besides = list(more)
    room = characters // (3 if besides else 2) - 20
    lines = [f"{name}: {text[:room]}" for name, texts in ends.items() for text in texts]
    left = characters - sum(len(line) + 1 for line in lines)
    for line in besides:
        # Never cut a line: half a sentence may mean the opposite.
        if len(line) < left:
            lines.append(line)
            left -= len(line) + 1
    return "\n".join(lines)


def _render_within_budget(session: Session, tokens: int, characters: int, title: str) -> str:
    from holdfast.engine.levels import level_in_budget  # late: most events do not need it

    return level_in_budget(
        session.ledger, tokens, title=title, more=RECOVERY_HINT, characters=characters
    ).text
