"""Find the places where history may be cut or changed without breaking a request.

Each rule is independent and knows one thing that a provider rejects. A place is legal if all rules
allow it. Tiers 1 and 2 change items in place. Cuts are used by tier 3 and to find the start of the
recent tail.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise, takewhile

from msgspec import Struct

from holdfast.core.ledger.entry import (
    Thought,
    ToolCalled,
    ToolReturned,
    is_ours,
    is_request,
    role_of,
)
from holdfast.core.measure.models import Model
from holdfast.core.observe.scene import Scene

SERVER_TOOL_PREFIXES = ("srvtoolu_", "mcptoolu_")
"""Prefixes of call ids of tools that the provider runs itself. Their results have a special shape,
and providers reject a plain text in place of one."""


class EditContext(Struct, frozen=True):
    """The input of the rules: the window as a scene, and the model that reads it."""

    scene: Scene
    model: Model
    sent: int = 0
    """How many items the provider has seen."""

    @property
    def is_thinking_bound(self) -> bool:
        """Whether thinking is valid only after exactly the bytes that it was generated on."""
        return self.model.bound or not self.model.known


def legal_cuts(context: EditContext) -> list[int]:
    """Return the places before which history may be cut, including the start and the end."""
    allowed = [rule(context) for rule in CUT_RULES]
    count = len(context.scene.items)
    return [at for at in range(count + 1) if all(rule[at] for rule in allowed)]


def _keeps_pairs(context: EditContext) -> list[bool]:
    """Keep a call with its result, and a call without a result with everything after it.

    A call that the agent continued without is ignored: its result will not come any more.
    """
    scene = context.scene
    count = len(scene.items)
    opened = [0] * (count + 2)
    for pair in scene.pairs:
        if pair.result is None and pair.step < scene.step_count:
            continue
        opened[pair.call + 1] += 1
        opened[(count if pair.result is None else pair.result) + 1] -= 1
    for call, result in _repeated_results(scene):
        opened[call + 1] += 1
        opened[result + 1] -= 1
    return _outside_spans(opened)


def _outside_spans(opened: Sequence[int]) -> list[bool]:
    """Return for each place whether it is outside all spans.

    `opened` has +1 after the first item of each span and -1 after its last.
    """
    depth = list(accumulate(opened))
    return [depth[at] == 0 or at == 0 for at in range(len(opened) - 1)]


def _repeated_results(scene: Scene) -> Iterator[tuple[int, int]]:
    """Yield (call, result) for each second or later result of one call.

    Such a result must not lose its call either.
    """
    calls: dict[str, int] = {}
    for at, item in enumerate(scene.items):
        match item.body:
            case ToolCalled(call=name):
                calls[name] = at
            case ToolReturned(call=name) if at not in scene.by_result and name in calls:
                yield calls[name], at
            case _:
                pass


def _keeps_messages(context: EditContext) -> list[bool]:
    """Keep the parts of one message together, including parallel calls.

    In a transcript with lines out of order, other messages can be between the parts. That matters
    if one part is thinking: providers accept it only with the calls it was generated with.
    """
    items = context.scene.items
    opened = [0] * (len(items) + 2)
    for at, (before, after) in enumerate(pairwise(items), 1):
        if before.entry.message == after.entry.message:
            opened[at] += 1
            opened[at + 1] -= 1
    thought = {item.entry.message for item in items if isinstance(item.body, Thought)}
    places: dict[int, list[int]] = {}
    for at, item in enumerate(items):
        if item.entry.message in thought:
            places.setdefault(item.entry.message, []).append(at)
    for parts in places.values():
        opened[parts[0] + 1] += 1
        opened[parts[-1] + 1] -= 1
    return _outside_spans(opened)


def _keeps_loops(context: EditContext) -> list[bool]:
    """Keep sealed thinking together with the whole loop of calls that it is part of."""
    items, loops = context.scene.items, loops_of(context.scene)
    legal = [True] * (len(items) + 1)
    sealed = False
    for at, item in enumerate(items):
        if at and loops[at] != loops[at - 1]:
            sealed = False
        if sealed:
            legal[at] = False
        sealed = sealed or is_sealed(item.body)
    return legal


def loops_of(scene: Scene) -> list[int]:
    """Return for each item how many loops of calls have started up to it.

    Words of the user start a loop, except in a message with results: providers continue the loop
    there. They also continue it if words of ours follow directly after results.
    """
    items = scene.items
    answering = {i.entry.message for i in items if isinstance(i.body, ToolReturned)}
    begins = [role_of(i.body) == "user" and i.entry.message not in answering for i in items]
    for at, (before, item) in enumerate(pairwise(items), 1):
        if isinstance(before.body, ToolReturned) and is_ours(item.body):
            begins[at] = False
    return list(accumulate(begins, initial=0))[1:]


def _starts_without_result(context: EditContext) -> list[bool]:
    """Forbid a result directly after a summary.

    Both have the role of the user, and a result must come first in its message. Only a result that
    came before its call can be in such a place.
    """
    items = context.scene.items
    return [not isinstance(item.body, ToolReturned) for item in items] + [True]


CUT_RULES: tuple[Callable[[EditContext], list[bool]], ...] = (
    _keeps_pairs,
    _starts_without_result,
    _keeps_messages,
    _keeps_loops,
)


def may_change(context: EditContext) -> list[bool]:
    """Return for each item whether its bytes may be changed in place."""
    allowed = [rule(context) for rule in CHANGE_RULES]
    return [all(rule[at] for rule in allowed) for at in range(len(context.scene.items))]


def _is_after_bound_thinking(context: EditContext) -> list[bool]:
    """Forbid changes before thinking that is bound to the bytes before it."""
    items = context.scene.items
    if not context.is_thinking_bound:
        return [True] * len(items)
    last = max((at for at, item in enumerate(items) if is_sealed(item.body)), default=-1)
    return [at > last for at in range(len(items))]


def is_sealed(body: object) -> bool:
    """Whether a body is thinking that must be sent back unchanged or not at all."""
    return isinstance(body, Thought) and bool(body.seal)


def _is_not_server_tool(context: EditContext) -> list[bool]:
    """Forbid changes to calls and results of the provider's own tools: no text can replace them."""
    return [
        not (
            isinstance(item.body, ToolCalled | ToolReturned)
            and item.body.call.startswith(SERVER_TOOL_PREFIXES)
        )
        for item in context.scene.items
    ]


def _is_original(context: EditContext) -> list[bool]:
    """Forbid a stand-in for a stand-in: the original would be two steps away.

    A shortened request may be shortened further, because each time the original message is cut.
    """
    return [
        not item.covers or (is_request(item.body) and item.covers == (item.entry.id,))
        for item in context.scene.items
    ]


def _is_paired(context: EditContext) -> list[bool]:
    """Forbid changes to a result without a call in the window, and to a call without a result."""
    scene = context.scene
    return [
        not isinstance(item.body, ToolCalled | ToolReturned)
        or at in scene.by_result
        or (at in scene.by_call and scene.by_call[at].result is not None)
        for at, item in enumerate(scene.items)
    ]


CHANGE_RULES: tuple[Callable[[EditContext], list[bool]], ...] = (
    _is_after_bound_thinking,
    _is_not_server_tool,
    _is_original,
    _is_paired,
)


def lead_of(scene: Scene) -> int:
    """Return how many system messages are at the front; these never leave."""
    roles = (role_of(item.body) for item in scene.items)
    return sum(1 for _ in takewhile(lambda role: role in ("system", "developer"), roles))


def summary_cut(context: EditContext, tokens: Sequence[int], *, max_tokens: int) -> int:
    """Return the item before which to cut for a summary.

    The longest recent part of at most `max_tokens` stays. If no legal part is so small, the
    smallest legal one stays. Return 0 if nothing may leave.
    """
    lead = lead_of(context.scene)
    count = len(context.scene.items)
    legal = [at for at in legal_cuts(context) if lead < at < count]
    if not legal:
        return 0
    behind = list(accumulate(reversed(tokens)))
    fitting = [at for at in legal if behind[count - at - 1] <= max_tokens]
    return fitting[0] if fitting else legal[-1]


def tail_start(context: EditContext, tokens: list[int], *, max_tokens: int, min_steps: int) -> int:
    """Return where the recent part starts, without separating calls from results.

    It has at least `min_steps` steps, and more while it has at most `max_tokens` tokens.
    """
    scene = context.scene
    whole = [_keeps_pairs(context), _keeps_messages(context)]
    behind, at = 0, len(scene.items)
    while at > 0:
        recent = scene.step_count - scene.steps[at - 1] < min_steps
        if not recent and behind + tokens[at - 1] > max_tokens:
            break
        at -= 1
        behind += tokens[at]
    while at > 0 and not all(rule[at] for rule in whole):
        at -= 1
    return at
