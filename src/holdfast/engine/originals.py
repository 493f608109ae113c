"""Originals: what a hook saw before its host put something smaller in the transcript.

A hook stores a large result whole, as a note about (session, agent, call), and only then tells the
host what to show instead. When the transcript is read, its stand-in meets the original by the call:
the original becomes the entry, and what the host shows is a compression by the host.
"""

from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.append import Draft
from holdfast.core.ledger.entry import (
    Compressed,
    Entry,
    EntryId,
    Noted,
    Said,
    Step,
    ToolReturned,
)
from holdfast.core.measure.tokens import count_body

HOST = "the host shows something else here"
ORIGINAL, ASKED = "original", "prompt"
"""Notes that keep what a hook saw: a result, and what the user asked for."""


class Told(Struct, frozen=True):
    """What is known of a result besides its words."""

    tool: str
    ref: EntryId
    """How it is called where it stands in for itself: told by what it is, not by where it came."""
    before: int = 0
    after: int = 0
    """Tokens of it, about, and of what the host shows instead; zeros when it shows all of it."""
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
    return _facts(entry).get("ref", "")


def is_original(entry: Entry) -> bool:
    """Whether an entry keeps a result that a hook saw."""
    return isinstance(entry.body, Noted) and entry.body.what == ORIGINAL


def as_result(entry: Entry) -> ToolReturned:
    """The result that a note keeps."""
    assert isinstance(entry.body, Noted)
    facts = entry.body.facts
    return ToolReturned(facts.get("call", ""), facts.get("output", ""), "failed" in facts)


def by_call(entries: Iterable[Entry]) -> dict[tuple[str, str], Entry]:
    """Originals by agent and call; of several, the one that something stands in for."""
    found: dict[tuple[str, str], Entry] = {}
    for entry in filter(is_original, entries):
        key = entry.lane, as_result(entry).call
        if key not in found or not _facts(found[key]).get("before"):
            found[key] = entry
    return found


def met(
    draft: Draft, originals: Mapping[tuple[str, str], Entry], count: Callable[[str], int]
) -> Draft:
    """A draft with the original in the place of what the host shows of it.

    A hook only knows about how large it is; from here on it is counted.
    """
    shown = draft.body
    if isinstance(shown, Compressed) and draft.hidden:
        return _measured(draft, shown, count)
    if not originals or not isinstance(shown, ToolReturned):
        return draft
    kept = originals.get((draft.lane, shown.call))
    if kept is None or as_result(kept).output == shown.output:
        return draft
    whole = replace(as_result(kept), failed=shown.failed, media=shown.media)
    step = Step((), HOST, shown, before=count_body(whole, count), after=count_body(shown, count))
    if _facts(kept).get("before"):
        step = replace(step, reason=f"a result of {step.before:,} tokens", tier=1, kind="offload")
    return replace(draft, body=whole, instead=replace(step, file=_facts(kept).get("file", "")))


def _measured(draft: Draft, body: Compressed, count: Callable[[str], int]) -> Draft:
    """A compression by the host whose steps say how large what they hide is."""
    pairs = zip(body.steps, draft.hidden, strict=True)
    steps = tuple(
        replace(
            step,
            before=count_body(whole, count),
            after=0 if step.stand_in is None else count_body(step.stand_in, count),
        )
        for step, whole in pairs
    )
    return replace(draft, body=replace(body, steps=steps))


def _facts(entry: Entry) -> Mapping[str, str]:
    return entry.body.facts if isinstance(entry.body, Noted) else {}


def repeats(note: Entry, gone: Iterable[Entry]) -> bool:
    """Whether a note keeps what entries say that are to be erased."""
    if not isinstance(note.body, Noted) or note.body.what not in (ORIGINAL, ASKED):
        return False
    text, call = note.body.facts.get("text", "").strip(), note.body.facts.get("call", "")
    for one in gone:
        if isinstance(one.body, ToolReturned) and (one.lane, one.body.call) == (note.lane, call):
            return True
        if isinstance(one.body, Said) and text and text in one.body.text:
            return True
    return False


def without_words(note: Entry, notice: str) -> Entry:
    """A note of these that says no more than that something was there."""
    assert isinstance(note.body, Noted)
    told = {"output": notice, "text": notice}
    facts = {name: told.get(name, fact) for name, fact in note.body.facts.items()}
    return replace(note, body=Noted(note.body.what, facts))
