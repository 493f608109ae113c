"""The anchor: the one summary that a session carries, and how a span extends it.

It is never made anew. What was known stays, the rows of what leaves are merged into it, and what
the user pinned or lifted since is brought up to date.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import msgspec
from msgspec.structs import replace

from holdfast.core.ledger.entry import Compressed, Entry, Said
from holdfast.core.ledger.inherited import inherited
from holdfast.core.ledger.jsontext import SURROGATE
from holdfast.core.ledger.summary import Constraint, Ref, Summary
from holdfast.core.ledger.window import Item, in_force, path_to
from holdfast.core.observe.calls import read_scene
from holdfast.core.observe.intent import wanted
from holdfast.core.observe.pins import lift, pins_of
from holdfast.core.plan.always import without_older
from holdfast.core.plan.state import State
from holdfast.core.shrink.account import Span, account, as_it_came, is_anchor, passed
from holdfast.core.shrink.cutting import Cut, all_of
from holdfast.core.shrink.merging import add, merge, resolve
from holdfast.core.shrink.step import Means
from holdfast.core.shrink.writing import read
from holdfast.core.verify.forks import contradicted


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
