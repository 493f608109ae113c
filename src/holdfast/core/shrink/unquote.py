"""Remove quotations of purged entries from the summaries, stand-ins and notes that we wrote.

Rows that were read from a purged entry are removed. In all other texts of ours, words that occurred
in no other entry are replaced. A purged request is replaced by a notice.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    Checkpointed,
    Compressed,
    Derived,
    Entry,
    EntryId,
    Noted,
    PacketReported,
    PacketSent,
    Resumed,
    Said,
    Step,
    ToolCalled,
    ToolReturned,
    is_ours,
    text_of,
)
from holdfast.core.ledger.erased import erase_body
from holdfast.core.ledger.summary import Quote, Summary
from holdfast.core.shrink.summary.text import GENERATED, read_summary, write_summary
from holdfast.text.language import COMMON_WORDS
from holdfast.text.patterns import Pattern
from holdfast.text.walk import map_texts

WORD = Pattern(r"\w{3,}")
JOINED = Pattern(r"[\w.\-/:@+=~%]{6,}")
"""Matches joined words too, such as "10.0.0.7:80": an address may be unique though its parts are
common. Must not match "port"."""
PURGED_WORD = "[purged]"
ROW_SECTIONS = (
    *("constraints", "words", "files", "decisions", "facts", "errors", "next"),
    *("questions", "refs"),
)
"""Sections of a summary whose rows name the entry they were read from."""


def words_only_in(purged: Iterable[Entry], rest: Iterable[Entry]) -> frozenset[str]:
    """Return the words that occur in purged entries and in no other entry.

    Entries that we wrote do not count as other entries: they repeat texts of the record.
    """
    words = {
        word
        for entry in purged
        if not isinstance(entry.body, Derived)
        for word in _words(text_of(entry.body))
        # A common word reveals nothing about the purged text.
        if word.lower() not in COMMON_WORDS
    }
    for entry in rest:
        if not isinstance(entry.body, Derived) and not is_ours(entry.body):
            words = words.difference(_words(text_of(entry.body)))
    return frozenset(words)


def _words(text: str) -> list[str]:
    return [*JOINED.findall(text), *WORD.findall(text)]


def _replace_words(text: str, purged: frozenset[str]) -> str:
    """Replace purged words in a text."""
    if purged.isdisjoint(_words(text)):
        return text
    for words in (JOINED, WORD):
        text = words.sub(lambda match: PURGED_WORD if match[0] in purged else match[0], text)
    return text


def purge_quotes(
    entry: Entry, purged_ids: set[EntryId], purged: frozenset[str], notice: str
) -> Entry:
    """Return an entry of ours without quotations of purged entries; itself if it has none."""
    body = entry.body
    if isinstance(body, Said) and is_ours(body):
        changed = replace(body, text=_replace_words(body.text, purged))
    elif isinstance(body, Compressed):
        steps = tuple(_purge_step(step, purged_ids, purged, notice) for step in body.steps)
        summary = _purge_rows(body.summary, purged_ids, purged, notice) if body.summary else None
        changed = replace(body, steps=steps, summary=summary)
    elif isinstance(body, Checkpointed | Resumed):
        changed = replace(body, summary=_purge_rows(body.summary, purged_ids, purged, notice))
    elif isinstance(body, Noted):
        changed = Noted(
            body.what, {key: _replace_words(fact, purged) for key, fact in body.facts.items()}
        )
    elif isinstance(body, PacketSent | PacketReported):
        changed = map_texts(body, lambda text, _: _replace_words(text, purged))
    else:
        return entry
    return entry if changed == body else replace(entry, body=changed)


def _purge_step(step: Step, purged_ids: set[EntryId], purged: frozenset[str], notice: str) -> Step:
    body = step.stand_in
    if body is None:
        return step
    if isinstance(body, Said) and is_ours(body):
        return replace(step, stand_in=_purge_anchor(body, purged_ids, purged, notice))
    if purged_ids.intersection(step.hides):
        return replace(step, stand_in=erase_body(body, notice), file="")
    if isinstance(body, Said):
        return replace(step, stand_in=replace(body, text=_replace_words(body.text, purged)))
    if isinstance(body, ToolReturned):
        return replace(step, stand_in=replace(body, output=_replace_words(body.output, purged)))
    if isinstance(body, ToolCalled):
        return replace(
            step, stand_in=replace(body, arguments=_replace_words(body.arguments, purged))
        )
    return step


def _purge_anchor(
    body: Said, purged_ids: set[EntryId], purged: frozenset[str], notice: str
) -> Said:
    """Remove the rows about purged entries from a summary in a window."""
    known = read_summary(body.text)
    if known is None:
        return replace(body, text=_replace_words(body.text, purged))
    short_ids = {name[:12] for name in purged_ids}
    session = body.text.partition("[")[2].partition("]")[0]
    left = _purge_rows(known, short_ids, purged, notice)
    frame = "plain" if GENERATED in body.text else "brief"
    return (
        body
        if left == known
        else replace(body, text=write_summary(left, session=session, frame=frame))
    )


def _purge_rows(
    summary: Summary, purged_ids: set[EntryId], purged: frozenset[str], notice: str
) -> Summary:
    """Remove rows that come from purged entries, and replace purged requests by the notice."""
    intent = summary.intent
    remaining = replace(
        summary,
        intent=replace(
            intent,
            original=_purge_quote(intent.original, purged_ids, notice),
            current=_purge_quote(intent.current, purged_ids, notice),
            changes=tuple(quote for quote in intent.changes if quote.entry not in purged_ids),
            original_rest=tuple(
                quote for quote in intent.original_rest if quote.entry not in purged_ids
            ),
            current_rest=tuple(
                quote for quote in intent.current_rest if quote.entry not in purged_ids
            ),
        ),
        **{
            section: tuple(row for row in getattr(summary, section) if row.entry not in purged_ids)
            for section in ROW_SECTIONS
        },
    )
    return map_texts(remaining, lambda text, _: _replace_words(text, purged))


def _purge_quote(quote: Quote, purged_ids: set[EntryId], notice: str) -> Quote:
    return replace(quote, text=notice) if quote.entry in purged_ids else quote


def holds_any_word(raw: bytes, words: frozenset[str]) -> bool:
    """Return whether UTF-8 text contains one of the words."""
    return not words.isdisjoint(_words(raw.decode("utf-8", "replace")))
