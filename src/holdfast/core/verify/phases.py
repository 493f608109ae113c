"""The four phases of a compression, as values: pre-check, preservation, compaction, verification.

Each check says what was looked at, whether it was as it should be, and what was found. The same
values stand in a plan that is only shown, and with a compression that was made.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import (
    Compressed,
    EntryId,
    Source,
    Thought,
    ToolCalled,
    ToolReturned,
    is_request,
    text_of,
)
from holdfast.core.ledger.summary import HALF, INTACT, RECOVERY, Check, Phase
from holdfast.core.ledger.window import Item, apply
from holdfast.core.observe.files.reads import superseded
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.results.failures import resolved
from holdfast.core.observe.scene import final_answers, read_scene
from holdfast.core.plan.preserve import KIND_OF, UNUSED, Held
from holdfast.core.plan.rules import SEQUENCE
from holdfast.core.shrink.summary.quoting import field

NAMES = tuple(phase.name for phase in SEQUENCE)
WORDS = "words"


class Made(Struct, frozen=True):
    """A compression on paper or in the ledger, and what it was made on."""

    items: Sequence[Item]
    """What was in sight."""
    tokens: Mapping[int, int]
    """Raw tokens by entry number."""
    body: Compressed | None = None
    losses: tuple[str, ...] = ()
    readable: Collection[EntryId] | None = None
    """Of what it hides: the entries that the ledger gives back; not looked at when None."""


def phases_of(made: Made, held: Sequence[Held]) -> tuple[Phase, ...]:
    """What a compression goes through."""
    checks = (_pre_check(held), _preservation(made, held), _compaction(made), _verified(made, held))
    return tuple(Phase(name, tuple(own)) for name, own in zip(NAMES, checks, strict=True))


def _pre_check(held: Iterable[Held]) -> list[Check]:
    return [
        Check(one.item, not one.lacks, f"{one.status} in {one.where}: {one.detail}".rstrip(": "))
        if one.status != UNUSED
        else Check(one.item, detail="not used here")
        for one in held
    ]


def _preservation(made: Made, held: Sequence[Held]) -> list[Check]:
    hidden = _hidden(made)
    kept = [item for item in made.items if item.entry.id not in hidden]
    requests = sum(is_request(item.body) for item in kept)
    told = made.body.summary if made.body is not None else None
    parts = [
        f"{len(kept):,} entries in sight, {requests:,} of them the user's",
        *([f"{_bound(made):,} requests and constraints word for word"] if told else []),
        f"{sum(bool(one.told) for one in held)} outside lines",
    ]
    gone = [item for item in made.items if item.entry.id in hidden]
    size = sum(made.tokens.get(item.entry.seq, 0) for item in gone)
    return [
        Check("locked", detail=", ".join(parts)),
        Check("marked for compaction", detail=f"{len(gone):,} entries, {size:,} tokens"),
        Check("no critical loss", not made.losses, "; ".join(made.losses)),
    ]


def _bound(made: Made) -> int:
    assert made.body is not None
    assert made.body.summary is not None
    intent = made.body.summary.intent
    quotes = (*intent.requests, *intent.changes)
    rows = [row for row in made.body.summary.constraints if not row.lifted]
    return len({quote.text for quote in quotes if quote.text}) + len(rows)


def _hidden(made: Made) -> set[EntryId]:
    steps = made.body.steps if made.body is not None else ()
    return {name for step in steps for name in step.hides}


def _compaction(made: Made) -> list[Check]:
    """What leaves, by kind; those that the protocol names are told also where there are none."""
    counts, sizes = Counter[str](), Counter[str]()
    hidden = _hidden(made)
    kinds = _kinds(made)
    for item in made.items:
        if item.entry.id in hidden:
            kind = kinds.get(item.entry.id) or _plain_kind(item.body)
            counts[kind] += 1
            sizes[kind] += made.tokens.get(item.entry.seq, 0)
    names = dict.fromkeys((*KIND_OF.values(), *counts))
    return [Check(name, detail=f"{counts[name]:,} ({sizes[name]:,} tokens)") for name in names]


def _kinds(made: Made) -> dict[EntryId, str]:
    """By entry: the kind of content that a step of tiers 1 and 2 says it takes, or that it is."""
    found: dict[EntryId, str] = {}
    scene = read_scene([Item(item.entry) for item in made.items])
    touches = [touch_of(pair.body) for pair in scene.pairs]
    again, fixed = superseded(scene, touches), resolved(scene, touches)
    answers = final_answers(scene)
    for at, item in enumerate(scene.items):
        if isinstance(item.body, ToolReturned):
            later = answers.get(scene.turns[at], -1) > at
            kind = "read" if at in again else "debug" if at in fixed else "offload"
            found[item.entry.id] = KIND_OF["intermediate" if later and kind == "offload" else kind]
    for step in made.body.steps if made.body is not None else ():
        if step.kind in KIND_OF:
            found.update(dict.fromkeys(step.hides, KIND_OF[step.kind]))
    return found


def _plain_kind(body: Source) -> str:
    match body:
        case Thought():
            return KIND_OF["thinking"]
        case ToolCalled():
            return "tool_inputs"
        case _:
            return WORDS


def _verified(made: Made, held: Sequence[Held]) -> list[Check]:
    lines = [f"{one.label}: {one.told}" for one in held if one.told]
    body = made.body
    shown = apply(body.steps, made.items) if body is not None else list(made.items)
    # Tiers 1 and 2 leave an older summary as it is: it needs to hold the lines only where it did.
    text = "\n".join(text_of(item.body) for item in shown)
    summed = body is not None and body.summary is not None
    missing = [line for line in lines if summed and field(line) not in text]
    intact = f"{len(lines) - len(missing)} of {len(lines)} lines stand in the window"
    checks = [Check(INTACT, not missing and not made.losses, intact)]
    hidden = _hidden(made)
    if made.readable is None:
        checks.append(Check(RECOVERY, detail=f"{len(hidden):,} entries to read back"))
    else:
        back = len(hidden & set(made.readable))
        read = f"{back:,} of {len(hidden):,} hidden entries read back"
        checks.append(Check(RECOVERY, back == len(hidden), read))
    if body is not None and body.before and summed:
        met = body.after * 100 < HALF * body.before
        checks.append(Check("smaller than half", met, f"{body.after / body.before:.0%} of before"))
    logged = "with the compression" if body is not None else "nothing to log"
    return [*checks, Check("event logged", detail=logged)]
