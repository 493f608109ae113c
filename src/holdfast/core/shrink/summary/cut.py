"""Where a window is cut for a summary, and what is done to the part that stays.

Only a legal cut is made, and no thinking stays that holds only after what leaves. A tail that alone
is more than there is room for is made smaller, the gentlest first.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Step, is_request
from holdfast.core.ledger.window import Item
from holdfast.core.observe.scene import read_scene
from holdfast.core.plan.choose import NOTHING, enough
from holdfast.core.plan.cuts import (
    Ground,
    is_sealed,
    lead_of,
    legal_cuts,
    loops_of,
    may_change,
    summary_cut,
)
from holdfast.core.plan.floor import waiting_in
from holdfast.core.plan.proposals import Proposal, is_all_of_its_message
from holdfast.core.plan.state import State, look, tokens_of
from holdfast.core.shrink.step import Means, shrink
from holdfast.core.shrink.summary.rows import is_anchor

LEAST_REQUEST = 80
"""Tokens that a request keeps whatever has to go."""
UNBOUND = "thinking that holds only after what leaves"
UNCALLED = "a result whose call leaves"


class Cut(Struct, frozen=True):
    """Where a window is cut, and what is on either side."""

    items: tuple[Item, ...]
    tokens: list[int]
    lead: int
    at: int
    tail: tuple[Step, ...] = ()
    """Steps that make the tail smaller, where it would not fit otherwise."""
    unbound: tuple[Step, ...] = ()
    """Steps that take thinking out of the tail that holds only after what leaves."""

    @property
    def also(self) -> tuple[Step, ...]:
        """All that happens to the tail."""
        return (*self.unbound, *self.tail)

    @property
    def leaves(self) -> tuple[Item, ...]:
        """What leaves, an older summary included."""
        return self.items[self.lead : self.at]

    @property
    def stays(self) -> int:
        """Raw tokens that stay besides the summary."""
        kept = sum(self.tokens[: self.lead]) + sum(self.tokens[self.at :])
        return kept - sum(step.before - step.after for step in self.also)


def cut_for(state: State, means: Means, target: int, *, firm: bool = False) -> Cut | None:
    """Where to cut so that about `target` raw tokens stay; nowhere, if nothing may leave."""
    ground = Ground(read_scene(state.window.items), state.model)
    tokens = tokens_of(state, means.count)
    lead = lead_of(ground.scene)
    room = max(target - sum(tokens[:lead]), 0)
    share = room * state.policy.summary.tail // 100
    at = summary_cut(ground, tokens, share=share) or _end_of_anchor(ground.scene.items, lead)
    if not at:
        return None
    cut = _unbound(Cut(ground.scene.items, tokens, lead, at), ground)
    if cut is None or not _gets_smaller(cut, room):
        return None
    over = sum(tokens[cut.at :]) - max(share, room // 2)
    if over <= 0:
        return cut
    return replace(cut, tail=smaller_tail(state, means, cut, over, firm=firm))


def _end_of_anchor(items: Sequence[Item], lead: int) -> int:
    """The end of a window that holds nothing but a summary: that one can be made smaller."""
    alone = len(items) > lead and all(is_anchor(item) for item in items[lead:])
    return len(items) if alone else 0


def _gets_smaller(cut: Cut, room: int) -> bool:
    """Whether a cut is of use: something leaves, or the summary in sight is over its room."""
    if not all(is_anchor(item) for item in cut.leaves):
        return True
    return sum(cut.tokens[cut.lead :]) > room


def _unbound(cut: Cut, ground: Ground) -> Cut | None:
    """A cut after which no thinking stands that is bound to what leaves.

    Thinking of turns that are over goes by itself. In the middle of a loop, all of the loop goes,
    if nothing waits for an answer.
    """
    scene = ground.scene
    sealed = [at for at in range(cut.at, len(scene.items)) if is_sealed(scene.items[at].body)]
    if not sealed or not ground.bound:
        return cut
    count = len(scene.items)
    loops = loops_of(scene)
    over = all(loops[at] < loops[-1] for at in sealed)
    if over and not any(is_all_of_its_message(scene, at) for at in sealed):
        names = [(scene.items[at].entry.id, cut.tokens[at]) for at in sealed]
        steps = (Step((name,), UNBOUND, None, 2, size, 0, "thinking") for name, size in names)
        return replace(cut, unbound=tuple(steps))
    return replace(cut, at=count) if count in legal_cuts(ground) else None


def smaller_tail(
    state: State, means: Means, cut: Cut, over: int, *, firm: bool = False
) -> tuple[Step, ...]:
    """Tiers 1 and 2 on what is recent, where it alone is more than there is room for.

    Where that is not enough and the room is `firm`, requests are cut to what is left for them.
    """
    steps: tuple[Step, ...] = ()
    for whole, tight in ((False, False), (True, False), (True, True)):
        looked = look(state, means.count, deep=True, tight=tight, whole=whole)
        late = [one for one in looked.proposals if one.at >= cut.at and one.kind != "thinking"]
        chosen = enough(late, over, NOTHING, looked.scale).proposals
        made = (shrink(one, cut.items[one.at], means) for one in chosen)
        steps = tuple(step for step in made if step is not None)
        if _saved(steps) >= over:
            return steps
    return _with_requests(state, means, cut, over, steps) if firm else steps


def _saved(steps: Iterable[Step]) -> int:
    return sum(step.before - step.after for step in steps)


def _with_requests(
    state: State, means: Means, cut: Cut, over: int, steps: tuple[Step, ...]
) -> tuple[Step, ...]:
    """The steps with the requests of the tail cut to their share, the largest first."""
    made = {step.hides[0]: step for step in steps}
    ground = Ground(read_scene(cut.items), state.model)
    for at in requests_by_size(ground, cut.tokens, since=cut.at):
        item, size = cut.items[at], cut.tokens[at]
        others = [step for name, step in made.items() if name != item.entry.id]
        step = shorter_request(at, item, size, over - _saved(others), means)
        if step is not None:
            made[item.entry.id] = step
        if _saved(made.values()) >= over:
            break
    return tuple(made.values())


def requests_by_size(ground: Ground, tokens: Sequence[int], *, since: int = 0) -> list[int]:
    """The places of what the user said and what may change, the largest first."""
    items, legal = ground.scene.items, may_change(ground)
    places = (
        at
        for at in range(since, len(items))
        if legal[at] and is_request(items[at].body) and not is_anchor(items[at])
    )
    return sorted(places, key=lambda at: (-tokens[at], at))


def shorter_request(at: int, item: Item, size: int, need: int, means: Means) -> Step | None:
    """A request in as many tokens as are left to it when so many have to go."""
    room = max(size - need, LEAST_REQUEST)
    if room >= size:
        return None
    reason = "a request that is larger than its share"
    return shrink(Proposal("request", at, item.entry.id, "", size, room, reason), item, means)


def whole_of(cut: Cut, state: State, *, firm: bool = False) -> Cut | None:
    """All of it, where nothing waits for an answer: the last resort of a small budget.

    Where the room is `firm`, the latest request goes along: the summary quotes it.
    """
    ground = Ground(read_scene(cut.items), state.model)
    count = len(cut.items)
    if count not in legal_cuts(ground) or (is_request(cut.items[-1].body) and not firm):
        return None
    return replace(cut, at=count, tail=(), unbound=())


def all_but_open(state: State, means: Means) -> Cut | None:
    """All but the open calls at the end: for a firm budget where no place before may be cut.

    Calls and results can be so far apart that every place is between some call and its result. If
    all of them leave together, none is parted. Sealed thinking of the last loop stays with all of
    that loop, less results in it whose calls leave; none stays that holds only after what leaves.
    """
    ground = Ground(read_scene(state.window.items), state.model)
    items, lead, tokens = ground.scene.items, lead_of(ground.scene), tokens_of(state, means.count)
    count, waiting = len(items), [at for at in waiting_in(ground) if at >= lead]
    # A call that other things follow than its own results is one that the agent went on without.
    is_last = waiting == list(range(count - len(waiting), count))
    at = count - len(waiting) if is_last else count
    # The newest request is answered next: it stays a message of its own.
    at -= bool(items) and at == count and is_request(items[-1].body)
    sealed = any(is_sealed(item.body) for item in items[at:])
    if at <= lead or (sealed and ground.bound):
        return None
    return replace(Cut(items, tokens, lead, at), unbound=tuple(_left_behind(ground, tokens, at)))


def _left_behind(ground: Ground, tokens: Sequence[int], cut: int) -> Iterator[Step]:
    """Steps that take results out of a tail whose calls leave."""
    for pair in ground.scene.pairs:
        if pair.result is not None and pair.call < cut <= pair.result:
            name = ground.scene.items[pair.result].entry.id
            yield Step((name,), UNCALLED, None, 2, tokens[pair.result], 0, "intermediate")


def all_of(state: State, tokens: list[int]) -> Cut:
    """Everything but what the system said first: for a summary that hides nothing."""
    items = tuple(state.window.items)
    return Cut(items, tokens, lead_of(read_scene(items)), len(items))


def after_cut(cut: Cut) -> list[Item]:
    """The items that stay, as they will stand."""
    smaller = {step.hides[0]: step.stand_in for step in cut.also}
    return [
        Item(item.entry, (item.entry.id,), stand_in) if item.entry.id in smaller else item
        for item in (*cut.items[: cut.lead], *cut.items[cut.at :])
        if (stand_in := smaller.get(item.entry.id, item.body)) is not None
    ]
