"""The guard on compressions: what must be true at the moment one is written.

Planning takes time and happens outside any lock. So a compression says what it was planned on,
and is written only if that still holds: the generation is unchanged, and everything it hides was
already there. Entries that arrived in between stay in sight.
"""

from collections.abc import Iterable, Mapping

from holdfast.core.ledger.entry import Compressed, Derived, Entry, EntryId, Restored
from holdfast.core.ledger.head import Lane
from holdfast.errors import BadCompression, Conflict


def guard(
    session: str, lane: Lane, body: Compressed | Restored, entries: Mapping[EntryId, Entry]
) -> None:
    """Let a compression through, or refuse it; `entries` are those of its lane.

    Raises:
        Conflict: the window changed since it was planned.
        BadCompression: it hides what is not there or came later, or undoes what is not in force.
    """
    if body.generation != lane.generation:
        raise Conflict(session, expected=body.generation, found=lane.generation)
    if isinstance(body, Compressed):
        _check_hidden(session, body, entries)
    else:
        _check_undone(session, body, entries.values())


def _check_hidden(session: str, body: Compressed, entries: Mapping[EntryId, Entry]) -> None:
    hidden = [name for step in body.steps for name in step.hides]
    if not hidden:
        raise BadCompression(session, "it hides nothing")
    if len(set(hidden)) != len(hidden):
        raise BadCompression(session, "two of its steps hide the same entry")
    for name in hidden:
        entry = entries.get(name)
        if entry is None or isinstance(entry.body, Derived):
            raise BadCompression(session, f"{name} is no source entry of this agent")
        if entry.seq > body.watermark:
            raise BadCompression(session, f"entry {name} came after it was planned")


def _check_undone(session: str, body: Restored, entries: Iterable[Entry]) -> None:
    made = lifted = False
    for entry in entries:
        if isinstance(entry.body, Compressed):
            made = made or entry.id == body.compressed
        elif isinstance(entry.body, Restored):
            lifted = lifted or entry.body.compressed == body.compressed
    if not made or lifted:
        raise BadCompression(session, f"no compression {body.compressed} is in force")
