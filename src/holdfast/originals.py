"""Originals: what a hook saw before its host put something smaller in the transcript.

A hook stores a large result whole, as a note about (session, agent, call), and only then tells the
host what to show instead. When the transcript is read, its stand-in meets the original by the call:
the original becomes the entry, and what the host shows is a compression by the host.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.arrive import Batch, Draft, note
from holdfast.core.ledger.entry import (
    Compressed,
    Entry,
    EntryId,
    Noted,
    Step,
    ToolReturned,
)
from holdfast.core.ledger.head import AT_BIRTH, Head

ORIGINAL = "original"
HOST = "host"


class Told(Struct, frozen=True):
    """What is known of a result besides its words."""

    tool: str
    ref: EntryId
    """How it is called where it stands in for itself: told by what it is, not by where it came."""
    before: int = 0
    after: int = 0
    """Tokens of it, and of what the host shows instead; zeros when nothing else is shown."""
    file: str = ""
    """Where a readable copy is."""


def reference(session: str, lane: str, body: ToolReturned) -> EntryId:
    """The name of an original: the same however often a hook is asked."""
    told = "\0".join((session, lane, body.call, body.output))
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def as_note(body: ToolReturned, told: Told) -> Noted:
    """The note that keeps a result."""
    facts = {
        "call": body.call,
        "tool": told.tool,
        "ref": told.ref,
        "output": body.output,
        **({"failed": "yes"} if body.failed else {}),
        **({"before": str(told.before), "after": str(told.after)} if told.before else {}),
        **({"file": told.file} if told.file else {}),
    }
    return Noted(ORIGINAL, facts)


def referred_to(ref: str, entries: Iterable[Entry]) -> Entry | None:
    """What a reference to an original names: the result itself, or the note until it is there."""
    known = list(entries)
    notes = [one for one in known if is_original(one) and _ref(one).startswith(ref.lower())]
    if not notes:
        return None
    kept = as_result(notes[0])
    for entry in known:
        body = entry.body
        if isinstance(body, ToolReturned) and (entry.lane, body.call) == (notes[0].lane, kept.call):
            return entry
    return replace(notes[0], body=kept)


def _ref(entry: Entry) -> str:
    return entry.body.facts.get("ref", "") if isinstance(entry.body, Noted) else ""


def is_original(entry: Entry) -> bool:
    """Whether an entry keeps a result that a hook saw."""
    return isinstance(entry.body, Noted) and entry.body.what == ORIGINAL


def as_result(entry: Entry) -> ToolReturned:
    """The result that a note keeps."""
    assert isinstance(entry.body, Noted)
    facts = entry.body.facts
    return ToolReturned(facts.get("call", ""), facts.get("output", ""), "failed" in facts)


def by_call(entries: Iterable[Entry]) -> dict[tuple[str, str], Entry]:
    """Originals by agent and call; the first one counts: a hook may be asked twice."""
    found: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        if is_original(entry):
            found.setdefault((entry.lane, as_result(entry).call), entry)
    return found


def met(draft: Draft, originals: Mapping[tuple[str, str], Entry]) -> Draft:
    """A draft with the original in the place of what the host shows of it."""
    if not originals or not isinstance(draft.body, ToolReturned):
        return draft
    kept = originals.get((draft.lane, draft.body.call))
    if kept is None or as_result(kept).output == draft.body.output:
        return draft
    return replace(draft, body=replace(as_result(kept), failed=draft.body.failed))


def shown_instead(
    batch: Batch,
    shown: Mapping[tuple[str, str], ToolReturned],
    originals: Mapping[tuple[str, str], Entry],
) -> Batch:
    """A batch with what the host shows in place of the originals in it, as its compressions."""
    made: list[Entry] = []
    head = batch.head
    for entry in batch.entries:
        body = entry.body
        stand_in = shown.get((entry.lane, body.call)) if isinstance(body, ToolReturned) else None
        if stand_in is None or not isinstance(body, ToolReturned) or stand_in == body:
            continue
        step = _step(entry, stand_in, originals[entry.lane, body.call])
        added = note(head, _by_host(head, entry, step), lane=entry.lane, at=entry.at)
        head, made = added.head, [*made, *added.entries]
    return replace(batch, head=head, entries=(*batch.entries, *made))


def _step(entry: Entry, stand_in: ToolReturned, kept: Entry) -> Step:
    facts = kept.body.facts if isinstance(kept.body, Noted) else {}
    before, after = int(facts.get("before", "0")), int(facts.get("after", "0"))
    return Step(
        hides=(entry.id,),
        reason=f"a result of {before:,} tokens" if before else "a large result",
        stand_in=stand_in,
        tier=1,
        before=before,
        after=after,
        kind="offload",
        file=facts.get("file", ""),
    )


def _by_host(head: Head, entry: Entry, step: Step) -> Compressed:
    lane = head.lane(entry.lane)
    return Compressed(
        steps=(step,),
        generation=lane.generation,
        watermark=entry.seq,
        by=HOST,
        trigger=AT_BIRTH,
    )
