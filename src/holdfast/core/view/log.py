"""Build and render the compression log: every event with the fields that the protocol names."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    HOLDFAST,
    Body,
    Checkpointed,
    Compacted,
    Compressed,
    Entry,
    EntryId,
    Noted,
    Restored,
)
from holdfast.core.ledger.notes import (
    Drifted,
    Forked,
    FreshSessionAdvised,
    Note,
    Postponed,
    RecoveryFailed,
    RuleFailed,
    SummarizerRefused,
    SummaryBlocked,
    note_of,
)
from holdfast.core.ledger.summary import Phase
from holdfast.core.observe.results.refetched import Refetches, refetches_after
from holdfast.core.verify.phases import preserved_checks
from holdfast.core.verify.quality import DIMENSIONS
from holdfast.core.view.rules import is_halved
from holdfast.text.clip import and_more

MAX_FILES_SHOWN = 3
"""Files that the log names for an event; it counts the others, and the JSON lists all."""
EVENT_KINDS_BY_TIER = {1: "TIER_1", 2: "TIER_2", 3: "TIER_3"}


class Event(Struct, frozen=True):
    """One event in the history of a window."""

    at: str
    kind: str
    """`TIER_1`, `TIER_2`, `TIER_3`, `HOST`, `UNDO`, `POSTPONED`, `CHECKPOINT`, `ADVICE` to start a
    fresh session, `DRIFT`, `BLOCKED` in strict mode, `MODEL` when an answer was not used or not
    all of it, `RECOVERY` when one failed, `FORK` when something contradicts the ledger,
    `DATA_LOSS` when content could not be recovered, or `FAULT` when a rule failed."""
    trigger: str
    before: int = 0
    after: int = 0
    saved: int = 0
    """Net tokens: those hidden minus those of the stand-ins; negative when content came back."""
    files: tuple[str, ...] = ()
    intent: bool = True
    """Whether the window contained the first request word for word."""
    steps: tuple[str, ...] = ()
    ref: str = ""
    quality: dict[str, float] = {}
    """Scores of the tier 3 summary on its probes, by dimension, from 0 to 5."""
    mark: str = ""
    """`insufficient`, `below_target` or `unpreserved` when the compression was applied although it
    missed that."""
    caused: Refetches = Refetches()
    """Fetches that the agent repeated because of the event."""
    ratio: float | None = None
    """Size of the window after a summary as a share of the size before; the target is below one
    half."""
    halved: bool | None = None
    """Whether the ratio met the target; None when there was no summary."""
    phases: tuple[Phase, ...] = ()
    """The phases of the compression: pre-check, preservation, compaction, verification."""


def events_of(
    entries: Iterable[Entry],
    tokens: Mapping[int, int] | None = None,
    sizes: Mapping[EntryId, tuple[int, int]] | None = None,
) -> tuple[Event, ...]:
    """Return the events of a window, oldest first; `tokens` maps entry numbers to tokens.

    `sizes` gives the window before and after for events that do not store these sizes themselves.
    """
    all_entries, windows = list(entries), sizes or {}
    caused = refetches_after(all_entries, tokens or {})
    found: list[Event] = []
    compressions: dict[str, Event] = {}
    for entry in all_entries:
        event = _event(entry)
        if event is None:
            continue
        if isinstance(entry.body, Compressed):
            compressions[entry.id] = event
        if isinstance(entry.body, Restored) and (lifted := compressions.get(entry.body.compressed)):
            event = replace(event, before=lifted.after, after=lifted.before)
        if entry.id in windows and not _has_sizes(entry.body):
            before, after = windows[entry.id]
            event = replace(event, before=before, after=after, saved=before - after)
        found.append(replace(event, caused=caused.get(entry.id, Refetches())))
    return tuple(found)


def _has_sizes(body: Body) -> bool:
    return isinstance(body, Compressed) and (body.before > 0 or body.by == HOLDFAST)


def _event(entry: Entry) -> Event | None:
    ref = entry.id[:12]
    match entry.body:
        case Compressed() as body:
            return _compression_event(entry, body)
        case Restored() as body:
            return Event(entry.at, "UNDO", f"undo of {body.compressed[:12]}", ref=ref)
        case Compacted() as body:
            trigger = body.trigger or "the agent's own program"
            return Event(entry.at, "HOST", trigger, intent=False, ref=ref)
        case Checkpointed() as body:
            files = (body.file,) if body.file else ()
            size, why = body.tokens, body.trigger or "asked for"
            return Event(entry.at, "CHECKPOINT", why, size, size, files=files, ref=ref)
        case Noted() as body:
            kind, why = _kind_and_reason(note_of(body))
            intent = kind not in ("DATA_LOSS", "DRIFT")
            return Event(entry.at, kind, why, intent=intent, ref=ref) if kind else None
        case _:
            return None


def _kind_and_reason(note: Note | None) -> tuple[str, str]:
    """Return the event kind of a note and its text; two empty strings for other notes."""
    match note:
        case Postponed(trigger=trigger, reason=reason):
            return "POSTPONED", f"{trigger or ''}: {reason or ''}"
        case Forked(where=where):
            return "FORK", f"{where} contradicts the ledger: the ledger is believed"
        case SummaryBlocked(missing=missing):
            return "BLOCKED", f"strict: {','.join(missing)} missing, nothing was changed"
        case RecoveryFailed(lost=str(lost)):
            return "DATA_LOSS", f"not brought back, to be looked at: {lost}"
        case RecoveryFailed(level=level, reason=reason, review=review):
            shown = "" if level is None else level
            return "RECOVERY", f"level {shown} failed: {reason or ''}; {review or ''}"
        case Drifted(names=names, why=why):
            return "DRIFT", f"{names}: {why}"
        case SummarizerRefused() as model:
            return "MODEL", describe_refusal(model)
        case RuleFailed(rule=rule, error=error):
            return "FAULT", f"{rule} failed and was left out: {error}"
        case FreshSessionAdvised():
            return "ADVICE", "critical: go on in a fresh session"
        case _:
            return "", ""


def describe_refusal(note: SummarizerRefused) -> str:
    """Describe what was not used of a model's answer, and why."""
    if not note.left_out:
        return f"a model added nothing: {note.refused}"
    rows = "row" if note.left_out == 1 else "rows"
    return f"{note.left_out} {rows} of {note.by} left out: {note.refused}"


def _compression_event(entry: Entry, body: Compressed) -> Event:
    raw = sum(step.before - step.after for step in body.steps)
    saved = body.before - body.after if body.before else raw
    has_summary = body.summary is not None and body.before > 0
    return Event(
        at=entry.at,
        kind=_compression_kind(body),
        trigger=body.trigger or "replaced by the agent's own program",
        before=body.before,
        after=body.after,
        saved=saved,
        files=(*_archive_paths(body), *(step.file for step in body.steps if step.file)),
        intent=body.intent,
        steps=tuple(f"{s.kind or 'replaced'}: {s.reason}" for s in body.steps),
        ref=entry.id[:12],
        quality=body.quality,
        mark=body.mark,
        ratio=round(body.after / body.before, 4) if has_summary else None,
        halved=is_halved(body.before, body.after) if has_summary else None,
        phases=body.phases,
    )


def _compression_kind(body: Compressed) -> str:
    """Return the kind by the highest tier; `HOST` for a host's own change without a tier."""
    tier = max((step.tier for step in body.steps), default=0)
    return "HOST" if body.by != "holdfast" and not tier else EVENT_KINDS_BY_TIER.get(tier, "TIER_1")


def _archive_paths(body: Compressed) -> Iterator[str]:
    """Yield the path of the full conversation copy if the summary names one."""
    for ref in body.summary.refs if body.summary is not None else ():
        what, found, path = ref.what.partition(": ")
        if found and what == "full conversation":
            yield path


def render_log(events: Iterable[Event]) -> str:
    """Render events as Markdown in the protocol's form."""
    parts = ["## Compression Event Log"]
    for event in events:
        parts += ["", *_event_lines(event)]
    if len(parts) == 1:
        parts += ["", "None"]
    return "\n".join(parts)


def _event_lines(event: Event) -> list[str]:
    listed = ", ".join(event.files[:MAX_FILES_SHOWN]) or "None"
    files = listed + and_more(len(event.files) - MAX_FILES_SHOWN)
    return [
        f"**Timestamp:** {event.at or 'unknown'}",
        f"**Event Type:** {event.kind}",
        f"**Trigger:** {event.trigger}",
        f"**Tokens Before:** {event.before:,}",
        f"**Tokens After:** {event.after:,}",
        f"**Tokens Saved:** {event.saved:,}",
        f"**Files Created:** {files}",
        f"**Intent Preserved:** {'YES' if event.intent else 'VERIFICATION_NEEDED'}",
        *_quality_lines(event),
        *_refetch_lines(event),
        *_phase_lines(event),
    ]


def _refetch_lines(event: Event) -> list[str]:
    if not event.caused.fetches:
        return []
    net = event.saved - event.caused.tokens
    return [f"**Fetched Again:** {describe_refetches(event.caused)}; net {net:,}"]


def describe_refetches(caused: Refetches) -> str:
    """Describe the fetches that a compression caused, in words."""
    kinds = (
        (caused.rereads, "read", "reads"),
        (caused.repeats, "command", "commands"),
        (caused.recoveries, "recovery", "recoveries"),
    )
    counts = ", ".join(
        f"{n} {singular if n == 1 else plural}" for n, singular, plural in kinds if n
    )
    requests = "request" if caused.requests == 1 else "requests"
    return f"{counts} in {caused.requests} {requests}, {caused.tokens:,} tokens"


def _phase_lines(event: Event) -> list[str]:
    if event.ratio is None:
        return []
    target = "met" if event.halved else "missed"
    size = f"**Size:** {event.ratio:.0%} of before (target below 50%: {target})"
    if not event.phases:
        return [size]
    checks = preserved_checks(event.phases)
    failed = [check.what for phase in event.phases for check in phase.checks if not check.holds]
    passed = sum(check.holds for check in checks)
    failing = f"; not as it should be: {', '.join(failed)}" if failed else ""
    names = ", ".join(phase.name for phase in event.phases)
    return [size, f"**Phases:** {names}: {passed} of {len(checks)} preserved{failing}"]


def _quality_lines(event: Event) -> list[str]:
    if not event.quality:
        return []
    mark = [f"**Mark:** {event.mark}"] if event.mark else []
    return [f"**Quality:** {render_scores(event.quality)}", *mark]


def render_scores(quality: Mapping[str, float]) -> str:
    """Render quality scores in one line; a score below its target is marked."""
    dimensions = [dimension for dimension in DIMENSIONS if dimension.key in quality]
    return ", ".join(
        f"{dimension.name.lower()} {quality[dimension.key]:.1f}"
        + (f" (below {dimension.target:.1f})" if quality[dimension.key] < dimension.target else "")
        for dimension in dimensions
    )
