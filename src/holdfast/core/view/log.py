"""The compression log: every event with the fields that the protocol names."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Checkpointed, Compacted, Compressed, Entry, Noted, Restored
from holdfast.core.ledger.phases import Phase
from holdfast.core.observe.effects import Caused, effects_of
from holdfast.core.verify.quality import DIMENSIONS
from holdfast.core.view.phases import halves, preserved_checks

SHOWN_FILES = 3
"""Files that a log names one by one; the rest is a number, and in the JSON."""
KINDS = {1: "TIER_1", 2: "TIER_2", 3: "TIER_3"}


class Event(Struct, frozen=True):
    """One thing that happened to a window."""

    at: str
    kind: str
    """`TIER_1`, `TIER_2`, `TIER_3`, `HOST`, `UNDO`, `POSTPONED`, `CHECKPOINT`, `ADVICE` of a fresh
    session, `DRIFT`, `BLOCKED` in strict mode, `MODEL` or `RECOVERY` where one failed, `FORK` where
    something contradicts the ledger, or `DATA_LOSS` where something could not be brought back."""
    trigger: str
    before: int = 0
    after: int = 0
    saved: int = 0
    """Net: what left, less what stands in for it."""
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
    entries: Iterable[Entry], tokens: Mapping[int, int] | None = None
) -> tuple[Event, ...]:
    """What happened to a window, oldest first; `tokens` counts entries by number."""
    known = list(entries)
    caused = effects_of(known, tokens or {})
    found: list[Event] = []
    for entry in known:
        event = _event(entry)
        if event is not None:
            found.append(replace(event, caused=caused.get(entry.id, Caused())))
    return tuple(found)


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
        case Noted(what="postponed") as body:
            why = f"{body.facts.get('trigger', '')}: {body.facts.get('reason', '')}"
            return Event(entry.at, "POSTPONED", why, ref=ref)
        case Noted(what="fork") as body:
            why = f"{body.facts.get('where', '')} contradicts the ledger: the ledger is believed"
            return Event(entry.at, "FORK", why, ref=ref)
        case Noted(what="blocked") as body:
            why = f"strict: {body.facts.get('missing', '')} missing, nothing was changed"
            return Event(entry.at, "BLOCKED", why, ref=ref)
        case Noted(what="recovery_failed") as body if "lost" in body.facts:
            why = f"not brought back, to be looked at: {body.facts.get('lost', '')}"
            return Event(entry.at, "DATA_LOSS", why, intent=False, ref=ref)
        case Noted(what="drift") as body:
            why = f"{body.facts.get('names', '')}: {body.facts.get('why', '')}"
            return Event(entry.at, "DRIFT", why, intent=False, ref=ref)
        case Noted(what="summarizer") as body:
            why = f"a model added nothing: {body.facts.get('refused', '')}"
            return Event(entry.at, "MODEL", why, ref=ref)
        case Checkpointed() as body:
            files = (body.file,) if body.file else ()
            why = body.trigger or "asked for"
            return Event(
                entry.at, "CHECKPOINT", why, body.tokens, body.tokens, files=files, ref=ref
            )
        case Noted(what="recovery_failed") as body:
            why = f"level {body.facts.get('level', '')} failed: {body.facts.get('reason', '')}"
            return Event(entry.at, "RECOVERY", f"{why}; {body.facts.get('review', '')}", ref=ref)
        case Noted(what="fresh_session"):
            return Event(entry.at, "ADVICE", "critical: go on in a fresh session", ref=ref)
        case _:
            return None


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
    return (
        "HOST"
        if body.by != "holdfast"
        else KINDS.get(max(step.tier for step in body.steps), "TIER_1")
    )


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
