"""Replace the secrets in entries, windows and summaries by marks.

Redaction is by value: a secret that is found in one entry is replaced in every entry. The mark
states the kind of the secret and the entry that first held it, so that its owner can read it there.
Ids of entries and line counts of texts do not change. Only `read`, `messages` and `export` show the
original.

Redact before you extract facts from an entry or cut a text: a secret that was cut in half can no
longer be detected.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

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
    Noted,
    Opaque,
    PacketCleared,
    PacketRead,
    PacketReported,
    PacketSent,
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
from holdfast.core.ledger.window import GrowingList, Item, Window
from holdfast.text.jsontext import NotJson, encode, parse
from holdfast.text.secrets import MARK_START, MIN_CHARS_EVERYWHERE, find_secrets
from holdfast.text.utf8 import to_bytes
from holdfast.text.walk import map_texts, texts_in

REF_CHARS = 12
MAX_VALUES_SEARCHED_SINGLY = 48
"""Up to this number of values, each one is searched for separately."""


class KnownSecrets(Struct, frozen=True):
    """The secrets that are known in a session."""

    patterns: tuple[re.Pattern[str], ...] = ()
    """Patterns from the user's policy."""
    marks: Mapping[str, str] = {}
    """By secret value: the mark that replaces it."""
    clean: frozenset[EntryId] = frozenset()
    """Entries without a secret of their own: they are not searched again."""


def mark_for(kind: str, entry: str = "") -> str:
    """Return the mark that replaces a secret of this kind, first held by `entry`."""
    return f"{MARK_START}{kind}#{entry[:REF_CHARS]}]" if entry else f"{MARK_START}{kind}]"


def learn_secrets(known: KnownSecrets, entries: Iterable[Entry]) -> KnownSecrets:
    """Add the secrets in more entries; a mark names the first entry that holds the secret."""
    marks = dict(known.marks)
    clean: set[EntryId] = set()
    for entry in entries:
        texts = [(text, find_secrets(text, known.patterns)) for text in _texts(entry.body)]
        if texts and not any(secrets for _, secrets in texts):
            clean.add(entry.id)
        for text, secrets in texts:
            for secret in secrets:
                if secret.everywhere:
                    marks.setdefault(
                        text[secret.start : secret.end], mark_for(secret.kind, entry.id)
                    )
    return replace(known, marks=marks, clean=known.clean | clean)


def _texts(body: Body) -> Iterable[str]:
    """Return the texts of a body that are searched for new secrets."""
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


def _hide_text(text: str, known: KnownSecrets, entry: str = "") -> str:
    """Return only a mark: the fallback for a text that could not be searched."""
    del text, known
    return mark_for("unsearched", entry)


@rule_or(_hide_text)
def redact_text(text: str, known: KnownSecrets, entry: str = "") -> str:
    """Return a text with marks for the known secrets and for those detected in it."""
    for value in _values_in(text, known.marks):
        text = text.replace(value, known.marks[value])
    secrets = find_secrets(text, known.patterns)
    if not secrets:
        return text
    parts: list[str] = []
    at = 0
    for secret in secrets:
        parts += [text[at : secret.start], mark_for(secret.kind, entry)]
        at = secret.end
    return "".join([*parts, text[at:]])


def _values_in(text: str, marks: Mapping[str, str]) -> list[str]:
    """Return the values that occur in a text, longest first: one may be a prefix of another."""
    if not marks or len(text) < MIN_CHARS_EVERYWHERE:
        return []
    if len(marks) <= MAX_VALUES_SEARCHED_SINGLY:
        present = (value for value in marks if value in text)
    else:
        heads = {value[:MIN_CHARS_EVERYWHERE] for value in marks}
        ends = range(MIN_CHARS_EVERYWHERE, len(text) + 1)
        seen = heads.intersection(text[end - MIN_CHARS_EVERYWHERE : end] for end in ends)
        present = (v for v in marks if v[:MIN_CHARS_EVERYWHERE] in seen and v in text)
    return sorted(present, key=lambda value: (-len(value), value))


def redact_entry(entry: Entry, known: KnownSecrets) -> Entry:
    """Return an entry without secrets; the same object if it has none."""
    searched = entry.id in known.clean
    if searched and not any(_values_in(text, known.marks) for text in _texts(entry.body)):
        return entry
    body = _redact_body(entry.body, known, entry.id)
    return entry if body is entry.body else replace(entry, body=body)


def redact_window(
    window: Window,
    known: KnownSecrets,
    ledger: Sequence[Entry],
    stand_ins: Mapping[EntryId, tuple[Source, Source]] = MappingProxyType({}),
) -> Window:
    """Return a window without secrets; `ledger` are its entries, already redacted.

    `stand_ins` are some that were redacted before with the same secrets, by the item's entry.
    """
    by_id = {entry.id: entry for entry in ledger}
    items = (_redact_item(item, known, by_id, stand_ins) for item in window.items)
    return Window(
        window.lane, window.end, window.generation, GrowingList(items), GrowingList(ledger)
    )


def _redact_item(
    item: Item,
    known: KnownSecrets,
    ledger: Mapping[str, Entry],
    stand_ins: Mapping[EntryId, tuple[Source, Source]],
) -> Item:
    entry = ledger.get(item.entry.id) or redact_entry(item.entry, known)
    if item.stand_in is None:
        return item if entry is item.entry else Item(entry, item.covers)
    before, redacted = stand_ins.get(item.entry.id, (None, None))
    if redacted is None or before is not item.stand_in:
        redacted = redact_source(item.stand_in, known, item.entry.id)
    return Item(entry, item.covers, redacted)


def _redact_body(body: Body, known: KnownSecrets, entry: str) -> Body:
    match body:
        case Compressed():
            return _redact_compression(body, known)
        case Checkpointed() | Resumed():
            summary = redact_summary(body.summary, known)
            return body if summary == body.summary else replace(body, summary=summary)
        case Noted():
            facts = {name: redact_text(fact, known, entry) for name, fact in body.facts.items()}
            return body if facts == body.facts else Noted(body.what, facts)
        case PacketSent() | PacketReported():
            redacted = map_texts(body, lambda text, own: redact_text(text, known, own), entry)
            return body if redacted == body else redacted
        case Restored() | Compacted() | Used() | PacketCleared() | PacketRead() | Unread():
            return body
        case _:
            return redact_source(body, known, entry)


def redact_source(body: Source, known: KnownSecrets, entry: str = "") -> Source:
    """Return a source body without secrets; the same object if it has none."""
    match body:
        case Said() | Thought():
            text = redact_text(body.text, known, entry)
            return body if text == body.text else replace(body, text=text)
        case ToolReturned():
            text = redact_text(body.output, known, entry)
            return body if text == body.output else replace(body, output=text)
        case ToolCalled():
            text = _redact_json(body.arguments, known, entry)
            return body if text == body.arguments else replace(body, arguments=text)
        case Opaque():
            text = _redact_json(body.json, known, entry)
            return body if text == body.json else replace(body, json=text)
        case Attached():
            return body


def _redact_json(text: str, known: KnownSecrets, entry: str) -> str:
    """Return redacted JSON that is still valid, also if a user's pattern matched quotes."""
    redacted = redact_text(text, known, entry)
    if redacted == text or not _is_json(text) or _is_json(redacted):
        return redacted
    return encode({"redacted": mark_for("pattern", entry)}).decode()


def _is_json(text: str) -> bool:
    try:
        parse(to_bytes(text))
    except (NotJson, RecursionError):
        return False
    return True


def _redact_compression(body: Compressed, known: KnownSecrets) -> Compressed:
    steps = tuple(_redact_step(step, known) for step in body.steps)
    summary = redact_summary(body.summary, known) if body.summary is not None else None
    redacted = replace(body, steps=steps, summary=summary)
    return body if redacted == body else redacted


def _redact_step(step: Step, known: KnownSecrets) -> Step:
    stand_in = step.stand_in
    redacted = redact_source(stand_in, known, step.hides[0]) if stand_in is not None else None
    return step if redacted is stand_in else replace(step, stand_in=redacted)


def redact_summary(summary: Summary, known: KnownSecrets) -> Summary:
    """Return a summary without secrets; the marks of a row name the entry of that row."""
    whole = "\n".join(texts_in(summary))
    if redact_text(whole, known) == whole:
        return summary
    return map_texts(summary, lambda text, entry: redact_text(text, known, entry))
