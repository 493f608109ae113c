"""The whole flow on one page: from a window to what would stand in its place.

Look at the record, propose, choose, shrink, verify. Nothing here writes: what comes out is a plan
and, if it may be made, the one entry that would carry it out.
"""

from collections.abc import Sequence
from math import fsum

from msgspec.structs import replace

from holdfast.core.apply import Made, after_steps, carry_out, nothing, put_off, saved_by
from holdfast.core.faults import attempt
from holdfast.core.ledger.entry import Said, ToolReturned, is_request, text_of
from holdfast.core.ledger.head import AT_BIRTH
from holdfast.core.ledger.marks import MASKED
from holdfast.core.ledger.size import most_tokens
from holdfast.core.ledger.window import Item
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.requests.pastes import pasted_share
from holdfast.core.observe.scene import Scene
from holdfast.core.observe.worth import Likely, telling_names
from holdfast.core.plan.choose import NOTHING, Choice, choose, enough, priced, worthwhile
from holdfast.core.plan.cuts import may_change
from holdfast.core.plan.due import Due
from holdfast.core.plan.plan import Candidate
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.preserve import may_leave
from holdfast.core.plan.proposals import PASTE_SHORT, Proposal, bound_for, by_share, is_exempt
from holdfast.core.plan.state import Looked, State, fresh, look
from holdfast.core.shrink.step import Means
from holdfast.core.shrink.summary.cut import LEAST_REQUEST, requests_by_size
from holdfast.core.summarize import summarize
from holdfast.text.jsontext import whole_number

DEPTHS = ((False, False), (True, False), (True, True))
"""How far to go: what is old; what is recent or open as well; and one line for everything."""
TRIES = 3
REQUESTS = "requests larger than their share"
HARD_RECLAIM = 5
"""Percent that a batch has to take out of a window that is over its limit."""


def batch(state: State, means: Means, due: Due) -> Candidate:
    """Tiers 1 and 2 as one batch; tier 3 where that is not enough."""
    looked = look(state, means.count)
    made = _batch(state, means, looked, due)
    if due.boundary or not _is_enough(made, state):
        made = _better(made, _summary(state, means, looked, due), state, due)
    return replace(made, held=looked.held)


def _batch(state: State, means: Means, looked: Looked, due: Due) -> Candidate:
    """Tiers 1 and 2: as much as wins most, and more when it is forced."""
    if due.action == "force":
        return _forced(state, means, looked, due.trigger)
    chosen = choose(looked.proposals, looked.scale)
    refusal = _too_little(chosen, state)
    if refusal:
        return Candidate(put_off(state, looked, chosen, due.trigger, refusal))
    return carry_out(state, means, looked, chosen, due.trigger)


def _is_enough(made: Candidate, state: State) -> bool:
    """Whether tiers 1 and 2 bring a window down so far that tier 3 is not called for."""
    if state.usage.fraction * 100 < state.policy.at.summary:
        return True
    if made.body is None:
        return False
    return made.plan.after.fraction * 100 < state.policy.at.summary


def _summary(state: State, means: Means, looked: Looked, due: Due) -> Candidate:
    """Tier 3, down to where the next one is far away."""
    held = replace(state, known=looked.held)
    fixed = state.usage_at(0).tokens
    room = max(state.limit - fixed, 0) * state.policy.summary.target // 100
    target = state.lane.tokens - state.raw_over(fixed + room)
    return _summarized(held, means, target, due.trigger, firm=state.usage.fraction >= 1)


def _summarized(state: State, means: Means, target: int, trigger: str, *, firm: bool) -> Candidate:
    """Tier 3 as a stage that may fail: then tiers 1 and 2 have to do."""
    return attempt(
        "compress.summarize",
        lambda: summarize(state, means, target, trigger, firm=firm),
        lambda: Candidate(nothing(state, trigger, "no summary could be made")),
    )


def _better(batch: Candidate, summary: Candidate, state: State, due: Due) -> Candidate:
    """The summary where it may be made and pays, or has to be made; else what there was."""
    if summary.body is None or _not_worth_forcing(saved_by(summary), state):
        return batch
    bill = summary.plan.bill
    pays = bill.gain * 100 >= max(bill.cost, 0.0) * state.policy.batch.margin
    if due.action == "force" or pays:
        return summary
    reason = "a summary would win too little for what it costs at once"
    later = replace(summary.plan, verdict="postpone", reason=reason)
    return batch if batch.body is not None else Candidate(later)


def _forced(state: State, means: Means, looked: Looked, trigger: str) -> Candidate:
    """All that wins by itself; more, the gentlest first, until there is room again."""
    at = state.policy.at
    need = state.raw_over(state.limit * (at.batch + at.summary) // 200)
    held = replace(state, known=looked.held)
    known: Made = {}
    made, chosen, seen = None, NOTHING, looked
    for deep, tight in DEPTHS:
        seen = look(held, means.count, deep=deep, tight=tight) if deep else looked
        wins = worthwhile(seen.proposals, seen.scale)
        chosen = enough(seen.proposals, need, wins, seen.scale)
        made = carry_out(state, means, seen, chosen, trigger, known)
        if saved_by(made) >= need or made.losses:
            break
    assert made is not None
    refusal = _not_worth_forcing(saved_by(made), state)
    if refusal and not made.losses:
        return Candidate(put_off(state, seen, chosen, trigger, refusal))
    return made


def _too_little(choice: Choice, state: State) -> str:
    """Why a batch is put off: it takes too little out, or wins too little for what it costs."""
    if not choice.proposals:
        return "nothing in sight would pay for being changed"
    rules, whole = state.policy.batch, state.lane.tokens
    if choice.saves * 100 < rules.reclaim * whole:
        share = choice.saves * 100 // max(whole, 1)
        return f"it would take out {share}% of the window, less than {rules.reclaim}%"
    if choice.bill.gain * 100 < max(choice.bill.cost, 0.0) * rules.margin:
        return "it would win too little for what it costs at once"
    return ""


def _not_worth_forcing(saved: int, state: State) -> str:
    """Why not even a critical window is changed: it would be full again at once."""
    if not saved:
        return "nothing in sight may leave"
    least = state.policy.batch.reclaim if state.usage.fraction < 1 else HARD_RECLAIM
    if saved * 100 < least * state.lane.tokens:
        return f"all that may leave is less than {least}% of the window"
    return ""


def to_budget(state: State, means: Means, budget: int, trigger: str) -> Candidate:
    """As much as it takes to come under a budget of tokens; all that is legal if that fails.

    Tiers 1 and 2 on what is old, or a summary of it, whichever leaves more in sight of what is
    likely to be needed; then tiers 1 and 2 on what is recent or open as well.
    """
    # A budget is about messages that somebody sends: also where another program made them so far.
    state = replace(state, hosted=False)
    need = state.raw_over(budget)
    if need <= 0:
        return Candidate(nothing(state, trigger, "the window is within its budget"))
    known: Made = {}
    looked = look(state, means.count)
    gentle = _as_much_as(state, means, looked, need, trigger, known)
    if saved_by(gentle) >= need and _keeps_an_outline(gentle):
        return replace(gentle, held=looked.held)
    recent = _recent_large(state, means, looked, need, trigger)
    if recent is not None:
        return replace(recent, held=looked.held)
    held, target = replace(state, known=looked.held), state.lane.tokens - need
    summary = _summarized(held, means, target, trigger, firm=True)
    enough_of = [made for made in (gentle, summary) if saved_by(made) >= need]
    if enough_of:
        best = _richest(state, looked, enough_of) if len(enough_of) > 1 else enough_of[0]
        return replace(best, held=looked.held)
    made = [gentle, summary]
    for deep, tight in DEPTHS[1:]:
        seen = look(held, means.count, deep=deep, tight=tight)
        made.append(_as_much_as(state, means, seen, need, trigger, known))
        if saved_by(made[-1]) >= need:
            break
    else:
        made.append(_with_requests(state, means, looked, need, trigger))
    return replace(max(made, key=saved_by), held=looked.held)


def _with_requests(
    state: State, means: Means, looked: Looked, need: int, trigger: str
) -> Candidate:
    """One line for everything that may change, and as much of the requests as there is room for."""
    held = replace(state, known=looked.held)
    seen = look(held, means.count, deep=True, tight=True, whole=True)
    made, asked = Candidate(nothing(state, trigger, REQUESTS)), need
    for _ in range(TRIES):
        chosen = _bounded(seen, asked)
        made = carry_out(state, means, seen, priced(chosen, seen.scale), trigger)
        if saved_by(made) >= need:
            break
        # What stand-ins save is known only once they are made.
        asked += need - saved_by(made)
    return made


def _bounded(seen: Looked, need: int) -> list[Proposal]:
    """Every proposal, and as many requests cut as it takes to save so many tokens."""
    taken = {one.at: one for one in seen.proposals}
    for at in requests_by_size(seen.ground, seen.tokens):
        saved = sum(one.saves for place, one in taken.items() if place != at)
        size = seen.tokens[at]
        room = max(size - (need - saved), LEAST_REQUEST)
        if saved < need and room < size:
            entry = seen.scene.items[at].entry.id
            taken[at] = Proposal("request", at, entry, "", size, room, REQUESTS)
    return [taken[at] for at in sorted(taken)]


def _recent_large(
    state: State, means: Means, looked: Looked, need: int, trigger: str
) -> Candidate | None:
    """One large result or paste that is still new, where an outline of it alone is enough."""
    seen = look(replace(state, known=looked.held), means.count, deep=True, whole=True)
    kinds = ("offload", "intermediate", "paste")
    large = [one for one in seen.proposals if one.kind in kinds and not one.tight]
    best = max(large, key=lambda one: one.saves, default=None)
    if best is None or best.saves < need:
        return None
    made = carry_out(state, means, seen, priced([best], seen.scale), trigger)
    return made if saved_by(made) >= need else None


def _keeps_an_outline(made: Candidate) -> bool:
    """Whether nothing is down to a line of which more than a line would be wanted."""
    steps = made.body.steps if made.body is not None else ()
    shorter = (step.stand_in for step in steps if step.kind in ("mask", "intermediate"))
    return not any(text_of(body).startswith(MASKED) for body in shorter if body is not None)


def _as_much_as(
    state: State, means: Means, looked: Looked, need: int, trigger: str, known: Made
) -> Candidate:
    """Tiers 1 and 2 until so many tokens are saved, the gentlest first."""
    made = Candidate(nothing(state, trigger, "nothing in sight could be made smaller"))
    # A guess may have been too good: then all of it is tried before anything goes further.
    for chosen in (
        enough(looked.proposals, need, NOTHING, looked.scale),
        priced(looked.proposals, looked.scale),
    ):
        made = carry_out(state, means, looked, chosen, trigger, known)
        if saved_by(made) >= need:
            break
    return made


def _richest(state: State, looked: Looked, made: Sequence[Candidate]) -> Candidate:
    """The one that leaves most in sight of what is likely to be needed again."""
    likely = Likely(looked.scene, looked.held)
    known = frozenset[str]().union(*looked.held.values())

    def worth(candidate: Candidate) -> float:
        assert candidate.body is not None
        items = after_steps(state.window.items, candidate.body.steps)
        names = frozenset[str]().union(*(telling_names(text_of(item.body)) for item in items))
        return fsum(likely(name) for name in names & known)

    return max(made, key=worth)


# Birth: large results and large pastes in requests leave before they are ever sent.
#
# What was never sent is in no cache, so that nothing is to be weighed: only whether it is large,
# and whether it may leave.


def at_birth(state: State, means: Means) -> Candidate | None:
    """Tier 1: large results and pastes that were not sent yet leave before they ever are."""
    items = state.window.items
    if not may_leave("offload", state.policy.preservation):
        return None
    new = [at for at in fresh(state) if items[at].entry.id not in state.spared]
    if not any(may_be_large(items[at], state.policy, state.limit) for at in new):
        return None
    looked = look(state, means.count)
    legal, scene, tokens = may_change(looked.ground), looked.scene, looked.tokens
    large = [at for at in new if legal[at] and _is_large(scene, at, tokens[at], state)]
    if not large:
        return None
    # What was never sent is in no cache: it leaves at no cost.
    unsent = replace(looked, scale=replace(looked.scale, sent=0))
    chosen = priced([_birth(scene, at, tokens[at]) for at in large], unsent.scale)
    return carry_out(state, means, unsent, chosen, AT_BIRTH)


def may_be_large(item: Item, policy: Policy, limit: int) -> bool:
    """By bytes alone: no text has more tokens than bytes."""
    if item.covers or not (isinstance(item.body, ToolReturned) or is_request(item.body)):
        return False
    return most_tokens(item.body) > min([by_share(policy.offload, limit), *_tool_bounds(policy)])


def _tool_bounds(policy: Policy) -> list[int]:
    bounds = (whole_number(row.rpartition("=")[2]) for row in policy.offload.tools)
    return [bound for bound in bounds if bound is not None]


def _is_large(scene: Scene, at: int, tokens: int, state: State) -> bool:
    body, pair = scene.items[at].body, scene.of_result.get(at)
    if isinstance(body, Said):
        return not state.hosted and _pasted(body, tokens) > by_share(
            state.policy.offload, state.limit
        )
    if not isinstance(body, ToolReturned) or pair is None:
        return False
    touch, rules = touch_of(pair.body), state.policy.offload
    reading = touch.verb == "read"
    if tokens <= bound_for(pair.body.tool, rules, state.limit, reading=reading):
        return False
    # A page of a file is what the agent asked for, at the size it chose.
    paged = reading and touch.paged
    return not paged and not is_exempt(pair.body.tool, pair.body, body, rules.never)


def _pasted(body: Said, tokens: int) -> int:
    """Tokens of the large pastes in a request, about."""
    return round(tokens * pasted_share(body.text, PASTE_SHORT)) if is_request(body) else 0


def _birth(scene: Scene, at: int, tokens: int) -> Proposal:
    body, entry = scene.items[at].body, scene.items[at].entry.id
    if isinstance(body, Said):
        stays = tokens - _pasted(body, tokens)
        reason = f"pastes of {tokens - stays:,} tokens in a request"
        return Proposal("paste", at, entry, "", tokens, min(tokens, stays + 500), reason)
    pair = scene.of_result[at]
    return Proposal(
        kind="offload",
        at=at,
        entry=entry,
        tool=pair.body.tool,
        before=tokens,
        guess=min(tokens, 500),
        reason=f"a result of {tokens:,} tokens",
        touch=touch_of(pair.body),
    )
