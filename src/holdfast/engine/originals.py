"""Store originals: large results that a hook saw before its host shortened them.

A hook stores a large result whole, as a note about (session, agent, call), and only then answers
the host with a stand-in. When the transcript is read, the stand-in is matched with the original by
the call: the original becomes the entry, and the stand-in a compression by the host.
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
from holdfast.core.ledger.notes import Original, Prompted, encode, note_of, notes_in
from holdfast.core.measure.tokens import count_body
from holdfast.text.utf8 import to_bytes

HOST_REASON = "the host shows something else here"


class OriginalFacts(Struct, frozen=True):
    """Facts about a result besides its text."""

    tool: str
    ref: EntryId
    """Its reference in stand-ins: derived from its content, because it has no entry yet."""
    before: int = 0
    after: int = 0
    """Estimated tokens of the result, and of the host's stand-in; zeros if the host shows all of
    it."""
    file: str = ""
    """Path of a readable copy."""


def original_ref(session: str, lane: str, body: ToolReturned) -> EntryId:
    """Return the reference of an original: the same on every call."""
    identity = "\0".join((session, lane, body.call, body.output))
    return sha256(to_bytes(identity)).hexdigest()


def original_note(body: ToolReturned, facts: OriginalFacts) -> Noted:
    """Return the note that stores a result."""
    note = Original(body.call, facts.tool, facts.ref, body.output, failed=body.failed)
    if facts.before:
        note = replace(note, before=facts.before, after=facts.after)
    return encode(replace(note, file=facts.file or None))


def find_original(ref: str, entries: Iterable[Entry]) -> Entry | None:
    """Return the result that a reference to an original names, from its note if necessary."""
    known = list(entries)
    originals = notes_in(known, Original)
    found = next((pair for pair in originals if pair[1].ref.startswith(ref.lower())), None)
    if found is None:
        return None
    noted, original = found
    for entry in known:
        body = entry.body
        if isinstance(body, ToolReturned) and (entry.lane, body.call) == (
            noted.lane,
            original.call,
        ):
            return entry
    return replace(noted, body=original_result(original))


def original_result(original: Original) -> ToolReturned:
    """Return the result that a note stores."""
    return ToolReturned(original.call, original.output, original.failed)


def originals_by_call(entries: Iterable[Entry]) -> dict[tuple[str, str], Original]:
    """Map agent and call to originals; of several, to the one that a stand-in replaces."""
    found: dict[tuple[str, str], Original] = {}
    for entry, original in notes_in(entries, Original):
        key = entry.lane, original.call
        if key not in found or found[key].before is None:
            found[key] = original
    return found


def with_original(
    draft: Draft, originals: Mapping[tuple[str, str], Original], count: Callable[[str], int]
) -> Draft:
    """Return a draft with the original in place of the host's stand-in.

    A hook only estimates sizes; here they are counted.
    """
    host_body = draft.body
    if isinstance(host_body, Compressed) and draft.hidden:
        return _with_token_counts(draft, host_body, count)
    if not originals or not isinstance(host_body, ToolReturned):
        return draft
    original = originals.get((draft.lane, host_body.call))
    if original is None or original.output == host_body.output:
        return draft
    whole = replace(original_result(original), failed=host_body.failed, media=host_body.media)
    step = Step(
        (),
        HOST_REASON,
        host_body,
        before=count_body(whole, count),
        after=count_body(host_body, count),
    )
    if original.before is not None:
        step = replace(step, reason=f"a result of {step.before:,} tokens", tier=1, kind="offload")
    return replace(draft, body=whole, instead=replace(step, file=original.file or ""))


def _with_token_counts(draft: Draft, body: Compressed, count: Callable[[str], int]) -> Draft:
    """Return a compression by the host with the counted sizes of the bodies that its steps hide."""
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


def repeats_erased(note: Entry, erased: Iterable[Entry]) -> bool:
    """Return whether a note repeats the text of entries that are to be erased."""
    match note_of(note.body):
        case Original(call=call):
            return any(
                isinstance(entry.body, ToolReturned)
                and (entry.lane, entry.body.call) == (note.lane, call)
                for entry in erased
            )
        case Prompted(text=text) if text.strip():
            return any(
                isinstance(entry.body, Said) and text.strip() in entry.body.text for entry in erased
            )
        case _:
            return False


def without_text(note: Entry, notice: str) -> Entry:
    """Return such a note with its texts replaced by a notice."""
    assert isinstance(note.body, Noted)
    replacements = {"output": notice, "text": notice}
    facts = {name: replacements.get(name, fact) for name, fact in note.body.facts.items()}
    return replace(note, body=Noted(note.body.what, facts))
