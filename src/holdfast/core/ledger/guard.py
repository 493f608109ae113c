"""Check a compression or an undo against the ledger at the moment it is written.

Planning takes time and happens outside of any lock. So a compression names the generation and the
watermark of its plan. It is written only if the generation is unchanged and everything that it
hides existed at the watermark. Entries that arrived in between stay in the window.
"""

from collections.abc import Iterable, Mapping

from holdfast.core.ledger.entry import Compressed, Derived, Entry, EntryId, Restored
from holdfast.core.ledger.head import Lane
from holdfast.errors import BadCompression, Conflict


def check_compression(
    session: str, lane: Lane, body: Compressed | Restored, entries: Mapping[EntryId, Entry]
) -> None:
    """Refuse a compression or an undo that is no longer valid; `entries` are those of its lane.

    Raises:
        Conflict: the window changed since it was planned.
        BadCompression: it hides a missing or later entry, or undoes one that is not in force.
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
    exists = undone = False
    for entry in entries:
        if isinstance(entry.body, Compressed):
            exists = exists or entry.id == body.compressed
        elif isinstance(entry.body, Restored):
            undone = undone or entry.body.compressed == body.compressed
    if not exists or undone:
        raise BadCompression(session, f"no compression {body.compressed} is in force")
