"""Tier 3 on one page: what is old leaves, and the anchor, extended by it, stands in its place.

Cut, account for what leaves, merge that into what was known, fit it into the room, and ask it the
questions that a reader would. The ledger keeps everything; the tail stays as it is.
"""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.anchor import anchor_of, extended, known_of, span_of
from holdfast.core.ledger.entry import Compressed, Said, Step, text_of
from holdfast.core.ledger.jsontext import SURROGATE
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item
from holdfast.core.measure.tokens import CountTokens, count_body
from holdfast.core.measure.usage import scaled
from holdfast.core.observe.kinds import kind_of
from holdfast.core.observe.likely import Likely
from holdfast.core.observe.worth import hold, telling
from holdfast.core.plan.gain import weigh
from holdfast.core.plan.plan import Candidate, Plan, Planned, in_window_tokens
from holdfast.core.plan.state import State, scale_of, tokens_of
from holdfast.core.shrink.account import Span, account, is_anchor
from holdfast.core.shrink.cutting import (
    Cut,
    after_cut,
    all_but_open,
    all_of,
    cut_for,
    smaller_tail,
    whole_of,
)
from holdfast.core.shrink.facts import Line, lines_of
from holdfast.core.shrink.fitting import Fitted, Room, fit, floor
from holdfast.core.shrink.step import Means, ref_of
from holdfast.core.verify.losses import summary_losses
from holdfast.core.verify.quality import Quality
from holdfast.core.verify.widening import probed, without_tail

FRAME = 8
"""Tokens that a message takes besides its words."""
REASON = "what is old leaves; the summary stands for it"


class Made(Struct, frozen=True):
    """A summary that was made, and where it will stand."""

    cut: Cut
    merged: Summary
    """All that is known now."""
    fitted: Fitted
    """What of it is shown."""
    score: Quality

    @property
    def tokens(self) -> int:
        """Raw tokens of the window with it."""
        return self.cut.stays + self.fitted.tokens


def summarize(
    state: State, means: Means, target: int, trigger: str, *, firm: bool = False
) -> Candidate:
    """Put a summary in the place of what is old, with about `target` raw tokens in sight after.

    Where the target is `firm`, the user's own words are cut too if it cannot be met otherwise.
    """
    rest = all_but_open(state, means) if firm else None
    cut = cut_for(state, means, target, firm=firm) or rest
    if cut is None:
        return Candidate(Plan(trigger, state.usage, state.usage, reason="nothing may be cut off"))
    made = _made(state, means, cut, target, firm=firm)
    for whole in (whole_of(cut, state, firm=firm), rest):
        if whole is not None and made.tokens > target:
            other = _made(state, means, whole, target, firm=firm)
            made = other if other.tokens < made.tokens else made
    return _candidate(state, means, made, trigger)


def _made(state: State, means: Means, cut: Cut, target: int, *, firm: bool) -> Made:
    """The summary for a cut, with the tail made smaller where it leaves too little room."""
    known, span = anchor_of(state), span_of(state, cut)
    merged = extended(known, account(span), span, means, state.window.ledger)
    hidden = scaled(_newly_hidden(cut), state.model, state.lane.calibration)
    merged = replace(merged, saved=known.saved + hidden)
    # Lines of the tail can be more than what leaves, and a summary has to be less.
    leaving = sum(cut.tokens[cut.lead : cut.at])
    room = _room(state, cut, span, means, min(target, cut.stays + leaving - FRAME), firm=firm)
    # The requests are quoted whole at the expense of the tail, but not of more than its half.
    most = max(target - sum(cut.tokens[: cut.lead]), 0) // 2
    least = floor(without_tail(merged, cut), room)
    short = (min(least, most) if firm else least) - room.tokens
    if short > 0:
        over = short + sum(step.before - step.after for step in cut.tail)
        cut = replace(cut, tail=smaller_tail(state, means, cut, over, firm=firm))
        room = _room(state, cut, span, means, min(target, cut.stays + leaving - FRAME), firm=firm)
    return Made(cut, merged, *probed(merged, cut, room))


def _newly_hidden(cut: Cut) -> int:
    pairs = zip(cut.leaves, cut.tokens[cut.lead : cut.at], strict=True)
    return sum(tokens for item, tokens in pairs if not is_anchor(item))


def told(state: State, means: Means, tokens: int) -> Fitted:
    """A summary of everything up to now, the recent part included; nothing is hidden for it."""
    cut = all_of(state, tokens_of(state, means.count))
    if not cut.leaves:
        return Fitted(anchor_of(state), "", 0)
    span = span_of(state, cut)
    merged = known_of(state, means, span)
    room = _room(state, cut, span, means, tokens + cut.stays, firm=True)
    fitted = fit(merged, replace(room, frame="whole"))
    return replace(fitted, summary=replace(merged, facts=fitted.summary.facts))


def _room(state: State, cut: Cut, span: Span, means: Means, target: int, *, firm: bool) -> Room:
    shown = (telling(text_of(item.body)) for item in after_cut(cut))
    count = _counting(means)
    return Room(
        tokens=max(target - cut.stays, 0),
        count=count,
        weigh=Likely(span.window, hold(span.window.items, state.known)),
        pool=(*lines_of(span.hidden, count), *_lines_of_tail(cut, span, count)),
        shown=frozenset[str]().union(*shown),
        session=means.session,
        firm=firm,
    )


def _lines_of_tail(cut: Cut, span: Span, count: CountTokens) -> Iterator[Line]:
    """Lines of recent results of which only an outline stays."""
    smaller = {step.hides[0] for step in cut.tail}
    if smaller:
        yield from lines_of(span.window, count, only=smaller)


def _counting(means: Means) -> CountTokens:
    """A count that takes any text, half a character included."""
    return lambda text: means.count(SURROGATE.sub("\ufffd", text))


def _candidate(state: State, means: Means, made: Made, trigger: str) -> Candidate:
    """The plan, and the one entry that carries it out."""
    cut, fitted, score = made.cut, made.fitted, made.score
    stand_in = Said("user", fitted.text, by="holdfast")
    before = sum(cut.tokens[cut.lead : cut.at])
    after = count_body(stand_in, means.count)
    if after >= before:
        reason = "a summary would be no smaller than what it stands for"
        return Candidate(Plan(trigger, state.usage, state.usage, reason=reason))
    hides = tuple(name for item in cut.leaves for name in item.shows)
    step = Step(hides, REASON, stand_in, tier=3, before=before, after=after, kind="summary")
    steps = (step, *cut.also)
    saved = sum(one.before - one.after for one in steps)
    raw = state.lane.tokens - saved
    kept = after_cut(cut)
    shown = [*kept[: cut.lead], Item(cut.leaves[0].entry, hides, stand_in), *kept[cut.lead :]]
    found = summary_losses(cut.items, shown, saved=saved, summary=fitted.summary)
    scale = scale_of(state, cut.tokens)
    bill = weigh(
        removed=saved,
        behind=scale.behind(cut.lead),
        requests=scale.requests,
        cache=scale.cache,
        warm=scale.warm,
    )
    now = state.usage_at(raw)
    body = Compressed(
        steps=steps,
        generation=state.window.generation,
        watermark=state.seq,
        trigger=trigger,
        before=state.usage.tokens,
        after=now.tokens,
        raw=raw,
        summary=replace(made.merged, facts=fitted.summary.facts),
        quality=score.to_dict(),
        mark="" if score.met else "below_target",
    )
    plan = Plan(
        trigger=trigger,
        before=state.usage,
        after=now,
        steps=(_planned(step, cut), *(_planned_tail(one, cut) for one in cut.also)),
        bill=bill,
        requests=scale.requests,
        verdict="refused" if found else "apply",
        reason="; ".join(found),
    )
    plan = in_window_tokens(plan, state.lane.tokens)
    return Candidate(plan, None if found else body, found)


def _planned(step: Step, cut: Cut) -> Planned:
    what = f"{len(cut.leaves):,} items before the recent part"
    return Planned("summary", 3, what, step.reason, step.before, step.after)


def _planned_tail(step: Step, cut: Cut) -> Planned:
    item = next(item for item in cut.items if item.entry.id == step.hides[0])
    what = f"recent {kind_of(item.body, {})}"
    return Planned(
        step.kind, step.tier, what, step.reason, step.before, step.after, ref_of(item.entry.id)
    )
