"""Plan all three tiers for a window: large results before first send, a due batch, or a budget.

The steps are: survey the record, make proposals, choose some, shrink, verify. Nothing is written.
The result is a `Candidate`: a plan and, if no loss was found, the entry that applies it.
"""

from msgspec.structs import replace

from holdfast.core.apply import (
    StepCache,
    apply_choice,
    postponed_plan,
    saved_raw_tokens,
    unchanged_plan,
)
from holdfast.core.faults import attempt
from holdfast.core.ledger.entry import Said, ToolReturned, is_request, text_of
from holdfast.core.ledger.head import AT_BIRTH
from holdfast.core.ledger.marks import MASKED
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.requests.pastes import pasted_share
from holdfast.core.observe.scene import Scene
from holdfast.core.plan.choose import (
    EMPTY_SELECTION,
    Selection,
    choose,
    choose_all_profitable,
    choose_enough,
    price,
)
from holdfast.core.plan.cuts import may_change
from holdfast.core.plan.due import Due
from holdfast.core.plan.large import is_large, may_be_large
from holdfast.core.plan.plan import Candidate
from holdfast.core.plan.preserve import may_leave
from holdfast.core.plan.proposals import MIN_PASTE_CHARS, Proposal, default_bound
from holdfast.core.plan.state import State, Survey, survey, unsent_places
from holdfast.core.shrink.step import ShrinkContext
from holdfast.core.shrink.summary.cut import MIN_REQUEST_TOKENS, requests_by_size
from holdfast.core.summarize import summarize

DEPTHS = ((False, False), (True, False), (True, True))
"""Values of (deep, tight), in the order in which they are tried: shrink old items only; recent and
open items too; and to one line each."""
MAX_REQUEST_TRIES = 3
CUT_REQUESTS_REASON = "requests larger than their share"
MIN_RECLAIM_OVER_LIMIT = 5
"""The smallest share of a window over its limit, in percent, that a batch must remove."""


def plan_batch(state: State, context: ShrinkContext, due: Due) -> Candidate:
    """Plan tiers 1 and 2 as one batch, and tier 3 if that is not enough."""
    looked = survey(state, context.count)
    candidate = _plan_tiers_1_and_2(state, context, looked, due)
    if due.boundary or not _is_below_summary_level(candidate, state):
        candidate = _prefer_summary(
            candidate, _plan_summary(state, context, looked, due), state, due
        )
    return replace(candidate, names_by_entry=looked.names_by_entry)


def _plan_tiers_1_and_2(
    state: State, context: ShrinkContext, looked: Survey, due: Due
) -> Candidate:
    """Plan the steps with the highest gain; more of them if the batch is forced."""
    if due.action == "force":
        return _force_tiers_1_and_2(state, context, looked, due.trigger)
    choice = choose(looked.proposals, looked.pricing)
    refusal = _why_postpone(choice, state)
    if refusal:
        return Candidate(postponed_plan(state, looked, choice, due.trigger, refusal))
    return apply_choice(state, context, looked, choice, due.trigger)


def _is_below_summary_level(candidate: Candidate, state: State) -> bool:
    """Return whether the window is below the threshold of tier 3, before or after the batch."""
    if state.usage.fraction * 100 < state.policy.at.summary:
        return True
    if candidate.body is None:
        return False
    return candidate.plan.after.fraction * 100 < state.policy.at.summary


def _plan_summary(state: State, context: ShrinkContext, looked: Survey, due: Due) -> Candidate:
    """Plan tier 3 with the target size that the policy sets for a summary."""
    held = replace(state, known_names=looked.names_by_entry)
    fixed = state.usage_at(0).tokens
    room = max(state.limit - fixed, 0) * state.policy.summary.target // 100
    target = state.lane.tokens - state.raw_over(fixed + room)
    return _try_to_summarize(held, context, target, due.trigger, firm=state.usage.fraction >= 1)


def _try_to_summarize(
    state: State, context: ShrinkContext, target: int, trigger: str, *, firm: bool
) -> Candidate:
    """Plan tier 3; return a plan without changes if that raises, so that tiers 1 and 2 remain."""
    return attempt(
        "compress.summarize",
        lambda: summarize(state, context, target, trigger, firm=firm),
        lambda: Candidate(unchanged_plan(state, trigger, "no summary could be made")),
    )


def _prefer_summary(batch: Candidate, summary: Candidate, state: State, due: Due) -> Candidate:
    """Return the summary if it is legal and is forced or pays for itself; else the batch."""
    if summary.body is None or _why_not_force(saved_raw_tokens(summary), state):
        return batch
    bill = summary.plan.bill
    pays = bill.gain * 100 >= max(bill.cost, 0.0) * state.policy.batch.margin
    if due.action == "force" or pays:
        return summary
    reason = "a summary would win too little for what it costs at once"
    later = replace(summary.plan, verdict="postpone", reason=reason)
    return batch if batch.body is not None else Candidate(later)


def _force_tiers_1_and_2(
    state: State, context: ShrinkContext, looked: Survey, trigger: str
) -> Candidate:
    """Plan every step that pays, then the gentlest others, until the window is small enough."""
    thresholds = state.policy.at
    need = state.raw_over(state.limit * (thresholds.batch + thresholds.summary) // 200)
    held = replace(state, known_names=looked.names_by_entry)
    cache: StepCache = {}
    candidate, choice, seen = None, EMPTY_SELECTION, looked
    for deep, tight in DEPTHS:
        seen = survey(held, context.count, deep=deep, tight=tight) if deep else looked
        wins = choose_all_profitable(seen.proposals, seen.pricing)
        choice = choose_enough(seen.proposals, need, wins, seen.pricing)
        candidate = apply_choice(state, context, seen, choice, trigger, cache)
        if saved_raw_tokens(candidate) >= need or candidate.losses:
            break
    assert candidate is not None
    refusal = _why_not_force(saved_raw_tokens(candidate), state)
    if refusal and not candidate.losses:
        return Candidate(postponed_plan(state, seen, choice, trigger, refusal))
    return candidate


def _why_postpone(choice: Selection, state: State) -> str:
    """Return the reason to postpone a batch that removes or gains too little; empty if none."""
    if not choice.proposals:
        return "nothing in sight would pay for being changed"
    rules, whole = state.policy.batch, state.lane.tokens
    if choice.saves * 100 < rules.reclaim * whole:
        share = choice.saves * 100 // max(whole, 1)
        return f"it would take out {share}% of the window, less than {rules.reclaim}%"
    if choice.bill.gain * 100 < max(choice.bill.cost, 0.0) * rules.margin:
        return "it would win too little for what it costs at once"
    return ""


def _why_not_force(saved: int, state: State) -> str:
    """Return the reason not to change even a critical window: it would soon be full again."""
    if not saved:
        return "nothing in sight may leave"
    least = state.policy.batch.reclaim if state.usage.fraction < 1 else MIN_RECLAIM_OVER_LIMIT
    if saved * 100 < least * state.lane.tokens:
        return f"all that may leave is less than {least}% of the window"
    return ""


def plan_to_budget(state: State, context: ShrinkContext, budget: int, trigger: str) -> Candidate:
    """Plan the least compression that meets a budget of tokens; all that is legal if none does.

    Try tiers 1 and 2 on old items. If they would mask most results to one line, a summary says
    more: it is tried first. Then try tiers 1 and 2 on recent and open items too.
    """
    # The caller sends these messages itself, also if another program built the window before.
    state = replace(state, hosted=False)
    need = state.raw_over(budget)
    if need <= 0:
        return Candidate(unchanged_plan(state, trigger, "the window is within its budget"))
    cache: StepCache = {}
    looked = survey(state, context.count)
    gentle = None
    # If even all of these items have too few tokens, stand-ins for them are a last resort.
    if sum(proposal.before for proposal in looked.proposals) >= need:
        gentle = _save_tokens(state, context, looked, need, trigger, cache)
        if saved_raw_tokens(gentle) >= need and _keeps_outlines(gentle):
            return replace(gentle, names_by_entry=looked.names_by_entry)
    recent = _shrink_one_recent(state, context, looked, need, trigger)
    if recent is not None:
        return replace(recent, names_by_entry=looked.names_by_entry)
    held, target = replace(state, known_names=looked.names_by_entry), state.lane.tokens - need
    summary = _try_to_summarize(held, context, target, trigger, firm=True)
    candidates = (summary,) if gentle is None else (gentle, summary)
    sufficient = [made for made in candidates if saved_raw_tokens(made) >= need]
    if sufficient:
        return replace(sufficient[-1], names_by_entry=looked.names_by_entry)
    made = [gentle or _save_tokens(state, context, looked, need, trigger, cache), summary]
    for deep, tight in DEPTHS[1:]:
        seen = survey(held, context.count, deep=deep, tight=tight)
        made.append(_save_tokens(state, context, seen, need, trigger, cache))
        if saved_raw_tokens(made[-1]) >= need:
            break
    else:
        cut = _cut_requests_too(state, context, looked, need, trigger)
        # A summary quotes the requests: they are cut in their place only if that is enough.
        if saved_raw_tokens(cut) >= need or summary.body is None:
            made.append(cut)
    return replace(max(made, key=saved_raw_tokens), names_by_entry=looked.names_by_entry)


def _cut_requests_too(
    state: State, context: ShrinkContext, looked: Survey, need: int, trigger: str
) -> Candidate:
    """Shrink every item that may change to one line, and cut requests to the room that is left."""
    held = replace(state, known_names=looked.names_by_entry)
    seen = survey(held, context.count, deep=True, tight=True, whole=True)
    candidate, wanted = Candidate(unchanged_plan(state, trigger, CUT_REQUESTS_REASON)), need
    for _ in range(MAX_REQUEST_TRIES):
        chosen = _with_cut_requests(seen, wanted)
        candidate = apply_choice(state, context, seen, price(chosen, seen.pricing), trigger)
        if saved_raw_tokens(candidate) >= need:
            break
        # The savings were estimates until the stand-ins were made: ask for the difference too.
        wanted += need - saved_raw_tokens(candidate)
    return candidate


def _with_cut_requests(seen: Survey, need: int) -> list[Proposal]:
    """Return every proposal, and proposals to cut requests until `need` tokens are saved."""
    by_place = {proposal.at: proposal for proposal in seen.proposals}
    for at in requests_by_size(seen.context, seen.tokens):
        saved = sum(proposal.saves for place, proposal in by_place.items() if place != at)
        size = seen.tokens[at]
        room = max(size - (need - saved), MIN_REQUEST_TOKENS)
        if saved < need and room < size:
            entry = seen.scene.items[at].entry.id
            by_place[at] = Proposal("request", at, entry, "", size, room, CUT_REQUESTS_REASON)
    return [by_place[at] for at in sorted(by_place)]


def _shrink_one_recent(
    state: State, context: ShrinkContext, looked: Survey, need: int, trigger: str
) -> Candidate | None:
    """Shrink the one recent result or paste that saves most, if that alone is enough."""
    if max(looked.tokens, default=0) < need:
        return None
    seen = survey(
        replace(state, known_names=looked.names_by_entry), context.count, deep=True, whole=True
    )
    kinds = ("offload", "intermediate", "paste")
    large = [
        proposal for proposal in seen.proposals if proposal.kind in kinds and not proposal.tight
    ]
    best = max(large, key=lambda proposal: proposal.saves, default=None)
    if best is None or best.saves < need:
        return None
    candidate = apply_choice(state, context, seen, price([best], seen.pricing), trigger)
    return candidate if saved_raw_tokens(candidate) >= need else None


def _keeps_outlines(candidate: Candidate) -> bool:
    """Return whether at most half of the steps mask a result to one line."""
    steps = candidate.body.steps if candidate.body is not None else ()
    stand_ins = (step.stand_in for step in steps if step.kind in ("mask", "intermediate"))
    masked = sum(text_of(body).startswith(MASKED) for body in stand_ins if body is not None)
    return 2 * masked <= len(steps)


def _save_tokens(
    state: State, context: ShrinkContext, looked: Survey, need: int, trigger: str, cache: StepCache
) -> Candidate:
    """Plan tiers 1 and 2, the gentlest steps first, until `need` tokens are saved."""
    candidate = Candidate(unchanged_plan(state, trigger, "nothing in sight could be made smaller"))
    # Estimates may have been too high: then all proposals are tried before the caller goes further.
    for choice in (
        choose_enough(looked.proposals, need, EMPTY_SELECTION, looked.pricing),
        price(looked.proposals, looked.pricing),
    ):
        candidate = apply_choice(state, context, looked, choice, trigger, cache)
        if saved_raw_tokens(candidate) >= need:
            break
    return candidate


# At birth: shrink large results, and large pastes in requests, before they are first sent.
#
# An item that was never sent is in no cache, so there is no cost to weigh: it is only checked
# whether the item is large and may change.


def at_birth(state: State, context: ShrinkContext) -> Candidate | None:
    """Plan tier 1 for large results and pastes before first send; None if there are none."""
    items = state.window.items
    if not may_leave("offload", state.policy.preservation):
        return None
    new = [at for at in unsent_places(state) if items[at].entry.id not in state.brought_back]
    if not any(may_be_large(items[at], state.policy, state.limit) for at in new):
        return None
    looked = survey(state, context.count)
    legal, scene, tokens = may_change(looked.context), looked.scene, looked.tokens
    large = [at for at in new if legal[at] and _is_large_at_birth(scene, at, tokens[at], state)]
    if not large:
        return None
    # Items that were never sent are in no cache, so removing them costs nothing.
    unsent = replace(looked, pricing=replace(looked.pricing, sent=0))
    choice = price([_birth_proposal(scene, at, tokens[at]) for at in large], unsent.pricing)
    return apply_choice(state, context, unsent, choice, AT_BIRTH)


def _is_large_at_birth(scene: Scene, at: int, tokens: int, state: State) -> bool:
    body, pair = scene.items[at].body, scene.by_result.get(at)
    if isinstance(body, Said):
        return not state.hosted and _pasted_tokens(body, tokens) > default_bound(
            state.policy.offload, state.limit
        )
    if not isinstance(body, ToolReturned) or pair is None:
        return False
    return is_large(pair.body, body, state.policy, state.limit, tokens)


def _pasted_tokens(body: Said, tokens: int) -> int:
    """Estimate the tokens of the large pastes in a request."""
    return round(tokens * pasted_share(body.text, MIN_PASTE_CHARS)) if is_request(body) else 0


def _birth_proposal(scene: Scene, at: int, tokens: int) -> Proposal:
    body, entry = scene.items[at].body, scene.items[at].entry.id
    if isinstance(body, Said):
        stays = tokens - _pasted_tokens(body, tokens)
        reason = f"pastes of {tokens - stays:,} tokens in a request"
        return Proposal("paste", at, entry, "", tokens, min(tokens, stays + 500), reason)
    pair = scene.by_result[at]
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
