"""Where history may change without breaking a request: what each of several rules allows.

Every rule is independent and knows one thing that a provider rejects. A place is legal when all of
them agree. Tiers 1 and 2 change items where they stand; cutting history off is for tier 3 and
for finding where the recent tail begins.
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

SERVER_SIDE = ("srvtoolu_", "mcptoolu_")
"""How the ids of tools begin that the provider itself runs: their results have a shape of their
own, and a text in its place is refused."""


class Ground(Struct, frozen=True):
    """What the rules look at."""

    scene: Scene
    model: Model
    sent: int = 0
    """How many items the provider has seen."""

    @property
    def bound(self) -> bool:
        """Whether thinking in sight holds only after exactly the bytes it was made on."""
        return self.model.bound or not self.model.known


def legal_cuts(ground: Ground) -> list[int]:
    """The places before which history may be cut, the beginning and the end included."""
    allowed = [rule(ground) for rule in CUT_RULES]
    count = len(ground.scene.items)
    return [at for at in range(count + 1) if all(rule[at] for rule in allowed)]


def _keeps_pairs(ground: Ground) -> list[bool]:
    """A call and its result stay together; a call that waits for one stays with what follows.

    A call that the agent went on without is dead: nobody waits for it any more.
    """
    scene = ground.scene
    count = len(scene.items)
    opened = [0] * (count + 2)
    for pair in scene.pairs:
        if pair.result is None and pair.step < scene.step_count:
            continue
        opened[pair.call + 1] += 1
        opened[(count if pair.result is None else pair.result) + 1] -= 1
    for call, result in _answered_again(scene):
        opened[call + 1] += 1
        opened[result + 1] -= 1
    return _outside(opened)


def _outside(opened: Sequence[int]) -> list[bool]:
    """The places that are inside no span; `opened` has 1 after the first item of each, -1 after
    its last."""
    depth = list(accumulate(opened))
    return [depth[at] == 0 or at == 0 for at in range(len(opened) - 1)]


def _answered_again(scene: Scene) -> Iterator[tuple[int, int]]:
    """Calls with a further result of theirs: it would stand without its call just as the first."""
    calls: dict[str, int] = {}
    for at, item in enumerate(scene.items):
        match item.body:
            case ToolCalled(call=name):
                calls[name] = at
            case ToolReturned(call=name) if at not in scene.of_result and name in calls:
                yield calls[name], at
            case _:
                pass


def _keeps_messages(ground: Ground) -> list[bool]:
    """The parts of one message stay together, parallel calls among them.

    In a transcript whose lines were mixed up, other messages can lie between them. That matters
    where one of the parts is thinking: it is only taken with the calls it was made with.
    """
    items = ground.scene.items
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
    return _outside(opened)


def _keeps_loops(ground: Ground) -> list[bool]:
    """Sealed thinking goes or stays with the whole loop of calls it is part of."""
    items, loops = ground.scene.items, loops_of(ground.scene)
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
    """For each item: how many loops of calls had begun by then.

    Words of the user begin one, but not among results: providers read on in the loop there. So they
    do where words of ours stand right behind results.
    """
    items = scene.items
    answering = {i.entry.message for i in items if isinstance(i.body, ToolReturned)}
    begins = [role_of(i.body) == "user" and i.entry.message not in answering for i in items]
    for at, (before, item) in enumerate(pairwise(items), 1):
        if isinstance(before.body, ToolReturned) and is_ours(item.body):
            begins[at] = False
    return list(accumulate(begins, initial=0))[1:]


def _begins_with_no_result(ground: Ground) -> list[bool]:
    """No result follows a summary: both are the user's, and a result must be first in a message.

    A result that stands behind its call is never there; one that came before it can be.
    """
    items = ground.scene.items
    return [not isinstance(item.body, ToolReturned) for item in items] + [True]


CUT_RULES: tuple[Callable[[Ground], list[bool]], ...] = (
    _keeps_pairs,
    _begins_with_no_result,
    _keeps_messages,
    _keeps_loops,
)


def may_change(ground: Ground) -> list[bool]:
    """For each item: whether its bytes may change where it stands."""
    allowed = [rule(ground) for rule in CHANGE_RULES]
    return [all(rule[at] for rule in allowed) for at in range(len(ground.scene.items))]


def _before_no_bound_thinking(ground: Ground) -> list[bool]:
    """What stands before thinking that is bound to it stays as it was sent."""
    items = ground.scene.items
    if not ground.bound:
        return [True] * len(items)
    last = max((at for at, item in enumerate(items) if is_sealed(item.body)), default=-1)
    return [at > last for at in range(len(items))]


def is_sealed(body: object) -> bool:
    """Whether this is thinking that goes back as it came or not at all."""
    return isinstance(body, Thought) and bool(body.seal)


def _is_ours_to_write(ground: Ground) -> list[bool]:
    """What the provider's own tools returned has a shape that a text cannot take."""
    return [
        not (
            isinstance(item.body, ToolCalled | ToolReturned)
            and item.body.call.startswith(SERVER_SIDE)
        )
        for item in ground.scene.items
    ]


def _stands_alone(ground: Ground) -> list[bool]:
    """A stand-in is never stood in for: what it hides would be two steps away.

    A request is cut from the message as it came each time, so it may be cut further.
    """
    return [
        not item.covers or (is_request(item.body) and item.covers == (item.entry.id,))
        for item in ground.scene.items
    ]


def _has_its_pair(ground: Ground) -> list[bool]:
    """A result that answers no call in sight, or a call nobody answered, is left alone."""
    scene = ground.scene
    return [
        not isinstance(item.body, ToolCalled | ToolReturned)
        or at in scene.of_result
        or (at in scene.of_call and scene.of_call[at].result is not None)
        for at, item in enumerate(scene.items)
    ]


CHANGE_RULES: tuple[Callable[[Ground], list[bool]], ...] = (
    _before_no_bound_thinking,
    _is_ours_to_write,
    _stands_alone,
    _has_its_pair,
)


def lead_of(scene: Scene) -> int:
    """How many items at the front never leave: what the system says before anyone speaks."""
    roles = (role_of(item.body) for item in scene.items)
    return sum(1 for _ in takewhile(lambda role: role in ("system", "developer"), roles))


def summary_cut(ground: Ground, tokens: Sequence[int], *, share: int) -> int:
    """Before which item to cut for a summary: the most recent part that has its share stays.

    When not even the last part that may be cut off fits, that part stays. 0 when nothing may leave.
    """
    lead = lead_of(ground.scene)
    count = len(ground.scene.items)
    legal = [at for at in legal_cuts(ground) if lead < at < count]
    if not legal:
        return 0
    behind = list(accumulate(reversed(tokens)))
    fitting = [at for at in legal if behind[count - at - 1] <= share]
    return fitting[0] if fitting else legal[-1]


def tail_start(ground: Ground, tokens: list[int], *, share: int, steps: int) -> int:
    """Where the recent part begins: so many tokens or steps from the end, at no call's expense."""
    scene = ground.scene
    whole = [_keeps_pairs(ground), _keeps_messages(ground)]
    behind, at = 0, len(scene.items)
    while at > 0:
        young = scene.step_count - scene.steps[at - 1] < steps
        if not young and behind + tokens[at - 1] > share:
            break
        at -= 1
        behind += tokens[at]
    while at > 0 and not all(rule[at] for rule in whole):
        at -= 1
    return at
