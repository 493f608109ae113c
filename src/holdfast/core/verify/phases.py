"""Check the four phases of a compression (pre-check to verification), and find checks in a report.

Each check has a name, whether it passed, and a detail. The same report is used for a plan that is
only shown and for a compression that was applied.
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
from holdfast.core.ledger.summary import CHECK_INTACT, CHECK_RECOVERY, TARGET_PERCENT, Check, Phase
from holdfast.core.ledger.window import Item, apply_steps
from holdfast.core.observe.files.reads import superseded_reads
from holdfast.core.observe.files.touch import touch_of
from holdfast.core.observe.results.failures import resolved_failures
from holdfast.core.observe.scene import final_answers, read_scene
from holdfast.core.plan.preserve import KIND_BY_STEP, UNUSED, PreservedState
from holdfast.core.plan.rules import SEQUENCE
from holdfast.core.shrink.summary.quoting import quote_field

PHASE_NAMES = tuple(phase.name for phase in SEQUENCE)
WORDS_KIND = "words"


class CheckedCompression(Struct, frozen=True):
    """A planned or applied compression, with the window it was made for."""

    items: Sequence[Item]
    """The window before the compression."""
    tokens: Mapping[int, int]
    """Raw tokens by sequence number of the entry."""
    body: Compressed | None = None
    losses: tuple[str, ...] = ()
    readable: Collection[EntryId] | None = None
    """The hidden entries that can be read from the ledger; None if that was not checked."""


def check_phases(
    compression: CheckedCompression, states: Sequence[PreservedState]
) -> tuple[Phase, ...]:
    """Return the four phases of a compression with their checks."""
    checks = (
        _pre_check(states),
        _preservation(compression, states),
        _compaction(compression),
        _verification(compression, states),
    )
    return tuple(Phase(name, tuple(own)) for name, own in zip(PHASE_NAMES, checks, strict=True))


def _pre_check(states: Iterable[PreservedState]) -> list[Check]:
    return [
        Check(
            state.item,
            not state.lacks,
            f"{state.status} in {state.where}: {state.detail}".rstrip(": "),
        )
        if state.status != UNUSED
        else Check(state.item, detail="not used here")
        for state in states
    ]


def _preservation(compression: CheckedCompression, states: Sequence[PreservedState]) -> list[Check]:
    hidden = _hidden_entries(compression)
    kept = [item for item in compression.items if item.entry.id not in hidden]
    requests = sum(is_request(item.body) for item in kept)
    summary = compression.body.summary if compression.body is not None else None
    parts = [
        f"{len(kept):,} entries in sight, {requests:,} of them the user's",
        *(
            [f"{_count_binding_rows(compression):,} requests and constraints word for word"]
            if summary
            else []
        ),
        f"{sum(bool(state.told) for state in states)} outside lines",
    ]
    leaving = [item for item in compression.items if item.entry.id in hidden]
    size = sum(compression.tokens.get(item.entry.seq, 0) for item in leaving)
    return [
        Check("locked", detail=", ".join(parts)),
        Check("marked for compaction", detail=f"{len(leaving):,} entries, {size:,} tokens"),
        Check("no critical loss", not compression.losses, "; ".join(compression.losses)),
    ]


def _count_binding_rows(compression: CheckedCompression) -> int:
    assert compression.body is not None
    assert compression.body.summary is not None
    intent = compression.body.summary.intent
    quotes = (*intent.requests, *intent.changes)
    rows = [row for row in compression.body.summary.constraints if not row.lifted]
    return len({quote.text for quote in quotes if quote.text}) + len(rows)


def _hidden_entries(compression: CheckedCompression) -> set[EntryId]:
    steps = compression.body.steps if compression.body is not None else ()
    return {name for step in steps for name in step.hides}


def _compaction(compression: CheckedCompression) -> list[Check]:
    """Count what leaves by kind; the protocol's kinds are listed even if their count is 0."""
    counts, sizes = Counter[str](), Counter[str]()
    hidden = _hidden_entries(compression)
    kinds = _kind_by_entry(compression)
    for item in compression.items:
        if item.entry.id in hidden:
            kind = kinds.get(item.entry.id) or _plain_kind(item.body)
            counts[kind] += 1
            sizes[kind] += compression.tokens.get(item.entry.seq, 0)
    names = dict.fromkeys((*KIND_BY_STEP.values(), *counts))
    return [Check(name, detail=f"{counts[name]:,} ({sizes[name]:,} tokens)") for name in names]


def _kind_by_entry(compression: CheckedCompression) -> dict[EntryId, str]:
    """Return the kind of content of each entry, by the step that hides it or by what it is."""
    kinds: dict[EntryId, str] = {}
    scene = read_scene([Item(item.entry) for item in compression.items])
    touches = [touch_of(pair.body) for pair in scene.pairs]
    again, fixed = superseded_reads(scene, touches), resolved_failures(scene, touches)
    answers = final_answers(scene)
    for at, item in enumerate(scene.items):
        if isinstance(item.body, ToolReturned):
            later = answers.get(scene.turns[at], -1) > at
            kind = "read" if at in again else "debug" if at in fixed else "offload"
            kinds[item.entry.id] = KIND_BY_STEP[
                "intermediate" if later and kind == "offload" else kind
            ]
    for step in compression.body.steps if compression.body is not None else ():
        if step.kind in KIND_BY_STEP:
            kinds.update(dict.fromkeys(step.hides, KIND_BY_STEP[step.kind]))
    return kinds


def _plain_kind(body: Source) -> str:
    match body:
        case Thought():
            return KIND_BY_STEP["thinking"]
        case ToolCalled():
            return "tool_inputs"
        case _:
            return WORDS_KIND


def _verification(compression: CheckedCompression, states: Sequence[PreservedState]) -> list[Check]:
    lines = [f"{state.label}: {state.told}" for state in states if state.told]
    body = compression.body
    shown = (
        apply_steps(body.steps, compression.items) if body is not None else list(compression.items)
    )
    # Tiers 1 and 2 do not change an older summary, so only a new summary must contain the lines.
    text = "\n".join(text_of(item.body) for item in shown)
    has_summary = body is not None and body.summary is not None
    missing = [line for line in lines if has_summary and quote_field(line) not in text]
    intact = f"{len(lines) - len(missing)} of {len(lines)} lines stand in the window"
    checks = [Check(CHECK_INTACT, not missing and not compression.losses, intact)]
    hidden = _hidden_entries(compression)
    if compression.readable is None:
        checks.append(Check(CHECK_RECOVERY, detail=f"{len(hidden):,} entries to read back"))
    else:
        readable = len(hidden & set(compression.readable))
        read = f"{readable:,} of {len(hidden):,} hidden entries read back"
        checks.append(Check(CHECK_RECOVERY, readable == len(hidden), read))
    if body is not None and body.before and has_summary:
        is_small = body.after * 100 < TARGET_PERCENT * body.before
        checks.append(
            Check("smaller than half", is_small, f"{body.after / body.before:.0%} of before")
        )
    logged = "with the compression" if body is not None else "nothing to log"
    return [*checks, Check("event logged", detail=logged)]


def checks_named(phases: Iterable[Phase], what: str) -> list[Check]:
    """Return the checks with the given name."""
    return [check for phase in phases for check in phase.checks if check.what == what]


def preserved_checks(phases: Sequence[Phase]) -> list[Check]:
    """Return the checks of preserved items: present before and intact after."""
    return [*(phases[0].checks if phases else ()), *checks_named(phases, CHECK_INTACT)]
