"""Count the tokens that no compression removes: system prompt and calls without a result."""

from collections.abc import Sequence

from msgspec import Struct

from holdfast.core.ledger.window import Item
from holdfast.core.measure.models import Model
from holdfast.core.measure.tokens import CountTokens, count_body
from holdfast.core.observe.scene import Scene, read_scene
from holdfast.core.plan.cuts import EditContext, is_sealed, lead_of, loops_of


class Floor(Struct, frozen=True):
    """Raw tokens that must stay in the window."""

    system: int = 0
    """Tokens of the system messages at the front."""
    calls: int = 0
    """Tokens of calls without a result, of their messages, of the results so far, and of the sealed
    thinking of their loop with everything that it is bound to."""


def floor_of(items: Sequence[Item], count: CountTokens, model: Model) -> Floor:
    """Return the raw tokens of `items` that must stay at any budget."""
    context = EditContext(read_scene(items), model)
    scene, lead = context.scene, lead_of(context.scene)
    waiting = [at for at in places_that_must_stay(context) if at >= lead]
    return Floor(
        system=sum(count_body(item.body, count) for item in scene.items[:lead]),
        calls=sum(count_body(scene.items[at].body, count) for at in waiting),
    )


def places_that_must_stay(context: EditContext) -> list[int]:
    """Return the places that must stay because of calls without a result."""
    open_calls = set(_places_of_open_calls(context.scene))
    return sorted(open_calls | set(_places_held_by_thinking(context))) if open_calls else []


def _places_of_open_calls(scene: Scene) -> list[int]:
    """Return the places of open calls, of their messages, and of other results in these."""
    open_pairs = [
        pair for pair in scene.pairs if pair.result is None and pair.step >= scene.step_count
    ]
    messages = {scene.items[pair.call].entry.message for pair in open_pairs}
    results = {
        pair.result
        for pair in scene.pairs
        if pair.result is not None and scene.items[pair.call].entry.message in messages
    }
    return [
        at for at, item in enumerate(scene.items) if item.entry.message in messages or at in results
    ]


def _places_held_by_thinking(context: EditContext) -> range:
    """Return the places that must stay because of sealed thinking in the last loop.

    The loop stays from its first sealed thinking on. If thinking is bound to the bytes before it,
    everything before it stays too.
    """
    items, loops = context.scene.items, loops_of(context.scene)
    last = [at for at in range(len(items)) if loops[at] == loops[-1]]
    sealed = [at for at in last if is_sealed(items[at].body)]
    if not sealed:
        return range(0)
    return range(0 if context.is_thinking_bound else sealed[0], len(items))
