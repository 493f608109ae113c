"""Find where a window is cut for a summary, and shrink the tail that remains.

Only legal cuts are made. Thinking that is valid only after hidden entries is removed. A tail that
is larger than the room is shrunk, with the gentlest steps first.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Step, Thought, ToolCalled, ToolReturned, is_request
from holdfast.core.ledger.window import Item
from holdfast.core.observe.scene import read_scene
from holdfast.core.plan.choose import EMPTY_SELECTION, choose_enough
from holdfast.core.plan.cuts import (
    EditContext,
    is_sealed,
    lead_of,
    legal_cuts,
    loops_of,
    may_change,
    summary_cut,
)
from holdfast.core.plan.floor import places_that_must_stay
from holdfast.core.plan.proposals import Proposal, is_whole_message
from holdfast.core.plan.state import State, survey, tokens_of
from holdfast.core.shrink.step import ShrinkContext, shrink
from holdfast.core.shrink.summary.rows import is_anchor

MIN_REQUEST_TOKENS = 80
"""A request is never cut below so many tokens."""
UNBOUND_THINKING_REASON = "thinking that holds only after what leaves"
UNCALLED_RESULT_REASON = "a result whose call leaves"


class Cut(Struct, frozen=True):
    """A window, the place where it is cut, and the steps that change the tail."""

    items: Sequence[Item]
    tokens: list[int]
    lead: int
    at: int
    tail: tuple[Step, ...] = ()
    """Steps that shrink the tail, if it would not fit otherwise."""
    unbound: tuple[Step, ...] = ()
    """Steps that remove thinking from the tail that is valid only after hidden entries."""

    @property
    def also(self) -> tuple[Step, ...]:
        """All steps that change the tail."""
        return (*self.unbound, *self.tail)

    @property
    def leaves(self) -> tuple[Item, ...]:
        """The items that will be hidden, an older summary included."""
        return tuple(self.items[self.lead : self.at])

    @property
    def stays(self) -> int:
        """Raw tokens that stay besides the summary."""
        kept = sum(self.tokens[: self.lead]) + sum(self.tokens[self.at :])
        return kept - sum(step.before - step.after for step in self.also)


def find_cut(state: State, means: ShrinkContext, target: int, *, firm: bool = False) -> Cut | None:
    """Find a cut after which about `target` raw tokens remain; None if nothing may be hidden."""
    ground = EditContext(read_scene(state.window.items), state.model)
    tokens = tokens_of(state, means.count)
    lead = lead_of(ground.scene)
    room = max(target - sum(tokens[:lead]), 0)
    share = room * state.policy.summary.tail // 100
    at = summary_cut(ground, tokens, max_tokens=share) or _end_of_anchor(ground.scene.items, lead)
    if not at:
        return None
    cut = _unbound(Cut(ground.scene.items, tokens, lead, at), ground)
    if cut is None or not _gets_smaller(cut, room):
        return None
    over = sum(tokens[cut.at :]) - max(share, room // 2)
    if over <= 0:
        return cut
    return replace(cut, tail=shrink_tail(state, means, cut, over, firm=firm))


def _end_of_anchor(items: Sequence[Item], lead: int) -> int:
    """The end of a window that holds nothing but a summary: that one can be made smaller."""
    alone = len(items) > lead and all(is_anchor(item) for item in items[lead:])
    return len(items) if alone else 0


def _gets_smaller(cut: Cut, room: int) -> bool:
    """Whether a cut is of use: something leaves, or the summary in sight is over its room."""
    if not all(is_anchor(item) for item in cut.leaves):
        return True
    return sum(cut.tokens[cut.lead :]) > room


def _unbound(cut: Cut, ground: EditContext) -> Cut | None:
    """A cut after which no thinking stands that is bound to what leaves.

    Thinking of turns that are over goes by itself. In the middle of a loop, all of the loop goes,
    if nothing waits for an answer.
    """
    scene = ground.scene
    sealed = [at for at in range(cut.at, len(scene.items)) if is_sealed(scene.items[at].body)]
    if not sealed or not ground.is_thinking_bound:
        return cut
    count = len(scene.items)
    loops = loops_of(scene)
    over = all(loops[at] < loops[-1] for at in sealed)
    if over and not any(is_whole_message(scene, at) for at in sealed):
        names = [(scene.items[at].entry.id, cut.tokens[at]) for at in sealed]
        steps = (
            Step((name,), UNBOUND_THINKING_REASON, None, 2, size, 0, "thinking")
            for name, size in names
        )
        return replace(cut, unbound=tuple(steps))
    return replace(cut, at=count) if count in legal_cuts(ground) else None


def shrink_tail(
    state: State, means: ShrinkContext, cut: Cut, over: int, *, firm: bool = False
) -> tuple[Step, ...]:
    """Return steps of tiers 1 and 2 that shrink the tail by `over` tokens.

    If that is not enough and the room is `firm`, requests are cut too.
    """
    steps: tuple[Step, ...] = ()
    for whole, tight in ((False, False), (True, False), (True, True)):
        looked = survey(state, means.count, deep=True, tight=tight, whole=whole)
        late = [one for one in looked.proposals if one.at >= cut.at and one.kind != "thinking"]
        chosen = choose_enough(late, over, EMPTY_SELECTION, looked.pricing).proposals
        made = (shrink(one, cut.items[one.at], means) for one in chosen)
        steps = tuple(step for step in made if step is not None)
        if _saved(steps) >= over:
            return steps
    return _with_requests(state, means, cut, over, steps) if firm else steps


def _saved(steps: Iterable[Step]) -> int:
    return sum(step.before - step.after for step in steps)


def _with_requests(
    state: State, means: ShrinkContext, cut: Cut, over: int, steps: tuple[Step, ...]
) -> tuple[Step, ...]:
    """The steps with the requests of the tail cut to their share, the largest first."""
    made = {step.hides[0]: step for step in steps}
    ground = EditContext(read_scene(cut.items), state.model)
    for at in requests_by_size(ground, cut.tokens, since=cut.at):
        item, size = cut.items[at], cut.tokens[at]
        others = [step for name, step in made.items() if name != item.entry.id]
        step = cut_request(at, item, size, over - _saved(others), means)
        if step is not None:
            made[item.entry.id] = step
        if _saved(made.values()) >= over:
            break
    return tuple(made.values())


def requests_by_size(ground: EditContext, tokens: Sequence[int], *, since: int = 0) -> list[int]:
    """Return the positions of the requests that may change, the largest first."""
    items, legal = ground.scene.items, may_change(ground)
    places = (
        at
        for at in range(since, len(items))
        if legal[at] and is_request(items[at].body) and not is_anchor(items[at])
    )
    return sorted(places, key=lambda at: (-tokens[at], at))


def cut_request(at: int, item: Item, size: int, need: int, means: ShrinkContext) -> Step | None:
    """Return the step that cuts a request by `need` tokens; None if it is too small for that."""
    room = max(size - need, MIN_REQUEST_TOKENS)
    if room >= size:
        return None
    reason = "a request that is larger than its share"
    return shrink(Proposal("request", at, item.entry.id, "", size, room, reason), item, means)


def extend_to_end(cut: Cut, state: State, *, firm: bool = False) -> Cut | None:
    """Move a cut to the end of the window; None if a call waits for its result.

    If the room is `firm`, the latest request is hidden too: the summary quotes it.
    """
    ground = EditContext(read_scene(cut.items), state.model)
    count = len(cut.items)
    if count not in legal_cuts(ground) or (is_request(cut.items[-1].body) and not firm):
        return None
    return replace(cut, at=count, tail=(), unbound=())


def cut_before_open_calls(state: State, means: ShrinkContext) -> Cut | None:
    """Cut before the open calls at the end, for a firm budget without any other legal cut.

    Calls and results can overlap so that every place is between some call and its result. If all of
    them are hidden, no pair is split. Sealed thinking of the last loop remains with the whole loop,
    except for results whose calls are hidden; None if it would be valid only after hidden entries.
    """
    ground = EditContext(read_scene(state.window.items), state.model)
    items, lead, tokens = ground.scene.items, lead_of(ground.scene), tokens_of(state, means.count)
    count, waiting = len(items), [at for at in places_that_must_stay(ground) if at >= lead]
    is_last = waiting == list(range(count - len(waiting), count))
    at = count - len(waiting) if is_last else count
    if waiting and not is_last and not _went_on_after(ground, waiting):
        at = _start_of_step(ground, waiting[0])
    # The newest request is answered next: it stays a message of its own.
    at -= bool(items) and at == count and is_request(items[-1].body)
    sealed = any(is_sealed(item.body) for item in items[at:])
    if at <= lead or (sealed and ground.is_thinking_bound):
        return None
    return replace(Cut(items, tokens, lead, at), unbound=tuple(_left_behind(ground, tokens, at)))


def _went_on_after(ground: EditContext, waiting: Sequence[int]) -> bool:
    """Return whether something other than calls and results follows: an open call is given up."""
    items = ground.scene.items
    messages = {items[at].entry.message for at in waiting}
    return any(
        not isinstance(item.body, ToolCalled | ToolReturned) and item.entry.message not in messages
        for item in items[waiting[0] :]
    )


def _start_of_step(ground: EditContext, at: int) -> int:
    """Return the first item of the message or step that an open call belongs to."""
    scene, first = ground.scene, at
    while first and isinstance(scene.items[first - 1].body, ToolCalled | Thought):
        first -= 1
    message = scene.items[first].entry.message
    while first and scene.items[first - 1].entry.message == message:
        first -= 1
    return first


def _left_behind(ground: EditContext, tokens: Sequence[int], cut: int) -> Iterator[Step]:
    """Steps that take results out of a tail whose calls leave."""
    for pair in ground.scene.pairs:
        if pair.result is not None and pair.call < cut <= pair.result:
            name = ground.scene.items[pair.result].entry.id
            yield Step(
                (name,), UNCALLED_RESULT_REASON, None, 2, tokens[pair.result], 0, "intermediate"
            )


def cut_after_system(state: State, tokens: list[int]) -> Cut:
    """Cut at the end, after the system's messages: for a summary of the whole session."""
    items = tuple(state.window.items)
    return Cut(items, tokens, lead_of(read_scene(items)), len(items))


def items_after_cut(cut: Cut) -> list[Item]:
    """Return the items that remain, with their stand-ins."""
    smaller = {step.hides[0]: step.stand_in for step in cut.also}
    return [
        Item(item.entry, (item.entry.id,), stand_in) if item.entry.id in smaller else item
        for item in (*cut.items[: cut.lead], *cut.items[cut.at :])
        if (stand_in := smaller.get(item.entry.id, item.body)) is not None
    ]
