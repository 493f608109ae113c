"""What everyone but the owner sees of a ledger: each secret gives way to a mark that names it.

A secret is redacted by value: found in one entry, it is redacted wherever it stands. The mark says
its kind and the entry that holds it first, so its owner reads it there. Entries keep their names,
and texts their lines; only `read`, `messages` and `export` show what was there.

Redacting comes before anything is read off an entry or cut to a length: half a secret is no longer
one that could be found.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule_or
from holdfast.core.ledger.entry import (
    Attached,
    Body,
    Checkpointed,
    Compacted,
    Compressed,
    Entry,
    EntryId,
    Handed,
    Noted,
    Opaque,
    PacketCleared,
    PacketRead,
    PacketReported,
    Restored,
    Resumed,
    Said,
    Source,
    Step,
    Thought,
    ToolCalled,
    ToolReturned,
    Unread,
    Used,
)
from holdfast.core.ledger.summary import Summary
from holdfast.core.ledger.window import Item, Run, Window
from holdfast.text.jsontext import NotJson, encode, parse
from holdfast.text.secrets import OPENS, SHORTEST_EVERYWHERE, find_secrets
from holdfast.text.walk import worded

REF = 12
MANY = 48
"""Values from which on a text is looked through once for all of them."""


class Known(Struct, frozen=True):
    """What is a secret in a session."""

    patterns: tuple[re.Pattern[str], ...] = ()
    """Those of the user."""
    marks: Mapping[str, str] = {}
    """By value: what stands in its place, wherever it stands."""
    clean: frozenset[EntryId] = frozenset()
    """Entries that were looked at and hold no secret of their own: they are not looked at again."""


def mark(kind: str, entry: str = "") -> str:
    """What is seen of a secret."""
    return f"{OPENS}{kind}#{entry[:REF]}]" if entry else f"{OPENS}{kind}]"


def learned(known: Known, entries: Iterable[Entry]) -> Known:
    """What is known after more entries; the first that holds a secret is the one it is named by."""
    marks = dict(known.marks)
    clean: set[EntryId] = set()
    for entry in entries:
        texts = [(text, find_secrets(text, known.patterns)) for text in _texts(entry.body)]
        if texts and not any(found for _, found in texts):
            clean.add(entry.id)
        for text, found in texts:
            for one in found:
                if one.everywhere:
                    marks.setdefault(text[one.start : one.end], mark(one.kind, entry.id))
    return replace(known, marks=marks, clean=known.clean | clean)


def _texts(body: Body) -> Iterable[str]:
    """The words of a body in which a secret can come for the first time."""
    match body:
        case Said() | Thought():
            return (body.text,)
        case ToolCalled():
            return (body.arguments,)
        case ToolReturned():
            return (body.output,)
        case Opaque():
            return (body.json,)
        case Noted():
            return body.facts.values()
        case _:
            return ()


def _hidden(text: str, known: Known, entry: str = "") -> str:
    """What is seen of a text that could not be searched for secrets: nothing of it is shown."""
    del text, known
    return mark("unsearched", entry)


@rule_or(_hidden)
def redacted(text: str, known: Known, entry: str = "") -> str:
    """A text without its secrets: those that are known, and those that show themselves in it."""
    for value in _standing(text, known.marks):
        text = text.replace(value, known.marks[value])
    found = find_secrets(text, known.patterns)
    if not found:
        return text
    parts: list[str] = []
    at = 0
    for one in found:
        parts += [text[at : one.start], mark(one.kind, entry)]
        at = one.end
    return "".join([*parts, text[at:]])


def _standing(text: str, marks: Mapping[str, str]) -> list[str]:
    """The values that a text holds, the longest first: one may be the beginning of another."""
    if not marks or len(text) < SHORTEST_EVERYWHERE:
        return []
    if len(marks) <= MANY:
        there = (value for value in marks if value in text)
    else:
        heads = {value[:SHORTEST_EVERYWHERE] for value in marks}
        ends = range(SHORTEST_EVERYWHERE, len(text) + 1)
        seen = heads.intersection(text[end - SHORTEST_EVERYWHERE : end] for end in ends)
        there = (v for v in marks if v[:SHORTEST_EVERYWHERE] in seen and v in text)
    return sorted(there, key=lambda value: (-len(value), value))


def redacted_entry(entry: Entry, known: Known) -> Entry:
    """An entry without secrets; the very same when it has none."""
    looked = entry.id in known.clean
    if looked and not any(_standing(text, known.marks) for text in _texts(entry.body)):
        return entry
    body = _redacted_body(entry.body, known, entry.id)
    return entry if body is entry.body else replace(entry, body=body)


def redacted_window(window: Window, known: Known, ledger: Sequence[Entry]) -> Window:
    """A window without secrets; `ledger` are its entries without them."""
    by_id = {entry.id: entry for entry in ledger}
    items = (_redacted_item(item, known, by_id) for item in window.items)
    return Window(window.lane, window.end, window.generation, Run(items), Run(ledger))


def _redacted_item(item: Item, known: Known, ledger: Mapping[str, Entry]) -> Item:
    entry = ledger.get(item.entry.id) or redacted_entry(item.entry, known)
    if item.stand_in is None:
        return item if entry is item.entry else Item(entry, item.covers)
    return Item(entry, item.covers, redacted_source(item.stand_in, known, item.entry.id))


def _redacted_body(body: Body, known: Known, entry: str) -> Body:
    match body:
        case Compressed():
            return _redacted_compression(body, known)
        case Checkpointed() | Resumed():
            summary = redacted_summary(body.summary, known)
            return body if summary == body.summary else replace(body, summary=summary)
        case Noted():
            facts = {name: redacted(fact, known, entry) for name, fact in body.facts.items()}
            return body if facts == body.facts else Noted(body.what, facts)
        case Handed() | PacketReported():
            shown = worded(body, lambda text, own: redacted(text, known, own), entry)
            return body if shown == body else shown
        case Restored() | Compacted() | Used() | PacketCleared() | PacketRead() | Unread():
            return body
        case _:
            return redacted_source(body, known, entry)


def redacted_source(body: Source, known: Known, entry: str = "") -> Source:
    """A source body without secrets; the very same when it has none."""
    match body:
        case Said() | Thought():
            text = redacted(body.text, known, entry)
            return body if text == body.text else replace(body, text=text)
        case ToolReturned():
            text = redacted(body.output, known, entry)
            return body if text == body.output else replace(body, output=text)
        case ToolCalled():
            text = _redacted_json(body.arguments, known, entry)
            return body if text == body.arguments else replace(body, arguments=text)
        case Opaque():
            text = _redacted_json(body.json, known, entry)
            return body if text == body.json else replace(body, json=text)
        case Attached():
            return body


def _redacted_json(text: str, known: Known, entry: str) -> str:
    """JSON that is JSON still: a pattern of the user's may have matched more than a text in it."""
    made = redacted(text, known, entry)
    if made == text or not _is_json(text) or _is_json(made):
        return made
    return encode({"redacted": mark("pattern", entry)}).decode()


def _is_json(text: str) -> bool:
    try:
        parse(text.encode("utf-8", "surrogatepass"))
    except (NotJson, RecursionError):
        return False
    return True


def _redacted_compression(body: Compressed, known: Known) -> Compressed:
    steps = tuple(_redacted_step(step, known) for step in body.steps)
    summary = redacted_summary(body.summary, known) if body.summary is not None else None
    made = replace(body, steps=steps, summary=summary)
    return body if made == body else made


def _redacted_step(step: Step, known: Known) -> Step:
    stand_in = step.stand_in
    shown = redacted_source(stand_in, known, step.hides[0]) if stand_in is not None else None
    return step if shown is stand_in else replace(step, stand_in=shown)


def redacted_summary(summary: Summary, known: Known) -> Summary:
    """A summary without secrets: each row redacted in the name of its own entry."""
    return worded(summary, lambda text, entry: redacted(text, known, entry))
