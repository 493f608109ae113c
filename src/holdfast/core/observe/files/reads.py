"""Reads that a later read or write made redundant."""

from collections.abc import Sequence

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import ToolReturned
from holdfast.core.observe.files.touch import Touch
from holdfast.core.observe.scene import Pair, Scene


class Newer(Struct, frozen=True):
    """What came after a read and took its place."""

    call: int
    """Where the later call stands."""
    verb: str
    """`read` when the same lines were read again, `write` when the file was written since."""


@rule({})
def superseded(scene: Scene, touches: Sequence[Touch]) -> dict[int, Newer]:
    """For each read whose lines were read again or overwritten: what did it."""
    later: dict[str, list[tuple[Touch, int, float]]] = {}
    found: dict[int, Newer] = {}
    for pair, touch in reversed(list(zip(scene.pairs, touches, strict=True))):
        if not touch.path or pair.result is None or _failed(scene, pair):
            continue
        size = _size(scene, pair.result)
        if touch.verb == "read":
            newer = next(
                (n for n in later.get(touch.path, []) if _covers(n[0], touch) and n[2] >= size / 2),
                None,
            )
            if newer is not None:
                found[pair.result] = Newer(newer[1], newer[0].verb)
        if touch.verb in ("read", "write"):
            # A later read may answer that nothing changed: then it shows nothing.
            shown = size if touch.verb == "read" else float("inf")
            later.setdefault(touch.path, []).append((touch, pair.call, shown))
    return found


def _size(scene: Scene, at: int) -> int:
    body = scene.items[at].body
    return len(body.output) if isinstance(body, ToolReturned) else 0


def _failed(scene: Scene, pair: Pair) -> bool:
    assert pair.result is not None
    body = scene.items[pair.result].body
    return not isinstance(body, ToolReturned) or body.failed


def _covers(newer: Touch, older: Touch) -> bool:
    """Whether the later call shows all the lines that the earlier one did."""
    if newer.verb == "write" or not newer.paged:
        return True
    if not older.paged or not older.last or not newer.last:
        return False
    return max(newer.first, 1) <= max(older.first, 1) and newer.last >= older.last
