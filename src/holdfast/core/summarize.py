"""Tier 3 on one page: what is old leaves, and the anchor, extended by it, stands in its place.

Cut, account for what leaves, merge that into what was known, fit it into the room, and ask it the
questions that a reader would. The ledger keeps everything; the tail stays as it is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Compressed, Entry, Said, Step, text_of
from holdfast.core.ledger.inherited import inherited
from holdfast.core.ledger.summary import Constraint, Ref, Summary
from holdfast.core.ledger.window import Item, in_force, path_to
from holdfast.core.measure.tokens import CountTokens, count_body
from holdfast.core.measure.usage import scaled
from holdfast.core.observe.requests.intent import wanted
from holdfast.core.observe.requests.pins import lift, pins_of
from holdfast.core.observe.scene import kind_of, read_scene
from holdfast.core.observe.worth import Likely, hold, telling_names
from holdfast.core.plan.gain import weigh
from holdfast.core.plan.plan import Candidate, Plan, Planned, in_window_tokens
from holdfast.core.plan.preserve import without_older
from holdfast.core.plan.state import State, scale_of, tokens_of
from holdfast.core.shrink.step import Means, ref_of
from holdfast.core.shrink.summary.cut import (
    Cut,
    after_cut,
    all_but_open,
    all_of,
    cut_for,
    smaller_tail,
    whole_of,
)
from holdfast.core.shrink.summary.facts import Line, lines_of
from holdfast.core.shrink.summary.fit import Fitted, Room, fit, floor
from holdfast.core.shrink.summary.merge import add, merge, resolve
from holdfast.core.shrink.summary.rows import Span, account, as_it_came, is_anchor, passed
from holdfast.core.shrink.summary.text import read
from holdfast.core.verify.losses import summary_losses
from holdfast.core.verify.quality import Quality
from holdfast.core.verify.tampered import contradicted
from holdfast.core.verify.widen import probed, without_tail
from holdfast.text.jsontext import SURROGATE

# The anchor: the one summary that a session carries, and how a span extends it.
#
# It is never made anew. What was known stays, the rows of what leaves are merged into it, and what
# the user pinned or lifted since is brought up to date.


def anchor_of(state: State) -> Summary:
    """The summary in sight, kept or sent back by a client that has no ledger; else an empty one.

    One that was sent back and is not what the ledger wrote is not read: the ledger is.
    """
    for entry in reversed(in_force(state.window)):
        if isinstance(entry.body, Compressed) and entry.body.summary is not None:
            return entry.body.summary
    for item in state.window.items:
        if isinstance(item.body, Said) and item.body.role == "user":
            believed = contradicted(item.body, state.window.ledger)
            known = believed.summary if believed is not None else read(item.body.text)
            if known is not None:
                return known
    return inherited(state.window.ledger)


def span_of(state: State, cut: Cut) -> Span:
    """What leaves by a cut, what it stands among, and the record up to there."""
    if not state.window.generation and cut.at == len(cut.items):
        # Nothing ever left: what leaves, what is in sight and what was recorded are the same.
        scene = as_it_came([item for item in cut.leaves if not is_anchor(item)])
        return Span(scene, scene, scene)
    names = {item.entry.id for item in cut.items[: cut.lead]}
    last = cut.leaves[-1]
    upto = max(last.entry.seq, *(0, *_seqs(state, last)))
    path = path_to(state.window.end, state.window.ledger)
    record = [Item(entry) for entry in path if entry.seq <= upto and entry.id not in names]
    known = {name for item in cut.items for name in (item.entry.id, *item.covers)}
    # A summary told of everything up to the last that it hides, whoever had dropped it before.
    told = max(
        (seq for item in cut.items if is_anchor(item) for seq in _seqs(state, item)), default=0
    )
    return Span(
        hidden=as_it_came([item for item in cut.leaves if not is_anchor(item)]),
        window=as_it_came([item for item in cut.items[cut.lead :] if not is_anchor(item)]),
        record=read_scene([item for item in record if not is_anchor(item)]),
        left=tuple(
            item
            for item in record
            if item.entry.seq > told and item.entry.id not in known and not is_anchor(item)
        ),
    )


def _seqs(state: State, item: Item) -> list[int]:
    hidden = set(item.covers)
    return [entry.seq for entry in state.window.ledger if entry.id in hidden] if hidden else []


def extended(
    known: Summary, new: Summary, span: Span, means: Means, ledger: Iterable[Entry]
) -> Summary:
    """What was known with the rows of a span merged in, as its next revision."""
    merged = add(merge(known, new), means.added)
    archive = (Ref("", f"full conversation: {means.archive}"),) if means.archive else ()
    named = tuple(ref for ref in merged.refs if not ref.what.startswith("full conversation"))
    refs = named if means.kept is None else (*means.kept, *without_older(named))
    whole = replace(
        merged,
        constraints=lift((*merged.constraints, *_new_pins(merged, ledger)), ledger),
        errors=resolve(merged.errors, passed(span.window)),
        refs=(*archive, *refs),
        revision=known.revision + 1,
    )
    try:
        msgspec.msgpack.encode(whole)
    except UnicodeEncodeError:
        # Arguments can hold half a character that no ledger takes.
        return msgspec.convert(_cleaned(msgspec.to_builtins(whole)), Summary)
    return whole


def _cleaned(value: object) -> object:
    match value:
        case str():
            return SURROGATE.sub("\ufffd", value)
        case list() | tuple():
            return [_cleaned(one) for one in cast(Sequence[object], value)]
        case dict():
            rows = cast(Mapping[str, object], value)
            return {key: _cleaned(one) for key, one in rows.items()}
        case _:
            return value


def _new_pins(known: Summary, ledger: Iterable[Entry]) -> tuple[Constraint, ...]:
    names = {row.entry for row in known.constraints}
    return tuple(pin for pin in pins_of(ledger) if pin.text and pin.entry not in names)


def bare_rows(entries: Iterable[Entry]) -> Summary:
    """What the user asked for and what binds, and nothing else: for when no rows can be made."""
    want = wanted(read_scene([Item(entry) for entry in entries]))
    return Summary(intent=want.intent, constraints=want.constraints, words=want.words)


def rows(state: State, means: Means) -> Summary:
    """Everything up to now in rows, facts apart: what no text is fitted for is quickly told."""
    cut = all_of(state, [])
    return known_of(state, means, span_of(state, cut)) if cut.leaves else anchor_of(state)


def known_of(state: State, means: Means, span: Span) -> Summary:
    """What is known with a span, told without a revision of its own: nothing left for it."""
    known = anchor_of(state)
    # The whole conversation was written down only if something of it has left.
    means = means if known.revision else replace(means, archive="")
    merged = extended(known, account(span), span, means, state.window.ledger)
    return replace(merged, revision=known.revision, saved=known.saved)


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
    shown = (telling_names(text_of(item.body)) for item in after_cut(cut))
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
