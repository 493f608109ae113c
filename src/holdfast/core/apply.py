"""Apply chosen proposals to a copy of a window: make stand-ins, apply them, check for losses.

Nothing is written. The result is a `Candidate`: the plan and, if no loss was found, the entry that
applies it.
"""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec.structs import replace

from holdfast.core.ledger.entry import Compressed, Step, Thought, is_request
from holdfast.core.ledger.window import Item, apply_steps
from holdfast.core.plan.choose import Selection, price
from holdfast.core.plan.kept import kept_items
from holdfast.core.plan.plan import Candidate, Plan, PlannedStep, in_window_tokens
from holdfast.core.plan.proposals import TIERS, Proposal
from holdfast.core.plan.state import State, Survey
from holdfast.core.shrink.step import ShrinkContext, ref_of, shrink
from holdfast.core.verify.losses import losses

StepCache: TypeAlias = dict[tuple[int, str, bool], Step | None]
"""Steps that were made before, by position, kind and form; None if nothing could be saved."""


def apply_choice(
    state: State,
    context: ShrinkContext,
    looked: Survey,
    choice: Selection,
    trigger: str,
    cache: StepCache | None = None,
) -> Candidate:
    """Make the stand-ins of a choice, apply them to a copy of the window, and check for losses.

    Steps found in `cache` are not made again; new ones are added to it.
    """
    items = looked.scene.items
    chosen = _keep_thinking_removals_legal(looked, choice.proposals)
    attempts = [
        (proposal, _shrink_once(proposal, items[proposal.at], context, cache))
        for proposal in chosen
    ]
    steps = [(proposal, step) for proposal, step in attempts if step is not None]
    if not steps:
        return Candidate(unchanged_plan(state, trigger, "nothing in sight could be made smaller"))
    taken = tuple(replace(proposal, guess=step.after) for proposal, step in steps)
    actual = price(taken, looked.pricing)
    after = items_after(items, [step for _, step in steps])
    raw = state.lane.tokens - actual.saves
    problems = losses(items, after, saved=actual.saves)
    usage, usage_after = state.usage, state.usage_at(raw)
    body = Compressed(
        steps=tuple(step for _, step in steps),
        generation=state.window.generation,
        watermark=state.seq,
        trigger=trigger,
        before=usage.tokens,
        after=usage_after.tokens,
        raw=raw,
        intent=_keeps_first_request(items, after),
    )
    plan = Plan(
        trigger=trigger,
        before=usage,
        after=usage_after,
        steps=tuple(_planned_step(proposal) for proposal in taken),
        bill=actual.bill,
        requests=looked.pricing.requests,
        verdict="refused" if problems else "apply",
        reason="; ".join(problems),
        kept=kept_items(looked, {proposal.at for proposal in taken}, state.policy.offload.never),
    )
    plan = in_window_tokens(plan, state.lane.tokens)
    return Candidate(plan, None if problems else body, problems)


def _keep_thinking_removals_legal(looked: Survey, chosen: Sequence[Proposal]) -> list[Proposal]:
    """Return the proposals whose removal of sealed thinking is legal.

    Sealed thinking may be removed only from the front: all of it that follows a kept one stays.
    Thinking without words has no tokens; it is removed together with the thinking after it.
    """
    items = looked.scene.items
    by_place = {proposal.at: proposal for proposal in chosen}
    for proposal in looked.proposals:
        if proposal.kind == "thinking" and not proposal.before:
            by_place.setdefault(proposal.at, proposal)
    sealed = [at for at, item in enumerate(items) if _is_sealed(item)]
    first_kept = next((at for at in sealed if at not in by_place), len(items))
    last = max((at for at in sealed if at in by_place and by_place[at].before), default=-1)
    return [
        by_place[at]
        for at in sorted(by_place)
        if _may_be_removed(by_place[at], items, first_kept, last)
    ]


def _shrink_once(
    proposal: Proposal, item: Item, context: ShrinkContext, cache: StepCache | None
) -> Step | None:
    if cache is None:
        return shrink(proposal, item, context)
    key = (proposal.at, proposal.kind, proposal.tight)
    if key not in cache:
        cache[key] = shrink(proposal, item, context)
    return cache[key]


def _may_be_removed(proposal: Proposal, items: Sequence[Item], first_kept: int, last: int) -> bool:
    if _is_sealed(items[proposal.at]) and proposal.at >= first_kept:
        return False
    return proposal.before > 0 or proposal.at < last


def _is_sealed(item: Item) -> bool:
    return isinstance(item.body, Thought) and bool(item.body.seal)


def items_after(items: Sequence[Item], steps: Sequence[Step]) -> list[Item]:
    """Return the items of a window after the steps are applied."""
    return apply_steps(steps, items)


def _keeps_first_request(before: Sequence[Item], after: Sequence[Item]) -> bool:
    first = next((item for item in before if is_request(item.body)), None)
    return first is None or any(item.entry.id == first.entry.id for item in after)


def _planned_step(proposal: Proposal) -> PlannedStep:
    default = "user message" if proposal.kind in ("paste", "request") else "thinking"
    what = (
        proposal.touch.path
        or " ".join(proposal.touch.command.split())[:60]
        or proposal.tool
        or default
    )
    label = f"{proposal.tool} {what}" if proposal.tool and what != proposal.tool else what
    tier = TIERS.get(proposal.kind, 1)
    return PlannedStep(
        proposal.kind,
        tier,
        label,
        proposal.reason,
        proposal.before,
        proposal.guess,
        ref_of(proposal.entry),
    )


def postponed_plan(
    state: State, looked: Survey, choice: Selection, trigger: str, reason: str
) -> Plan:
    """Return a plan that lists the steps of a choice and the reason to postpone them."""
    plan = Plan(
        trigger=trigger,
        before=state.usage,
        after=state.usage_at(state.lane.tokens - choice.saves),
        steps=tuple(_planned_step(proposal) for proposal in choice.proposals),
        bill=choice.bill,
        requests=looked.pricing.requests,
        verdict="postpone" if choice.proposals else "nothing",
        reason=reason,
        kept=kept_items(
            looked, {proposal.at for proposal in choice.proposals}, state.policy.offload.never
        ),
    )
    return in_window_tokens(plan, state.lane.tokens)


def unchanged_plan(state: State, trigger: str, reason: str) -> Plan:
    """Return a plan that changes nothing, with the reason."""
    return Plan(trigger, state.usage, state.usage, reason=reason)


def saved_raw_tokens(candidate: Candidate) -> int:
    """Return the raw tokens that a candidate removes from the window."""
    return sum(step.before - step.after for step in candidate.body.steps) if candidate.body else 0
