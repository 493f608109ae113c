"""The whole flow on one page: from a window to what would stand in its place.

Look at the record, propose, choose, shrink, verify. Nothing here writes: what comes out is a plan
and, if it may be made, the one entry that would carry it out.
"""

from collections.abc import Sequence
from math import fsum
from typing import TypeAlias

from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    Compressed,
    Step,
    Thought,
    ToolReturned,
    is_request,
    text_of,
)
from holdfast.core.ledger.head import AT_BIRTH
from holdfast.core.ledger.size import most_tokens
from holdfast.core.ledger.window import Item, apply
from holdfast.core.observe.artifacts import touch_of
from holdfast.core.observe.calls import Scene
from holdfast.core.observe.likely import Likely
from holdfast.core.observe.marks import MASKED
from holdfast.core.observe.worth import telling
from holdfast.core.plan.always import may_leave
from holdfast.core.plan.choose import (
    NOTHING,
    Choice,
    choose,
    enough,
    priced,
    worthwhile,
)
from holdfast.core.plan.cuts import may_change
from holdfast.core.plan.due import Due
from holdfast.core.plan.kept import kept_of
from holdfast.core.plan.plan import Candidate, Plan, Planned
from holdfast.core.plan.policy import Policy
from holdfast.core.plan.state import Looked, State, fresh, look
from holdfast.core.plan.steps import TIERS, Proposal, bound_for, by_share, is_exempt
from holdfast.core.shrink.step import Means, ref_of, shrink
from holdfast.core.summarize import summarize
from holdfast.core.verify.losses import losses

DEPTHS = ((False, False), (True, False), (True, True))
"""How far to go: what is old; what is recent or open as well; and one line for everything."""
HARD_RECLAIM = 5
"""Percent that a batch has to take out of a window that is over its limit."""


Made: TypeAlias = dict[tuple[int, str, bool], Step | None]
"""Steps that were made on paper before, by place, kind and form."""


def at_birth(state: State, means: Means) -> Candidate | None:
    """Tier 1: large results that were not sent yet leave before they ever are."""
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
    if not isinstance(item.body, ToolReturned) or item.covers:
        return False
    return most_tokens(item.body) > min([by_share(policy.offload, limit), *_tool_bounds(policy)])


def _tool_bounds(policy: Policy) -> list[int]:
    bounds = (row.rpartition("=")[2] for row in policy.offload.tools)
    return [int(bound) for bound in bounds if bound.isdigit()]


def _is_large(scene: Scene, at: int, tokens: int, state: State) -> bool:
    body, pair = scene.items[at].body, scene.of_result.get(at)
    if not isinstance(body, ToolReturned) or pair is None:
        return False
    touch, rules = touch_of(pair.body), state.policy.offload
    reading = touch.verb == "read"
    if tokens <= bound_for(pair.body.tool, rules, state.limit, reading=reading):
        return False
    # A page of a file is what the agent asked for, at the size it chose.
    paged = reading and touch.paged
    return not paged and not is_exempt(pair.body.tool, pair.body, body, rules.never)


def _birth(scene: Scene, at: int, tokens: int) -> Proposal:
    pair = scene.of_result[at]
    return Proposal(
        kind="offload",
        at=at,
        entry=scene.items[at].entry.id,
        tool=pair.body.tool,
        before=tokens,
        guess=min(tokens, 500),
        reason=f"a result of {tokens:,} tokens",
        touch=touch_of(pair.body),
    )


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
        return Candidate(_put_off(state, looked, chosen, due.trigger, refusal))
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
    return summarize(held, means, target, due.trigger)


def _better(batch: Candidate, summary: Candidate, state: State, due: Due) -> Candidate:
    """The summary where it may be made and pays, or has to be made; else what there was."""
    if summary.body is None or _not_worth_forcing(_saved(summary), state):
        return batch
    bill = summary.plan.bill
    pays = bill.gain * 100 >= max(bill.cost, 0.0) * state.policy.batch.margin
    if due.action == "force" or pays:
        return summary
    reason = "a summary would win too little for what it costs at once"
    put_off = replace(summary.plan, verdict="postpone", reason=reason)
    return batch if batch.body is not None else Candidate(put_off)


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
        if _saved(made) >= need or made.losses:
            break
    assert made is not None
    refusal = _not_worth_forcing(_saved(made), state)
    if refusal and not made.losses:
        return Candidate(_put_off(state, seen, chosen, trigger, refusal))
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
    need = state.raw_over(budget)
    if need <= 0:
        return Candidate(_nothing(state, trigger, "the window is within its budget"))
    known: Made = {}
    looked = look(state, means.count)
    gentle = _as_much_as(state, means, looked, need, trigger, known)
    if _saved(gentle) >= need and _keeps_an_outline(gentle):
        return replace(gentle, held=looked.held)
    recent = _recent_large(state, means, looked, need, trigger)
    if recent is not None:
        return replace(recent, held=looked.held)
    summary = summarize(replace(state, known=looked.held), means, state.lane.tokens - need, trigger)
    enough_of = [made for made in (gentle, summary) if _saved(made) >= need]
    if enough_of:
        best = _richest(state, looked, enough_of) if len(enough_of) > 1 else enough_of[0]
        return replace(best, held=looked.held)
    made = [gentle, summary]
    for deep, tight in DEPTHS[1:]:
        seen = look(replace(state, known=looked.held), means.count, deep=deep, tight=tight)
        made.append(_as_much_as(state, means, seen, need, trigger, known))
        if _saved(made[-1]) >= need:
            break
    return replace(max(made, key=_saved), held=looked.held)


def _recent_large(
    state: State, means: Means, looked: Looked, need: int, trigger: str
) -> Candidate | None:
    """One large result that is still new, where an outline of it alone is enough."""
    seen = look(replace(state, known=looked.held), means.count, deep=True, whole=True)
    kinds = ("offload", "intermediate")
    large = [one for one in seen.proposals if one.kind in kinds and not one.tight]
    best = max(large, key=lambda one: one.saves, default=None)
    if best is None or best.saves < need:
        return None
    made = carry_out(state, means, seen, priced([best], seen.scale), trigger)
    return made if _saved(made) >= need else None


def _keeps_an_outline(made: Candidate) -> bool:
    """Whether nothing is down to a line of which more than a line would be wanted."""
    steps = made.body.steps if made.body is not None else ()
    shorter = (step.stand_in for step in steps if step.kind in ("mask", "intermediate"))
    return not any(text_of(body).startswith(MASKED) for body in shorter if body is not None)


def _as_much_as(
    state: State, means: Means, looked: Looked, need: int, trigger: str, known: Made
) -> Candidate:
    """Tiers 1 and 2 until so many tokens are saved, the gentlest first."""
    made = Candidate(_nothing(state, trigger, "nothing in sight could be made smaller"))
    # A guess may have been too good: then all of it is tried before anything goes further.
    for chosen in (
        enough(looked.proposals, need, NOTHING, looked.scale),
        priced(looked.proposals, looked.scale),
    ):
        made = carry_out(state, means, looked, chosen, trigger, known)
        if _saved(made) >= need:
            break
    return made


def _richest(state: State, looked: Looked, made: Sequence[Candidate]) -> Candidate:
    """The one that leaves most in sight of what is likely to be needed again."""
    likely = Likely(looked.scene, looked.held)
    known = frozenset[str]().union(*looked.held.values())

    def worth(candidate: Candidate) -> float:
        assert candidate.body is not None
        items = after_steps(state.window.items, candidate.body.steps)
        names = frozenset[str]().union(*(telling(text_of(item.body)) for item in items))
        return fsum(likely(name) for name in names & known)

    return max(made, key=worth)


def _saved(made: Candidate) -> int:
    return sum(step.before - step.after for step in made.body.steps) if made.body else 0


def carry_out(
    state: State,
    means: Means,
    looked: Looked,
    choice: Choice,
    trigger: str,
    known: Made | None = None,
) -> Candidate:
    """Carry a choice out, on paper: make the stand-ins, apply them, look for losses."""
    items = looked.scene.items
    chosen = _seals_from_the_front(looked, choice.proposals)
    made = [(one, _step(one, items[one.at], means, known)) for one in chosen]
    steps = [(one, step) for one, step in made if step is not None]
    if not steps:
        return Candidate(_nothing(state, trigger, "nothing in sight could be made smaller"))
    taken = tuple(replace(one, guess=step.after) for one, step in steps)
    real = priced(taken, looked.scale)
    after = after_steps(items, [step for _, step in steps])
    raw = state.lane.tokens - real.saves
    found = losses(items, after, saved=real.saves, pinned={})
    usage, now = state.usage, state.usage_at(raw)
    body = Compressed(
        steps=tuple(step for _, step in steps),
        generation=state.window.generation,
        watermark=state.seq,
        trigger=trigger,
        before=usage.tokens,
        after=now.tokens,
        raw=raw,
        intent=_has_intent(items, after),
    )
    plan = Plan(
        trigger=trigger,
        before=usage,
        after=now,
        steps=tuple(_planned(one) for one in taken),
        bill=real.bill,
        requests=looked.scale.requests,
        verdict="refused" if found else "apply",
        reason="; ".join(found),
        kept=kept_of(looked, {one.at for one in taken}, state.policy.offload.never),
    )
    return Candidate(plan, None if found else body, found)


def _seals_from_the_front(looked: Looked, chosen: Sequence[Proposal]) -> list[Proposal]:
    """Sealed thinking may go only from the front: what stands behind a kept one stays as well.

    What has no words has no tokens either, and goes with what stands behind it.
    """
    items = looked.scene.items
    wanted = {one.at: one for one in chosen}
    for one in looked.proposals:
        if one.kind == "thinking" and not one.before:
            wanted.setdefault(one.at, one)
    sealed = [at for at, item in enumerate(items) if _is_sealed(item)]
    first_kept = next((at for at in sealed if at not in wanted), len(items))
    last = max((at for at in sealed if at in wanted and wanted[at].before), default=-1)
    return [wanted[at] for at in sorted(wanted) if _may_go(wanted[at], items, first_kept, last)]


def _step(one: Proposal, item: Item, means: Means, known: Made | None) -> Step | None:
    if known is None:
        return shrink(one, item, means)
    key = (one.at, one.kind, one.tight)
    if key not in known:
        known[key] = shrink(one, item, means)
    return known[key]


def _may_go(one: Proposal, items: Sequence[Item], first_kept: int, last: int) -> bool:
    if _is_sealed(items[one.at]) and one.at >= first_kept:
        return False
    return one.before > 0 or one.at < last


def _is_sealed(item: Item) -> bool:
    return isinstance(item.body, Thought) and bool(item.body.seal)


def after_steps(items: Sequence[Item], steps: Sequence[Step]) -> list[Item]:
    """The items once a batch has been carried out."""
    return apply(steps, items)


def _has_intent(before: Sequence[Item], after: Sequence[Item]) -> bool:
    first = next((item for item in before if is_request(item.body)), None)
    return first is None or any(item.entry.id == first.entry.id for item in after)


def _planned(one: Proposal) -> Planned:
    what = one.touch.path or " ".join(one.touch.command.split())[:60] or one.tool or "thinking"
    label = f"{one.tool} {what}" if one.tool and what != one.tool else what
    tier = TIERS.get(one.kind, 1)
    return Planned(one.kind, tier, label, one.reason, one.before, one.guess, ref_of(one.entry))


def _put_off(state: State, looked: Looked, choice: Choice, trigger: str, reason: str) -> Plan:
    return Plan(
        trigger=trigger,
        before=state.usage,
        after=state.usage_at(state.lane.tokens - choice.saves),
        steps=tuple(_planned(one) for one in choice.proposals),
        bill=choice.bill,
        requests=looked.scale.requests,
        verdict="postpone" if choice.proposals else "nothing",
        reason=reason,
        kept=kept_of(looked, {one.at for one in choice.proposals}, state.policy.offload.never),
    )


def _nothing(state: State, trigger: str, reason: str) -> Plan:
    return Plan(trigger, state.usage, state.usage, reason=reason)
