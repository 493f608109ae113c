"""Going on in a fresh session: what the old one came to stands at its front, as data.

Both ledgers say so. The new session knows the rows of the old one: the first request stays the
first, constraints hold, and references lead back to where they were read.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.core.ledger.entry import Checkpointed, Entry, Resumed
from holdfast.core.ledger.head import Head
from holdfast.core.view.levels import LEVELS, Recovered
from holdfast.engine.checkpoints import checkpoints_of
from holdfast.engine.levels import within
from holdfast.engine.references import SHORTEST
from holdfast.engine.unattended import carry_over
from holdfast.errors import Ambiguous, BadSetting, NotRecorded
from holdfast.session.open import open as open_session
from holdfast.session.open import open_store
from holdfast.session.session import MODEL, Session
from holdfast.wire.detect import MESSAGE_WIRES

if TYPE_CHECKING:
    from holdfast.core.ledger.summary import Summary

BUDGET = LEVELS[3]
CONTINUED = "continued"
"""What the old session notes of the new one."""


def resume(
    session_or_ref: "Session | str",
    *,
    as_: str | None = None,
    budget: int = BUDGET,
    root: str | os.PathLike[str] | None = None,
) -> Session:
    """Open a fresh session that goes on from another one, or from a checkpoint of it.

    It begins with what the old one came to, in `budget` tokens: data in the user's role, marked as
    ours. `as_` names it; otherwise it is called after the old one.

    Raises:
        NotRecorded: there is no such session or checkpoint.
        Ambiguous: several begin like this.
        BadSetting: the name is taken.
    """
    old, named = found(session_or_ref, root)
    taken = named or _newest(old)
    assert isinstance(taken.body, Checkpointed)
    new = _fresh(old, as_, apart=isinstance(session_or_ref, Session))
    text = ready(old, named, budget).text
    old.note(CONTINUED, session=new.name, checkpoint=taken.id)
    # Last, so that the fresh one is the newest of the project.
    new.ledger.derive(Resumed(old.name, taken.id, taken.body.summary))
    carry_over(old.ledger, new.ledger)
    if model := (old.store.head(old.name) or Head()).model:
        new.note(MODEL, model=model)
    new.ledger.say(text)
    return new


def _newest(old: Session) -> Entry:
    """A checkpoint of where a session stands now."""
    old.checkpoint()
    return checkpoints_of(old.ledger.events(), old.agent)[-1]


def ready(old: Session, taken: Entry | None, budget: int) -> Recovered:
    """What a fresh session needs to go on, from a checkpoint or from where the old one stands."""
    rows: Summary | None = None
    if taken is not None:
        assert isinstance(taken.body, Checkpointed)
        rows = taken.body.summary
    return within(old.ledger, budget, title="resume point", rows=rows)


def found(
    session_or_ref: "Session | str", root: str | os.PathLike[str] | None = None
) -> tuple[Session, Entry | None]:
    """The session that is meant, and the checkpoint when one is named.

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
    fitting = _checkpoints_like(opened, name)
    if len(fitting) > 1:
        raise Ambiguous("checkpoint", name, tuple(entry.id[:12] for _, entry in fitting))
    if not fitting:
        raise NotRecorded("session or checkpoint", name)
    session, entry = fitting[0]
    return open_session(session, root=root, agent=entry.lane, store=opened.store), entry


def _checkpoints_like(opened: Session, ref: str) -> list[tuple[str, Entry]]:
    if len(ref) < SHORTEST:
        return []
    return [
        (listed.name, entry)
        for listed in opened.store.sessions()
        for entry in opened.store.read(listed.name)
        if isinstance(entry.body, Checkpointed) and entry.id.startswith(ref.lower())
    ]


def _fresh(old: Session, name: str | None, *, apart: bool) -> Session:
    """A session that is not there yet; `apart` when the old one may be closed before it is."""
    if name is not None and old.store.head(name) is not None:
        raise BadSetting("session", f"{name!r} is there already", origin="the caller")
    wire = (old.store.head(old.name) or Head()).wire
    wire = wire if wire in MESSAGE_WIRES else ""
    if not apart or not (old.owns_store and old.root):
        return old.sibling(name or _next(old), wire=wire)
    store = open_store(Path(old.root), project=getattr(old.store, "project", None))
    return old.sibling(name or _next(old), wire=wire, store=store)


def _next(old: Session) -> str:
    """The old name with the next free number."""
    base, dash, number = old.name.rpartition("-")
    stem, count = (base, int(number)) if dash and _is_number(number) else (old.name, 1)
    while True:
        count += 1
        name = f"{stem}-{count}"
        if old.store.head(name) is None:
            return name


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 4
