"""Plan tier 3: replace the old part of a window by a summary, the anchor.

The steps are: find a cut, read what the path says, choose the moments that fit the room, write the
text, and probe it. The ledger keeps everything; the tail is not changed unless it leaves too little
room.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Compressed, Entry, Said, Source, Step, text_of
from holdfast.core.ledger.inherited import inherited_summary
from holdfast.core.ledger.summary import Constraint, Ref, Summary
from holdfast.core.ledger.window import Item, path_to
from holdfast.core.measure.tokens import CountTokens, count_any_text, count_body
from holdfast.core.measure.usage import scale_tokens
from holdfast.core.observe.moments.story import PathContent
from holdfast.core.observe.requests.constraints import users_first
from holdfast.core.observe.requests.intent import read_intent
from holdfast.core.observe.requests.pins import lift_unpinned, pinned_constraints
from holdfast.core.observe.scene import name_kind, scene_of
from holdfast.core.observe.sentences import own_words
from holdfast.core.plan.gain import weigh
from holdfast.core.plan.plan import Candidate, Plan, PlannedStep, in_window_tokens
from holdfast.core.plan.preserve import without_preserved_refs
from holdfast.core.plan.state import State, pricing_of, tokens_of
from holdfast.core.shrink.step import ShrinkContext, ref_of
from holdfast.core.shrink.summary.choose import Choices, moment_of_fact, words_of_moment
from holdfast.core.shrink.summary.cut import (
    Cut,
    cut_after_system,
    cut_before_open_calls,
    extend_to_end,
    find_cut,
    items_after_cut,
    shrink_tail,
)
from holdfast.core.shrink.summary.fit import (
    FittedSummary,
    SummaryRoom,
    facts_of,
    fit_summary,
    min_tokens,
)
from holdfast.core.shrink.summary.merge import (
    add_model_rows,
    with_model_rows,
    with_open_model_rows,
)
from holdfast.core.shrink.summary.root import relative_moments, root_of, with_absolute_paths
from holdfast.core.shrink.summary.rows import is_anchor
from holdfast.core.shrink.summary.story import read_on, read_to_end, story_from
from holdfast.core.shrink.summary.text import read_summary, write_summary
from holdfast.core.verify.losses import summary_losses
from holdfast.core.verify.quality import Quality
from holdfast.core.verify.tampered import contradicted_summary
from holdfast.core.verify.widen import fit_with_probes, without_tail
from holdfast.text.jsontext import SURROGATE

# The anchor: the one summary of a session. Its rows and moments are those of the whole path; the
# user's pins are brought up to date.


def anchor_of(state: State) -> Summary:
    """Return the summary in the window: ours, or one that a client without a ledger sent back.

    If a client sent back one that differs from what the ledger wrote, return that of the ledger.
    Without any, return the summary of the session that this one continues, or an empty one.
    """
    shown = [item for item in state.window.items if is_anchor(item)]
    for item in shown:
        written = _summary_shown_by(item, state.window.ledger)
        if written is not None:
            return written
    for item in state.window.items:
        if isinstance(item.body, Said) and item.body.role == "user":
            believed = contradicted_summary(item.body, state.window.ledger)
            known = believed.summary if believed is not None else read_summary(item.body.text)
            if known is not None:
                return with_absolute_paths(known)
    return inherited_summary(state.window.ledger)


def _summary_shown_by(item: Item, ledger: Sequence[Entry]) -> Summary | None:
    """Return the summary whose text an item shows; None if no compression wrote it."""
    if item.stand_in is None:
        return None
    bodies = (entry.body for entry in reversed(ledger))
    made = (body for body in bodies if isinstance(body, Compressed) and body.summary is not None)
    shown = (body for body in made if any(step.stand_in == item.stand_in for step in body.steps))
    return next((body.summary for body in shown), None)


def read_path(state: State) -> PathContent:
    """Return the rows and the moments of the whole path."""
    reading = state.reading
    if reading is None:
        path = path_to(state.window.end, state.window.ledger)
        story = story_from(inherited_summary(state.window.ledger))
        reading = read_on(story, [Item(entry) for entry in path])
    return read_to_end(reading)


def extend_summary(
    known: Summary, content: PathContent, context: ShrinkContext, ledger: Iterable[Entry]
) -> Summary:
    """Return the rows of a path as the next revision of a summary."""
    merged = add_model_rows(with_model_rows(content.rows, known), context.model_rows)
    archive = (Ref("", f"full conversation: {context.archive}"),) if context.archive else ()
    other_refs = tuple(
        ref for ref in (*known.refs, *merged.refs) if not ref.what.startswith("full conversation")
    )
    refs = (
        other_refs
        if context.preserved_refs is None
        else (*context.preserved_refs, *without_preserved_refs(other_refs))
    )
    extended_summary = replace(
        merged,
        root=root_of(merged.files),
        constraints=users_first(
            lift_unpinned((*merged.constraints, *_new_pins(merged, ledger)), ledger)
        ),
        refs=(*archive, *refs),
        revision=known.revision + 1,
    )
    try:
        msgspec.msgpack.encode(extended_summary)
    except UnicodeEncodeError:
        # Arguments can hold lone surrogates, which the ledger cannot store.
        return msgspec.convert(_without_surrogates(msgspec.to_builtins(extended_summary)), Summary)
    return extended_summary


def _without_surrogates(value: object) -> object:
    match value:
        case str():
            return SURROGATE.sub("\ufffd", value)
        case list() | tuple():
            return [_without_surrogates(item) for item in cast(Sequence[object], value)]
        case dict():
            rows = cast(Mapping[str, object], value)
            return {key: _without_surrogates(item) for key, item in rows.items()}
        case _:
            return value


def _new_pins(known: Summary, ledger: Iterable[Entry]) -> tuple[Constraint, ...]:
    names = {row.entry for row in known.constraints}
    return tuple(pin for pin in pinned_constraints(ledger) if pin.text and pin.entry not in names)


def request_rows(entries: Iterable[Entry]) -> Summary:
    """Return a summary of the requests and constraints only: the fallback if other rows fail."""
    want = read_intent(scene_of(entries))
    return Summary(intent=want.intent, constraints=want.constraints, words=want.words)


def content_of(state: State, context: ShrinkContext) -> PathContent:
    """Return the rows of the whole session without new facts, and the moments with lines."""
    if not cut_after_system(state, []).leaves:
        known = anchor_of(state)
        return PathContent(known, tuple(map(moment_of_fact, known.facts)))
    content = read_path(state)
    moments = tuple(moment for moment in content.moments if moment.kind != "named")
    return PathContent(_current_rows(state, context, content), moments)


def _current_rows(state: State, context: ShrinkContext, content: PathContent) -> Summary:
    """Return the rows as the revision in the window: nothing is hidden for them."""
    known = anchor_of(state)
    # The archive of the whole conversation exists only if a part of it was hidden.
    context = context if known.revision else replace(context, archive="")
    merged = extend_summary(known, content, context, state.window.ledger)
    merged = with_open_model_rows(merged, known)
    hidden = Cut(tuple(state.window.items), [], 0, len(state.window.items))
    return replace(_with_extent(merged, known, hidden), revision=known.revision, saved=known.saved)


def _with_extent(summary: Summary, known: Summary, cut: Cut) -> Summary:
    """Return a summary with the number of entries that it replaces, and the time of the last."""
    new = [item for item in cut.leaves if not is_anchor(item) and len(item.covers) < 2]
    last = max((item.entry.at for item in new), default="")
    return replace(summary, hidden=known.hidden + len(new), at=max(last, known.at))


MESSAGE_TOKENS = 8
"""Tokens of a message besides those of its text."""
SUMMARY_REASON = "what is old leaves; the summary stands for it"


class SummaryAttempt(Struct, frozen=True):
    """A summary for one cut, before it is decided whether it is used."""

    cut: Cut
    merged: Summary
    """All rows, before they are fitted."""
    fitted: FittedSummary
    """The rows that are shown, and their text."""
    quality: Quality

    @property
    def tokens(self) -> int:
        """Raw tokens of the window with this summary."""
        return self.cut.stays + self.fitted.tokens


def summarize(
    state: State, context: ShrinkContext, target: int, trigger: str, *, firm: bool = False
) -> Candidate:
    """Plan to replace the old part of a window by a summary; `target` raw tokens should remain.

    If the target is `firm`, the user's own words are cut too when it cannot be met otherwise.
    """
    rest = cut_before_open_calls(state, context) if firm else None
    cut = find_cut(state, context, target, firm=firm) or rest
    if cut is None:
        return Candidate(Plan(trigger, state.usage, state.usage, reason="nothing may be cut off"))
    content = read_path(state)
    best = _attempt(state, context, content, cut, target, firm=firm)
    for larger_cut in (extend_to_end(cut, state, firm=firm), rest):
        if larger_cut is not None and best.tokens > target:
            other = _attempt(state, context, content, larger_cut, target, firm=firm)
            best = other if other.tokens < best.tokens else best
    return _make_candidate(state, context, best, trigger)


def _attempt(
    state: State, context: ShrinkContext, content: PathContent, cut: Cut, target: int, *, firm: bool
) -> SummaryAttempt:
    """Make the summary for a cut; shrink the tail first if it leaves too little room."""
    known = anchor_of(state)
    merged = _with_extent(extend_summary(known, content, context, state.window.ledger), known, cut)
    hidden = scale_tokens(_newly_hidden(cut), state.model, state.lane.calibration)
    merged = replace(merged, saved=known.saved + hidden)
    # A summary has to be smaller than the items that it hides, also if the target allows more.
    leaving = sum(cut.tokens[cut.lead : cut.at])
    most_tokens = min(target, cut.stays + leaving - MESSAGE_TOKENS)
    room = _room_for(cut, content, context, most_tokens, merged.root, firm=firm)
    # The tail is shrunk so that the requests can be quoted whole, but to half of its room at most.
    most = max(target - sum(cut.tokens[: cut.lead]), 0) // 2
    least = min_tokens(without_tail(merged, cut), room)
    missing = (min(least, most) if firm else least) - room.tokens
    if missing > 0:
        to_save = missing + sum(step.before - step.after for step in cut.tail)
        cut = replace(cut, tail=shrink_tail(state, context, cut, to_save, firm=firm))
        most_tokens = min(target, cut.stays + leaving - MESSAGE_TOKENS)
        room = _room_for(cut, content, context, most_tokens, merged.root, firm=firm)
    return SummaryAttempt(cut, merged, *fit_with_probes(merged, cut, room))


def _newly_hidden(cut: Cut) -> int:
    pairs = zip(cut.leaves, cut.tokens[cut.lead : cut.at], strict=True)
    return sum(tokens for item, tokens in pairs if not is_anchor(item))


def summarize_all(state: State, context: ShrinkContext, tokens: int) -> FittedSummary:
    """Summarize the whole session, the recent part too, in `tokens`; nothing is hidden for it."""
    cut = cut_after_system(state, tokens_of(state, context.count))
    if not cut.leaves:
        return FittedSummary(anchor_of(state), "", 0)
    content = read_path(state)
    merged = _current_rows(state, context, content)
    room = _room_for(cut, content, context, tokens + cut.stays, merged.root, firm=True)
    # Its reader does not see the system messages.
    fitted = fit_summary(merged, replace(room, frame="whole", rest=""))
    return replace(fitted, summary=replace(merged, facts=fitted.summary.facts))


def summary_with_story(state: State, context: ShrinkContext, tokens: int) -> Summary:
    """Return the rows of the whole session, with facts of so many tokens."""
    if not cut_after_system(state, []).leaves:
        return anchor_of(state)
    content = read_path(state)
    rows = _current_rows(state, context, content)
    choices = _choices_of(content, rows.root, context.count)
    # No word spans two lines, and most lines are those of the last checkpoint.
    words = map(words_of_moment, write_summary(rows).split("\n"))
    covered = frozenset(chain.from_iterable(words))
    chosen = choices.choose(tokens, covered=covered)
    return replace(rows, facts=facts_of(chosen))


@lru_cache(maxsize=2)
def _choices_of(content: PathContent, root: str, count: CountTokens) -> Choices:
    """Return the moments of a path to choose from, with the paths below a root relative to it.

    A checkpoint and a summary that follow each other choose from the same.
    """
    return Choices(relative_moments(content.moments, root), count_any_text(count))


def _binding_words(body: Source) -> str:
    """Return the words of the system or the user in a body: any other only quotes a rule."""
    if not isinstance(body, Said) or body.by or body.role == "assistant":
        return ""
    return "\n".join(own_words(body.text)) if body.role == "user" else body.text


def _room_for(
    cut: Cut, content: PathContent, context: ShrinkContext, target: int, root: str, *, firm: bool
) -> SummaryRoom:
    remaining = items_after_cut(cut)
    whole = frozenset(item.entry.id for item in remaining if item.stand_in is None)
    texts = [text_of(item.body) for item in remaining]
    return SummaryRoom(
        tokens=max(target - cut.stays, 0),
        count=count_any_text(context.count),
        choices=_choices_of(content, root, context.count),
        remaining=whole,
        shown=frozenset[str]().union(*map(words_of_moment, texts)),
        rest="\n".join(map(_binding_words, (item.body for item in remaining))),
        session=context.session,
        firm=firm,
    )


def _make_candidate(
    state: State, context: ShrinkContext, attempt: SummaryAttempt, trigger: str
) -> Candidate:
    """Return the plan and, if no loss was found, the entry that applies it."""
    cut, fitted, quality = attempt.cut, attempt.fitted, attempt.quality
    stand_in = Said("user", fitted.text, by="holdfast")
    before = sum(cut.tokens[cut.lead : cut.at])
    after = count_body(stand_in, context.count)
    if after >= before:
        reason = "a summary would be no smaller than what it stands for"
        return Candidate(Plan(trigger, state.usage, state.usage, reason=reason))
    hides = tuple(name for item in cut.leaves for name in item.shows)
    step = Step(hides, SUMMARY_REASON, stand_in, tier=3, before=before, after=after, kind="summary")
    steps = (step, *cut.also)
    saved = sum(part.before - part.after for part in steps)
    raw = state.lane.tokens - saved
    remaining = items_after_cut(cut)
    shown = [
        *remaining[: cut.lead],
        Item(cut.leaves[0].entry, hides, stand_in),
        *remaining[cut.lead :],
    ]
    problems = summary_losses(cut.items, shown, saved=saved, summary=fitted.summary)
    scale = pricing_of(state, cut.tokens)
    bill = weigh(
        removed=saved,
        behind=scale.sent_from(cut.lead),
        requests=scale.requests,
        cache=scale.cache,
        warm=scale.warm,
    )
    usage_after = state.usage_at(raw)
    body = Compressed(
        steps=steps,
        generation=state.window.generation,
        watermark=state.seq,
        trigger=trigger,
        before=state.usage.tokens,
        after=usage_after.tokens,
        raw=raw,
        summary=replace(attempt.merged, facts=fitted.summary.facts),
        quality=quality.to_dict(),
        mark="" if quality.meets_targets else "below_target",
    )
    plan = Plan(
        trigger=trigger,
        before=state.usage,
        after=usage_after,
        steps=(_planned_summary(step, cut), *(_planned_tail(part, cut) for part in cut.also)),
        bill=bill,
        requests=scale.requests,
        verdict="refused" if problems else "apply",
        reason="; ".join(problems),
    )
    plan = in_window_tokens(plan, state.lane.tokens)
    return Candidate(plan, None if problems else body, problems)


def _planned_summary(step: Step, cut: Cut) -> PlannedStep:
    what = f"{len(cut.leaves):,} items before the recent part"
    return PlannedStep("summary", 3, what, step.reason, step.before, step.after)


def _planned_tail(step: Step, cut: Cut) -> PlannedStep:
    item = next(item for item in cut.items if item.entry.id == step.hides[0])
    what = f"recent {name_kind(item.body, {})}"
    return PlannedStep(
        step.kind, step.tier, what, step.reason, step.before, step.after, ref_of(item.entry.id)
    )
