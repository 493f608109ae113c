"""Resume a session: open a fresh one that starts with a summary of the old one, as data.

Both ledgers record it. The new session inherits the rows of the old one: the first request stays
the first, constraints remain in force, and references into the old session can be read.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.core.ledger.entry import Checkpointed, Entry, Resumed
from holdfast.core.ledger.notes import Continued, ModelNamed
from holdfast.core.view.levels import LEVELS, RecoveryLevel
from holdfast.engine.ledger import CHECKPOINT
from holdfast.engine.levels import level_in_budget
from holdfast.engine.references import MIN_REF_CHARS
from holdfast.engine.unattended import continue_run
from holdfast.errors import Ambiguous, BadSetting, NotRecorded
from holdfast.session.open import open as open_session
from holdfast.session.open import open_store
from holdfast.session.session import Session, record
from holdfast.wire.detect import MESSAGE_WIRES

if TYPE_CHECKING:
    from holdfast.core.ledger.summary import Summary

RESUME_BUDGET = LEVELS[3]


def resume(
    session_or_ref: "Session | str",
    *,
    as_: str | None = None,
    budget: int = RESUME_BUDGET,
    root: str | os.PathLike[str] | None = None,
) -> Session:
    """Open a fresh session that continues another one, or a checkpoint of it.

    It starts with a summary of the old one, of at most `budget` tokens: data in the user's role,
    marked as ours. `as_` names it; by default its name is the old one with the next number.

    Raises:
        NotRecorded: there is no such session or checkpoint.
        Ambiguous: several checkpoints begin like this.
        BadSetting: the name is taken.
    """
    old, named = find_resumable(session_or_ref, root)
    checkpoint = named or _checkpoint_now(old)
    assert isinstance(checkpoint.body, Checkpointed)
    new = _new_session(old, as_, own_store=isinstance(session_or_ref, Session))
    text = resume_point(old, named, budget).text
    record(old, Continued(new.name, checkpoint.id))
    # Written last, so that the fresh session is the newest of the project.
    new.ledger.derive(Resumed(old.name, checkpoint.id, checkpoint.body.summary))
    continue_run(old.ledger, new.ledger)
    if model := old.ledger.raw_head().model:
        record(new, ModelNamed(model))
    new.ledger.append_own_message(text)
    return new


def _checkpoint_now(old: Session) -> Entry:
    """Take a checkpoint of a session, and return its entry."""
    old.checkpoint()
    return next(old.ledger.newest_checkpoints())


def resume_point(old: Session, checkpoint: Entry | None, budget: int) -> RecoveryLevel:
    """Render what a fresh session needs to continue, from a checkpoint or the current state."""
    rows: Summary | None = None
    if checkpoint is not None:
        assert isinstance(checkpoint.body, Checkpointed)
        rows = checkpoint.body.summary
    return level_in_budget(old.ledger, budget, title="resume point", rows=rows)


def find_resumable(
    session_or_ref: "Session | str", root: str | os.PathLike[str] | None = None
) -> tuple[Session, Entry | None]:
    """Return the session that is meant, and its checkpoint if the reference names one.

    Raises:
        NotRecorded: there is neither a session nor a checkpoint of that name.
        Ambiguous: several checkpoints begin like this.
    """
    if isinstance(session_or_ref, Session):
        return session_or_ref, None
    name = session_or_ref
    opened = open_session(name, root=root)
    if opened.store.head(name) is not None:
        return opened, None
    fitting = _checkpoints_by_ref(opened, name)
    if len(fitting) > 1:
        raise Ambiguous("checkpoint", name, tuple(entry.id[:12] for _, entry in fitting))
    if not fitting:
        raise NotRecorded("session or checkpoint", name)
    session, entry = fitting[0]
    return open_session(session, root=root, agent=entry.lane, store=opened.store), entry


def _checkpoints_by_ref(opened: Session, ref: str) -> list[tuple[str, Entry]]:
    if len(ref) < MIN_REF_CHARS:
        return []
    return [
        (info.name, entry)
        for info in opened.store.sessions()
        for entry in opened.store.events(info.name, kinds=(CHECKPOINT,))
        if entry.id.startswith(ref.lower())
    ]


def _new_session(old: Session, name: str | None, *, own_store: bool) -> Session:
    """Return a new session; with `own_store`, the old one may be closed before it."""
    if name is not None and old.store.head(name) is not None:
        raise BadSetting("session", f"{name!r} is there already", origin="the caller")
    wire = old.ledger.raw_head().wire
    wire = wire if wire in MESSAGE_WIRES else ""
    if not own_store or not (old.owns_store and old.root):
        return old.sibling(name or _next_name(old), wire=wire)
    store = open_store(Path(old.root), project=getattr(old.store, "project", None))
    return old.sibling(name or _next_name(old), wire=wire, store=store)


def _next_name(old: Session) -> str:
    """Return the old name with the next free number."""
    base, separator, number = old.name.rpartition("-")
    stem, count = (base, int(number)) if separator and _is_number(number) else (old.name, 1)
    while True:
        count += 1
        name = f"{stem}-{count}"
        if old.store.head(name) is None:
            return name


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 4
