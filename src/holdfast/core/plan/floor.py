"""What no compression takes out of a window: the system prompt, and calls without a result."""

from collections.abc import Sequence

from msgspec import Struct

from holdfast.core.ledger.window import Item
from holdfast.core.measure.tokens import CountTokens, count_body
from holdfast.core.observe.calls import Scene, read_scene
from holdfast.core.plan.cuts import lead_of


class Floor(Struct, frozen=True):
    """Raw tokens that have to stay."""

    system: int = 0
    """Of what the system says before anyone speaks."""
    calls: int = 0
    """Of calls that wait for a result, with the message they stand in and what came back so far."""


def floor_of(items: Sequence[Item], count: CountTokens) -> Floor:
    """What of some items has to stay whatever the budget is."""
    scene = read_scene(items)
    lead, waiting = lead_of(scene), _waiting(scene)
    return Floor(
        system=sum(count_body(item.body, count) for item in scene.items[:lead]),
        calls=sum(count_body(scene.items[at].body, count) for at in waiting),
    )


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
