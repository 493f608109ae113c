"""Find file reads that a later read or write of the same lines made redundant."""

from collections.abc import Sequence

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import ToolReturned
from holdfast.core.observe.files.touch import Touch
from holdfast.core.observe.scene import Pair, Scene


class NewerCall(Struct, frozen=True):
    """The later call that makes a read redundant."""

    call: int
    """Index of the later call among the items."""
    verb: str
    """`read` if the same lines were read again, `write` if the file was written."""


@rule({})
def superseded_reads(scene: Scene, touches: Sequence[Touch]) -> dict[int, NewerCall]:
    """Return, by index of the result, the later call that makes each redundant read redundant."""
    later: dict[str, list[tuple[Touch, int, float]]] = {}
    replacements: dict[int, NewerCall] = {}
    for pair, touch in reversed(list(zip(scene.pairs, touches, strict=True))):
        if not touch.path or pair.result is None or _result_failed(scene, pair):
            continue
        size = _output_size(scene, pair.result)
        if touch.verb == "read":
            newer = next(
                (
                    candidate
                    for candidate in later.get(touch.path, [])
                    if _covers(candidate[0], touch) and candidate[2] >= size / 2
                ),
                None,
            )
            if newer is not None:
                replacements[pair.result] = NewerCall(newer[1], newer[0].verb)
        if touch.verb in ("read", "write"):
            # A later read may only report that nothing changed: its size decides.
            visible_size = size if touch.verb == "read" else float("inf")
            later.setdefault(touch.path, []).append((touch, pair.call, visible_size))
    return replacements


def _output_size(scene: Scene, at: int) -> int:
    body = scene.items[at].body
    return len(body.output) if isinstance(body, ToolReturned) else 0


def _result_failed(scene: Scene, pair: Pair) -> bool:
    assert pair.result is not None
    body = scene.items[pair.result].body
    return not isinstance(body, ToolReturned) or body.failed


def _covers(newer: Touch, older: Touch) -> bool:
    """Return whether the later call shows all lines of the earlier one."""
    if newer.verb == "write" or not newer.paged:
        return True
    if not older.paged or not older.last or not newer.last:
        return False
    return max(newer.first, 1) <= max(older.first, 1) and newer.last >= older.last
