"""A choice carried out, on paper: stand-ins made and applied, and what is left looked over.

What comes out is a candidate: the plan, and the one entry that would carry it out, if that breaks
nothing.
"""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec.structs import replace

from holdfast.core.ledger.entry import Compressed, Step, Thought, is_request
from holdfast.core.ledger.window import Item, apply
from holdfast.core.plan.choose import Choice, priced
from holdfast.core.plan.kept import kept_of
from holdfast.core.plan.plan import Candidate, Plan, Planned, in_window_tokens
from holdfast.core.plan.proposals import TIERS, Proposal
from holdfast.core.plan.state import Looked, State
from holdfast.core.shrink.step import Means, ref_of, shrink
from holdfast.core.verify.losses import losses

Made: TypeAlias = dict[tuple[int, str, bool], Step | None]
"""Steps that were made on paper before, by place, kind and form."""


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
        return Candidate(nothing(state, trigger, "nothing in sight could be made smaller"))
    taken = tuple(replace(one, guess=step.after) for one, step in steps)
    real = priced(taken, looked.scale)
    after = after_steps(items, [step for _, step in steps])
    raw = state.lane.tokens - real.saves
    found = losses(items, after, saved=real.saves)
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
    plan = in_window_tokens(plan, state.lane.tokens)
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
    said = "user message" if one.kind in ("paste", "request") else "thinking"
    what = one.touch.path or " ".join(one.touch.command.split())[:60] or one.tool or said
    label = f"{one.tool} {what}" if one.tool and what != one.tool else what
    tier = TIERS.get(one.kind, 1)
    return Planned(one.kind, tier, label, one.reason, one.before, one.guess, ref_of(one.entry))


def put_off(state: State, looked: Looked, choice: Choice, trigger: str, reason: str) -> Plan:
    """A plan that says what would have been done, and why it is not."""
    plan = Plan(
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
    return in_window_tokens(plan, state.lane.tokens)


def nothing(state: State, trigger: str, reason: str) -> Plan:
    """A plan to leave everything as it is."""
    return Plan(trigger, state.usage, state.usage, reason=reason)


def saved_by(made: Candidate) -> int:
    """Raw tokens that a candidate takes out of the window."""
    return sum(step.before - step.after for step in made.body.steps) if made.body else 0
