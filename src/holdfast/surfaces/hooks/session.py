"""What the kinds of events share: the policy of the program at hand, and its session opened."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.core.faults import attempt
from holdfast.core.ledger.entry import Said, is_request, text_of
from holdfast.core.ledger.head import Document, Head
from holdfast.core.plan.policy import Policy
from holdfast.engine.fault_log import noting
from holdfast.errors import Unreadable
from holdfast.project.settings import load_for
from holdfast.session.open import open as open_session
from holdfast.session.session import Session
from holdfast.surfaces.hooks.event import Happened, TooMuch

if TYPE_CHECKING:
    from holdfast.engine.checkpoints import Checkpoint

RECOVER = "context_recover, or `holdfast recover`"
"""Where the rest is, as an agent can reach it."""
LONGEST = 9_500
"""Characters that every program takes at once: a little less than the least of them."""
ALONE = "session_end"
"""The kind of event that nobody waits for: it has the time to read anything."""
HUGE = 256 * 1024 * 1024
"""Bytes of a transcript that no hook can read while somebody waits."""
MOST = 1_000_000
"""Entries that no hook can go through while somebody waits."""
LONG = 30_000
"""Entries from which on a checkpoint, which is read off all of them, takes longer than a turn's end
may: there it is taken before a compaction and at the end of the session only."""


def policy_of(happened: Happened) -> Policy:
    """What the user decided, over what suits the program.

    Raises:
        BadSetting: a setting cannot be meant.
    """
    return load_for(happened.agent, Path(happened.root), os.environ, outside=False).policy


def opened(happened: Happened, policy: Policy | None = None) -> Session:
    """The session that something happened in."""
    chosen = policy or policy_of(happened)
    return open_session(
        happened.session,
        root=happened.root,
        agent=happened.lane,
        model=happened.model or None,
        policy=chosen,
    )


def followed(happened: Happened, session: Session) -> int:
    """Bring the session up to date with its transcript; how many entries were new.

    Raises:
        TooMuch: nobody has read it yet, and it is so large that nobody can wait for that.
    """
    if not happened.transcript:
        return 0
    if happened.kind != ALONE and _is_huge_and_new(happened.transcript, session):
        raise TooMuch
    from holdfast.transcripts.follow import follow  # late: a result is answered without it

    with suppress(Unreadable, FileNotFoundError):  # it is not written before the first answer
        return follow(session.store, session.name, happened.transcript, policy=session.policy)
    return 0


def _is_huge_and_new(transcript: str, session: Session) -> bool:
    """Whether a file was never read to its end, and would take longer than any hook has.

    One that is smaller is read over several events: each begins by comparing what is known.
    """
    try:
        if os.path.getsize(transcript) <= HUGE:
            return False
    except OSError:
        return False
    head = session.store.head(session.name) or Head()
    return not head.documents.get("", Document()).path


def has_record(session: Session) -> bool:
    """Whether anything was said in a session.

    Raises:
        TooMuch: so much that nobody can wait for all of it to be gone through.
    """
    head = session.store.head(session.name)
    if head is not None and head.seq > MOST:
        raise TooMuch
    return bool(session.ledger.path())


def put_down(session: Session) -> "Checkpoint | None":
    """Put down where the work stands, while somebody waits: not where that takes too long."""
    head = session.store.head(session.name)
    return session.checkpoint() if head is not None and head.seq <= LONG else None


def told_within(session: Session, tokens: int, characters: int, *, title: str) -> str:
    """What a reader needs to go on, in so many tokens and characters; a fence is never cut."""
    with noting(session.ledger):
        return attempt(
            "hooks.recovery",
            lambda: _within(session, tokens, characters, title),
            lambda: _requests(session, characters),
        )


def _requests(session: Session, characters: int) -> str:
    """The first and the latest request as they are stored, when nothing better can be made."""
    spoken = (entry.body for entry in session.ledger.path())
    said = [text_of(body) for body in spoken if isinstance(body, Said) and is_request(body)]
    return words_within(said, characters)


def words_within(said: Sequence[str], characters: int, *, more: Iterable[str] = ()) -> str:
    """The first and the latest of some requests, and more lines, in so many characters."""
    ends = {"First request": said[:1], "Latest request": said[1:][-1:]}
    besides = list(more)
    room = characters // (3 if besides else 2) - 20
    lines = [f"{name}: {text[:room]}" for name, texts in ends.items() for text in texts]
    left = characters - sum(len(line) + 1 for line in lines)
    for line in besides:
        # Whole or not at all: half a sentence may say the opposite.
        if len(line) < left:
            lines.append(line)
            left -= len(line) + 1
    return "\n".join(lines)


def _within(session: Session, tokens: int, characters: int, title: str) -> str:
    from holdfast.engine.levels import within  # late: only what is told needs it

    made = ""
    for budget in (tokens, tokens * 3 // 4, tokens // 2, tokens // 4):
        made = within(session.ledger, budget, title=title, more=RECOVER).text
        if len(made) <= characters:
            return made
    return made
