"""What no compression takes out of a window: the system prompt, and calls without a result."""

from collections.abc import Sequence

from msgspec import Struct

from holdfast.core.ledger.window import Item
from holdfast.core.measure.models import Model
from holdfast.core.measure.tokens import CountTokens, count_body
from holdfast.core.observe.scene import Scene, read_scene
from holdfast.core.plan.cuts import Ground, is_sealed, lead_of, loops_of


class Floor(Struct, frozen=True):
    """Raw tokens that have to stay."""

    system: int = 0
    """Of what the system says before anyone speaks."""
    calls: int = 0
    """Of calls that wait for a result, with the message they stand in, what came back so far, and
    the sealed thinking of their loop with all that it is bound to."""


def floor_of(items: Sequence[Item], count: CountTokens, model: Model) -> Floor:
    """What of some items has to stay whatever the budget is."""
    ground = Ground(read_scene(items), model)
    scene, lead = ground.scene, lead_of(ground.scene)
    waiting = [at for at in waiting_in(ground) if at >= lead]
    return Floor(
        system=sum(count_body(item.body, count) for item in scene.items[:lead]),
        calls=sum(count_body(scene.items[at].body, count) for at in waiting),
    )


def waiting_in(ground: Ground) -> list[int]:
    """The places that have to stay for calls without a result."""
    waiting = set(_waiting(ground.scene))
    return sorted(waiting | set(_sealed_with(ground))) if waiting else []


def _waiting(scene: Scene) -> list[int]:
    """The places of open calls, of their messages, and of results beside them."""
    opened = [pair for pair in scene.pairs if pair.result is None and pair.step >= scene.step_count]
    messages = {scene.items[pair.call].entry.message for pair in opened}
    results = {
        pair.result
        for pair in scene.pairs
        if pair.result is not None and scene.items[pair.call].entry.message in messages
    }
    return [
        at for at, item in enumerate(scene.items) if item.entry.message in messages or at in results
    ]


def _sealed_with(ground: Ground) -> range:
    """The places that the sealed thinking of the last loop holds where they are.

    The loop stays from its first sealed thinking on; where thinking is bound to the bytes before
    it, everything before it stays as well.
    """
    items, loops = ground.scene.items, loops_of(ground.scene)
    last = [at for at in range(len(items)) if loops[at] == loops[-1]]
    sealed = [at for at in last if is_sealed(items[at].body)]
    if not sealed:
        return range(0)
    return range(0 if ground.bound else sealed[0], len(items))
