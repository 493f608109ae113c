"""Tier 3 on one page: what is old leaves, and the anchor, extended by it, stands in its place.

Cut, account for what leaves, merge that into what was known, fit it into the room, and ask it the
questions that a reader would. The ledger keeps everything; the tail stays as it is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Compressed, Entry, Said, Step, is_request, text_of
from holdfast.core.ledger.inherited import inherited
from holdfast.core.ledger.jsontext import SURROGATE
from holdfast.core.ledger.summary import Constraint, Quote, Ref, Summary
from holdfast.core.ledger.window import Item, in_force, path_to
from holdfast.core.measure.tokens import CountTokens, count_body
from holdfast.core.observe.calls import read_scene
from holdfast.core.observe.intent import wanted
from holdfast.core.observe.kinds import kind_of
from holdfast.core.observe.likely import Likely
from holdfast.core.observe.pins import lift, pins_of
from holdfast.core.observe.worth import hold, telling
from holdfast.core.plan.always import without_older
from holdfast.core.plan.choose import NOTHING, enough
from holdfast.core.plan.cuts import Ground, is_sealed, lead_of, legal_cuts, loops_of, summary_cut
from holdfast.core.plan.gain import weigh
from holdfast.core.plan.plan import Candidate, Plan, Planned
from holdfast.core.plan.state import State, look, scale_of, tokens_of
from holdfast.core.plan.steps import is_all_of_its_message
from holdfast.core.shrink.account import Span, account, as_it_came, is_anchor, passed
from holdfast.core.shrink.facts import Line, lines_of, pick
from holdfast.core.shrink.fitting import Fitted, Room, fit, floor
from holdfast.core.shrink.merging import add, merge, resolve
from holdfast.core.shrink.step import Means, ref_of, shrink
from holdfast.core.shrink.writing import read
from holdfast.core.verify.answering import ask, failing
from holdfast.core.verify.forks import contradicted
from holdfast.core.verify.losses import summary_losses
from holdfast.core.verify.probes import draw
from holdfast.core.verify.quality import Quality, quality

ROUNDS = 3
"""How often a summary is widened where a probe failed."""
WIDER = 1.7
FRAME = 8
"""Tokens that a message takes besides its words."""
PROBED = 1_200
"""Tokens of lines that a reader would ask for, had there been room for no others."""


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


class Made(Struct, frozen=True):
    """A summary that was made, and where it will stand."""

    cut: Cut
    merged: Summary
    """All that is known now."""
    fitted: Fitted
    """What of it is shown."""
    score: Quality


def summarize(state: State, means: Means, target: int, trigger: str) -> Candidate:
    """Put a summary in the place of what is old, with about `target` raw tokens in sight after."""
    cut = _cut(state, means, target)
    if cut is None:
        return Candidate(Plan(trigger, state.usage, state.usage, reason="nothing may be cut off"))
    made = _made(state, means, cut, target)
    whole = _whole(cut, state)
    if whole is not None and made.cut.stays + made.fitted.tokens > target:
        other = _made(state, means, whole, target)
        if other.cut.stays + other.fitted.tokens < made.cut.stays + made.fitted.tokens:
            made = other
    return _candidate(state, means, made, trigger)


def _made(state: State, means: Means, cut: Cut, target: int) -> Made:
    """The summary for a cut, with the tail made smaller where it leaves too little room."""
    known, span = anchor_of(state), _span(state, cut)
    merged = _extended(known, account(span), span, means, state.window.ledger)
    merged = replace(merged, saved=known.saved + _newly_hidden(cut))
    # Lines of the tail can be more than what leaves, and a summary has to be less.
    leaving = sum(cut.tokens[cut.lead : cut.at])
    room = _room(state, cut, span, means, min(target, cut.stays + leaving - FRAME))
    short = floor(_without_tail(merged, cut), room) - room.tokens
    if short > 0:
        over = short + sum(step.before - step.after for step in cut.tail)
        cut = replace(cut, tail=_smaller_tail(state, means, cut, over))
        room = _room(state, cut, span, means, min(target, cut.stays + leaving - FRAME))
    return Made(cut, merged, *_probed(merged, cut, room))


def _whole(cut: Cut, state: State) -> Cut | None:
    """All of it, where nothing waits for an answer: the last resort of a small budget."""
    ground = Ground(read_scene(cut.items), state.model)
    count = len(cut.items)
    if count not in legal_cuts(ground) or is_request(cut.items[-1].body):
        return None
    return replace(cut, at=count, tail=(), unbound=())


def _newly_hidden(cut: Cut) -> int:
    pairs = zip(cut.leaves, cut.tokens[cut.lead : cut.at], strict=True)
    return sum(tokens for item, tokens in pairs if not is_anchor(item))


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


def _cut(state: State, means: Means, target: int) -> Cut | None:
    ground = Ground(read_scene(state.window.items), state.model)
    tokens = tokens_of(state, means.count)
    lead = lead_of(ground.scene)
    room = max(target - sum(tokens[:lead]), 0)
    share = room * state.policy.summary.tail // 100
    at = summary_cut(ground, tokens, share=share)
    if not at:
        return None
    cut = _unbound(Cut(ground.scene.items, tokens, lead, at), ground)
    if cut is None or all(is_anchor(item) for item in cut.leaves):
        return None
    over = sum(tokens[cut.at :]) - max(share, room // 2)
    return replace(cut, tail=_smaller_tail(state, means, cut, over)) if over > 0 else cut


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


UNBOUND = "thinking that holds only after what leaves"


def _smaller_tail(state: State, means: Means, cut: Cut, over: int) -> tuple[Step, ...]:
    """Tiers 1 and 2 on what is recent, where it alone is more than there is room for."""
    steps: tuple[Step, ...] = ()
    for whole, tight in ((False, False), (True, False), (True, True)):
        looked = look(state, means.count, deep=True, tight=tight, whole=whole)
        late = [one for one in looked.proposals if one.at >= cut.at and one.kind != "thinking"]
        chosen = enough(late, over, NOTHING, looked.scale).proposals
        made = (shrink(one, cut.items[one.at], means) for one in chosen)
        steps = tuple(step for step in made if step is not None)
        if sum(step.before - step.after for step in steps) >= over:
            break
    return steps


def _span(state: State, cut: Cut) -> Span:
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
    return Span(
        hidden=as_it_came([item for item in cut.leaves if not is_anchor(item)]),
        window=as_it_came([item for item in cut.items[cut.lead :] if not is_anchor(item)]),
        record=read_scene([item for item in record if not is_anchor(item)]),
        left=tuple(item for item in record if item.entry.id not in known and not is_anchor(item)),
    )


def _seqs(state: State, item: Item) -> list[int]:
    hidden = set(item.covers)
    return [entry.seq for entry in state.window.ledger if entry.id in hidden] if hidden else []


def _extended(
    known: Summary, new: Summary, span: Span, means: Means, ledger: Iterable[Entry]
) -> Summary:
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


def told(state: State, means: Means, tokens: int) -> Fitted:
    """A summary of everything up to now, the recent part included; nothing is hidden for it."""
    cut = _all_of(state, tokens_of(state, means.count))
    if not cut.leaves:
        return Fitted(anchor_of(state), "", 0)
    span = _span(state, cut)
    merged = _known_of(state, means, span)
    room = _room(state, cut, span, means, tokens + cut.stays)
    fitted = fit(merged, replace(room, frame="whole"))
    return replace(fitted, summary=replace(merged, facts=fitted.summary.facts))


def rows(state: State, means: Means) -> Summary:
    """The same in rows alone, facts apart: what no text has to be fitted for is quickly told."""
    cut = _all_of(state, [])
    return _known_of(state, means, _span(state, cut)) if cut.leaves else anchor_of(state)


def _all_of(state: State, tokens: list[int]) -> Cut:
    items = tuple(state.window.items)
    return Cut(items, tokens, lead_of(read_scene(items)), len(items))


def _known_of(state: State, means: Means, span: Span) -> Summary:
    known = anchor_of(state)
    # The whole conversation was written down only if something of it has left.
    means = means if known.revision else replace(means, archive="")
    merged = _extended(known, account(span), span, means, state.window.ledger)
    return replace(merged, revision=known.revision, saved=known.saved)


def _room(state: State, cut: Cut, span: Span, means: Means, target: int) -> Room:
    shown = (telling(text_of(item.body)) for item in _after(cut))
    count = _counting(means)
    return Room(
        tokens=max(target - cut.stays, 0),
        count=count,
        weigh=Likely(span.window, hold(span.window.items, state.known)),
        pool=(*lines_of(span.hidden, count), *_lines_of_tail(cut, span, count)),
        shown=frozenset[str]().union(*shown),
        session=means.session,
    )


def _lines_of_tail(cut: Cut, span: Span, count: CountTokens) -> Iterator[Line]:
    """Lines of recent results of which only an outline stays."""
    smaller = {step.hides[0] for step in cut.tail}
    if smaller:
        yield from lines_of(span.window, count, only=smaller)


def _counting(means: Means) -> CountTokens:
    """A count that takes any text, half a character included."""
    return lambda text: means.count(SURROGATE.sub("\ufffd", text))


def _probed(merged: Summary, cut: Cut, room: Room) -> tuple[Fitted, Quality]:
    """The summary, widened where a probe failed, and how it did in the end.

    What is asked is settled before anything is fitted: which lines a reader would want does not
    depend on which there was room for.
    """
    tail = "\n".join(text_of(item.body) for item in _after(cut)[cut.lead :])
    shown = _without_tail(merged, cut)
    facts = pick(room.pool, PROBED, weigh=room.weigh, count=room.count, covered=room.shown)
    seen = replace(_as_of_now(merged, cut), facts=facts)
    probes = draw(seen)
    best: Fitted | None = None
    score = Quality()
    for _ in range(ROUNDS):
        made = fit(shown, room)
        answered = ask(probes, f"{made.text}\n{tail}")
        now = quality(answered, seen=seen, candidate=merged)
        if best is None or _rank(now) > _rank(score):
            best, score = made, now
        short = failing(answered)
        if score.met or not short:
            break
        room = replace(room, wider=_wider(room, short), first=room.first | _lines(short, seen))
    assert best is not None
    return best, score


def _wider(room: Room, short: Mapping[str, object]) -> dict[str, float]:
    wider = dict(room.wider)
    for section in short:
        for part in PARTS.get(section, (section,)):
            wider[part] = wider.get(part, 1.0) * WIDER
    return wider


def _lines(short: Mapping[str, Iterable[str]], seen: Summary) -> frozenset[str]:
    """The lines of the facts that were asked for in vain."""
    names = set(short.get("facts", ()))
    return frozenset(fact.text for fact in seen.facts if fact.entry in names)


PARTS = {"files": ("changed", "read")}
"""Sections of a summary that have more than one share of the room."""


def _rank(score: Quality) -> tuple[int, float]:
    return -len(score.misses), sum(score.to_dict().values())


def _as_of_now(summary: Summary, cut: Cut) -> Summary:
    """The summary with what the user asked for last, which the tail may hold."""
    latest = _asked_in_tail(cut)
    if not latest.text:
        return summary
    return replace(summary, intent=replace(summary.intent, current=latest))


def _asked_in_tail(cut: Cut) -> Quote:
    """What the user asked for last, if that is in the tail: words of a program are no request."""
    intent = wanted(read_scene(cut.items[cut.at :])).intent
    return intent.current if intent.current.text else intent.original


def _without_tail(summary: Summary, cut: Cut) -> Summary:
    """The summary as it is shown: what the user said last is not told twice."""
    intent, said = summary.intent, summary.intent.current
    if not _asked_in_tail(cut).text:
        return summary
    older = said.text and said.entry != intent.original.entry
    words = (*summary.words, said) if older else summary.words
    return replace(summary, intent=replace(intent, current=Quote()), words=words)


def _after(cut: Cut) -> list[Item]:
    """The items that stay, as they will stand."""
    smaller = {step.hides[0]: step.stand_in for step in cut.also}
    return [
        Item(item.entry, (item.entry.id,), stand_in) if item.entry.id in smaller else item
        for item in (*cut.items[: cut.lead], *cut.items[cut.at :])
        if (stand_in := smaller.get(item.entry.id, item.body)) is not None
    ]


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
    kept = _after(cut)
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
    return Candidate(plan, None if found else body, found)


REASON = "what is old leaves; the summary stands for it"


def _planned(step: Step, cut: Cut) -> Planned:
    what = f"{len(cut.leaves):,} items before the recent part"
    return Planned("summary", 3, what, step.reason, step.before, step.after)


def _planned_tail(step: Step, cut: Cut) -> Planned:
    item = next(item for item in cut.items if item.entry.id == step.hides[0])
    what = f"recent {kind_of(item.body, {})}"
    return Planned(
        step.kind, step.tier, what, step.reason, step.before, step.after, ref_of(item.entry.id)
    )
