"""The guard on compressions: what must be true at the moment one is written.

Planning takes time and happens outside any lock. So a compression says what it was planned on,
and is written only if that still holds: the generation is unchanged, and everything it hides was
already there. Entries that arrived in between stay in sight.
"""

from collections.abc import Mapping

from holdfast.core.ledger.entry import Compressed, EntryId, Restored
from holdfast.core.ledger.head import Lane
from holdfast.errors import BadCompression, Conflict


def guard(
    session: str, lane: Lane, body: Compressed | Restored, numbers: Mapping[EntryId, int]
) -> None:
    """Let a compression through, or refuse it; `numbers` are those of the entries it names.

    Raises:
        Conflict: the window changed since it was planned.
        BadCompression: it hides what is not there or what came later.
    """
    if body.generation != lane.generation:
        raise Conflict(session, expected=body.generation, found=lane.generation)
    if isinstance(body, Compressed):
        _check_hidden(session, body, numbers)
    elif body.compressed not in numbers:
        raise BadCompression(session, f"there is no compression {body.compressed} to undo")


def _check_hidden(session: str, body: Compressed, numbers: Mapping[EntryId, int]) -> None:
    hidden = [name for step in body.steps for name in step.hides]
    if not hidden:
        raise BadCompression(session, "it hides nothing")
    if len(set(hidden)) != len(hidden):
        raise BadCompression(session, "two of its steps hide the same entry")
    for name in hidden:
        if name not in numbers:
            raise BadCompression(session, f"entry {name} is not in the ledger")
        if numbers[name] > body.watermark:
            raise BadCompression(session, f"entry {name} came after it was planned")
