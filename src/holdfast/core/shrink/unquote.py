"""What quotes something that is gone, without what it quoted.

Rows that come from it go; of everything else that we wrote, the words go that stood nowhere but
there. What the user said says that it is gone.
"""

import re
from collections.abc import Iterable

from msgspec.structs import replace

from holdfast.core.ledger.entry import (
    Checkpointed,
    Compressed,
    Derived,
    Entry,
    EntryId,
    Handed,
    Noted,
    PacketReported,
    Resumed,
    Said,
    Step,
    ToolCalled,
    ToolReturned,
    is_ours,
    text_of,
)
from holdfast.core.ledger.erased import emptied_body
from holdfast.core.ledger.summary import Quote, Summary
from holdfast.core.shrink.summary.text import GENERATED, read, write
from holdfast.text.language import COMMON_WORDS
from holdfast.text.walk import worded

WORD = re.compile(r"\w{3,}")
JOINED = re.compile(r"[\w.\-/:@+=~%]{6,}")
"""Words, and what is joined of them: an address is one of a kind where its numbers are not."""
GONE = "[purged]"
ROWS = (
    *("constraints", "words", "files", "decisions", "findings", "facts", "errors", "next"),
    *("questions", "refs"),
)
"""Sections of a summary whose rows name the entry they were read from."""


def only_in(gone: Iterable[Entry], rest: Iterable[Entry]) -> frozenset[str]:
    """Words that stand in what goes and in nothing that was said otherwise.

    What we put in ourselves is no telling of its own: it repeats what was said.
    """
    words = {
        word
        for one in gone
        if not isinstance(one.body, Derived)
        for word in _words(text_of(one.body))
        # What stands in any text tells nothing of this one.
        if word.lower() not in COMMON_WORDS
    }
    for entry in rest:
        if not isinstance(entry.body, Derived) and not is_ours(entry.body):
            words = words.difference(_words(text_of(entry.body)))
    return frozenset(words)


def _words(text: str) -> list[str]:
    return [*JOINED.findall(text), *WORD.findall(text)]


def _without(text: str, lost: frozenset[str]) -> str:
    """A text without the words that are gone."""
    if lost.isdisjoint(_words(text)):
        return text
    for words in (JOINED, WORD):
        text = words.sub(lambda match: GONE if match[0] in lost else match[0], text)
    return text


def unquoted(entry: Entry, names: set[EntryId], lost: frozenset[str], notice: str) -> Entry:
    """An entry of ours that quotes nothing of what is gone; the very same when it did not."""
    body = entry.body
    if isinstance(body, Said) and is_ours(body):
        made = replace(body, text=_without(body.text, lost))
    elif isinstance(body, Compressed):
        steps = tuple(_unquoted_step(step, names, lost, notice) for step in body.steps)
        summary = _unquoted_rows(body.summary, names, lost, notice) if body.summary else None
        made = replace(body, steps=steps, summary=summary)
    elif isinstance(body, Checkpointed | Resumed):
        made = replace(body, summary=_unquoted_rows(body.summary, names, lost, notice))
    elif isinstance(body, Noted):
        made = Noted(body.what, {key: _without(fact, lost) for key, fact in body.facts.items()})
    elif isinstance(body, Handed | PacketReported):
        made = worded(body, lambda text, _: _without(text, lost))
    else:
        return entry
    return entry if made == body else replace(entry, body=made)


def _unquoted_step(step: Step, names: set[EntryId], lost: frozenset[str], notice: str) -> Step:
    body = step.stand_in
    if body is None:
        return step
    if isinstance(body, Said) and is_ours(body):
        return replace(step, stand_in=_unquoted_anchor(body, names, lost, notice))
    if names.intersection(step.hides):
        return replace(step, stand_in=emptied_body(body, notice), file="")
    if isinstance(body, Said):
        return replace(step, stand_in=replace(body, text=_without(body.text, lost)))
    if isinstance(body, ToolReturned):
        return replace(step, stand_in=replace(body, output=_without(body.output, lost)))
    if isinstance(body, ToolCalled):
        return replace(step, stand_in=replace(body, arguments=_without(body.arguments, lost)))
    return step


def _unquoted_anchor(body: Said, names: set[EntryId], lost: frozenset[str], notice: str) -> Said:
    """The summary that stands in a window, its rows about what is gone taken out."""
    known = read(body.text)
    if known is None:
        return replace(body, text=_without(body.text, lost))
    short = {name[:12] for name in names}
    session = body.text.partition("[")[2].partition("]")[0]
    left = _unquoted_rows(known, short, lost, notice)
    frame = "plain" if GENERATED in body.text else "brief"
    return body if left == known else replace(body, text=write(left, session=session, frame=frame))


def _unquoted_rows(
    summary: Summary, names: set[EntryId], lost: frozenset[str], notice: str
) -> Summary:
    """Rows that neither come from what is gone nor quote it; the user's own say that it is gone."""
    intent = summary.intent
    kept = replace(
        summary,
        intent=replace(
            intent,
            original=_said(intent.original, names, notice),
            current=_said(intent.current, names, notice),
            changes=tuple(one for one in intent.changes if one.entry not in names),
            original_rest=tuple(one for one in intent.original_rest if one.entry not in names),
            current_rest=tuple(one for one in intent.current_rest if one.entry not in names),
        ),
        **{
            section: tuple(row for row in getattr(summary, section) if row.entry not in names)
            for section in ROWS
        },
    )
    return worded(kept, lambda text, _: _without(text, lost))


def _said(quote: Quote, names: set[EntryId], notice: str) -> Quote:
    return replace(quote, text=notice) if quote.entry in names else quote


def quotes(raw: bytes, lost: frozenset[str]) -> bool:
    """Whether bytes hold any of the words that are gone."""
    return not lost.isdisjoint(_words(raw.decode("utf-8", "replace")))
