"""The compression log: every event with the fields that the protocol names."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    OURS,
    Body,
    Checkpointed,
    Compacted,
    Compressed,
    Entry,
    EntryId,
    Noted,
    Restored,
)
from holdfast.core.ledger.summary import Phase
from holdfast.core.observe.results.refetched import Caused, effects_of
from holdfast.core.verify.quality import DIMENSIONS
from holdfast.core.view.rules import halves, preserved_checks

SHOWN_FILES = 3
"""Files that a log names one by one; the rest is a number, and in the JSON."""
KINDS = {1: "TIER_1", 2: "TIER_2", 3: "TIER_3"}


class Event(Struct, frozen=True):
    """One thing that happened to a window."""

    at: str
    kind: str
    """`TIER_1`, `TIER_2`, `TIER_3`, `HOST`, `UNDO`, `POSTPONED`, `CHECKPOINT`, `ADVICE` of a fresh
    session, `DRIFT`, `BLOCKED` in strict mode, `MODEL` or `RECOVERY` where one failed, `FORK` where
    something contradicts the ledger, `DATA_LOSS` where something could not be brought back, or
    `FAULT` where a rule failed."""
    trigger: str
    before: int = 0
    after: int = 0
    saved: int = 0
    """Net: what left, less what stands in for it; below zero where something came back."""
    files: tuple[str, ...] = ()
    intent: bool = True
    """Whether the first request stood in the window, word for word."""
    steps: tuple[str, ...] = ()
    ref: str = ""
    quality: dict[str, float] = {}
    """How the summary of tier 3 did on its probes, by dimension, from 0 to 5."""
    mark: str = ""
    """`insufficient`, `below_target` or `unpreserved` when it was made although it missed that."""
    caused: Caused = Caused()
    """What was fetched again because of it."""
    ratio: float | None = None
    """What a summary left of the window; the target is below one half."""
    halved: bool | None = None
    """Whether it met that; None where it was no summary."""
    phases: tuple[Phase, ...] = ()
    """What it went through: pre-check, preservation, compaction, verification."""


def events_of(
    entries: Iterable[Entry],
    tokens: Mapping[int, int] | None = None,
    sizes: Mapping[EntryId, tuple[int, int]] | None = None,
) -> tuple[Event, ...]:
    """What happened to a window, oldest first; `tokens` counts entries by number.

    `sizes` tells the window before and after those events that do not tell it themselves.
    """
    known, windows = list(entries), sizes or {}
    caused = effects_of(known, tokens or {})
    found: list[Event] = []
    made: dict[str, Event] = {}
    for entry in known:
        event = _event(entry)
        if event is None:
            continue
        if isinstance(entry.body, Compressed):
            made[entry.id] = event
        if isinstance(entry.body, Restored) and (lifted := made.get(entry.body.compressed)):
            event = replace(event, before=lifted.after, after=lifted.before)
        if entry.id in windows and not _tells_sizes(entry.body):
            before, after = windows[entry.id]
            event = replace(event, before=before, after=after, saved=before - after)
        found.append(replace(event, caused=caused.get(entry.id, Caused())))
    return tuple(found)


def _tells_sizes(body: Body) -> bool:
    return isinstance(body, Compressed) and (body.before > 0 or body.by == OURS)


def _event(entry: Entry) -> Event | None:
    ref = entry.id[:12]
    match entry.body:
        case Compressed() as body:
            return _compressed(entry, body)
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
            kind, why = _noted(body)
            intent = kind not in ("DATA_LOSS", "DRIFT")
            return Event(entry.at, kind, why, intent=intent, ref=ref) if kind else None
        case _:
            return None


def _noted(body: Noted) -> tuple[str, str]:
    """What kind of event a note is, and what it says; nothing for most of them."""
    facts = defaultdict[str, str](str, body.facts)
    match body.what:
        case "postponed":
            return "POSTPONED", f"{facts['trigger']}: {facts['reason']}"
        case "fork":
            return "FORK", f"{facts['where']} contradicts the ledger: the ledger is believed"
        case "blocked":
            return "BLOCKED", f"strict: {facts['missing']} missing, nothing was changed"
        case "recovery_failed" if "lost" in body.facts:
            return "DATA_LOSS", f"not brought back, to be looked at: {facts['lost']}"
        case "recovery_failed":
            why = f"level {facts['level']} failed: {facts['reason']}; {facts['review']}"
            return "RECOVERY", why
        case "drift":
            return "DRIFT", f"{facts['names']}: {facts['why']}"
        case "summarizer":
            return "MODEL", f"a model added nothing: {facts['refused']}"
        case "fault":
            return "FAULT", f"{facts['rule']} failed and was left out: {facts['error']}"
        case "fresh_session":
            return "ADVICE", "critical: go on in a fresh session"
        case _:
            return "", ""


def _compressed(entry: Entry, body: Compressed) -> Event:
    raw = sum(step.before - step.after for step in body.steps)
    saved = body.before - body.after if body.before else raw
    summed = body.summary is not None and body.before > 0
    return Event(
        at=entry.at,
        kind=_kind(body),
        trigger=body.trigger or "replaced by the agent's own program",
        before=body.before,
        after=body.after,
        saved=saved,
        files=(*_archive(body), *(step.file for step in body.steps if step.file)),
        intent=body.intent,
        steps=tuple(f"{s.kind or 'replaced'}: {s.reason}" for s in body.steps),
        ref=entry.id[:12],
        quality=body.quality,
        mark=body.mark,
        ratio=round(body.after / body.before, 4) if summed else None,
        halved=halves(body.before, body.after) if summed else None,
        phases=body.phases,
    )


def _kind(body: Compressed) -> str:
    """By its highest tier; what a host did by itself has none."""
    tier = max((step.tier for step in body.steps), default=0)
    return "HOST" if body.by != "holdfast" and not tier else KINDS.get(tier, "TIER_1")


def _archive(body: Compressed) -> Iterator[str]:
    """The copy of the whole conversation, where a summary names one."""
    for ref in body.summary.refs if body.summary is not None else ():
        what, found, path = ref.what.partition(": ")
        if found and what == "full conversation":
            yield path


def render_log(events: Iterable[Event]) -> str:
    """The log as Markdown, in the protocol's own form."""
    parts = ["## Compression Event Log"]
    for event in events:
        parts += ["", *_rendered(event)]
    if len(parts) == 1:
        parts += ["", "None"]
    return "\n".join(parts)


def _rendered(event: Event) -> list[str]:
    listed = ", ".join(event.files[:SHOWN_FILES]) or "None"
    more = len(event.files) - SHOWN_FILES
    files = f"{listed} and {more} more" if more > 0 else listed
    return [
        f"**Timestamp:** {event.at or 'unknown'}",
        f"**Event Type:** {event.kind}",
        f"**Trigger:** {event.trigger}",
        f"**Tokens Before:** {event.before:,}",
        f"**Tokens After:** {event.after:,}",
        f"**Tokens Saved:** {event.saved:,}",
        f"**Files Created:** {files}",
        f"**Intent Preserved:** {'YES' if event.intent else 'VERIFICATION_NEEDED'}",
        *_quality(event),
        *_caused(event),
        *_sequence(event),
    ]


def _caused(event: Event) -> list[str]:
    if not event.caused.fetches:
        return []
    net = event.saved - event.caused.tokens
    return [f"**Fetched Again:** {fetched(event.caused)}; net {net:,}"]


def fetched(caused: Caused) -> str:
    """What was fetched again, in words."""
    kinds = (
        (caused.rereads, "read", "reads"),
        (caused.repeats, "command", "commands"),
        (caused.recoveries, "recovery", "recoveries"),
    )
    told = ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in kinds if n)
    requests = "request" if caused.requests == 1 else "requests"
    return f"{told} in {caused.requests} {requests}, {caused.tokens:,} tokens"


def _sequence(event: Event) -> list[str]:
    if event.ratio is None:
        return []
    target = "met" if event.halved else "missed"
    size = f"**Size:** {event.ratio:.0%} of before (target below 50%: {target})"
    if not event.phases:
        return [size]
    checks = preserved_checks(event.phases)
    wrong = [one.what for phase in event.phases for one in phase.checks if not one.holds]
    held = sum(one.holds for one in checks)
    failing = f"; not as it should be: {', '.join(wrong)}" if wrong else ""
    names = ", ".join(phase.name for phase in event.phases)
    return [size, f"**Phases:** {names}: {held} of {len(checks)} preserved{failing}"]


def _quality(event: Event) -> list[str]:
    if not event.quality:
        return []
    mark = [f"**Mark:** {event.mark}"] if event.mark else []
    return [f"**Quality:** {scores(event.quality)}", *mark]


def scores(quality: Mapping[str, float]) -> str:
    """Scores in a line; one that misses its target says so."""
    known = [each for each in DIMENSIONS if each.key in quality]
    return ", ".join(
        f"{each.name.lower()} {quality[each.key]:.1f}"
        + (f" (below {each.target:.1f})" if quality[each.key] < each.target else "")
        for each in known
    )
