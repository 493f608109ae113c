"""Make the rows of the search index: the searchable text of entries, cut into passages.

The cut depends only on the text, so the number of a passage identifies it, and its text need not
be stored twice.
"""

from collections.abc import Iterable, Iterator
from typing import cast

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import (
    Body,
    Compressed,
    Derived,
    Entry,
    Noted,
    Said,
    Source,
    ToolCalled,
    role_of,
    text_of,
)
from holdfast.core.ledger.notes import (
    Anchored,
    LevelWarned,
    LimitLearned,
    ModelNamed,
    Original,
    Persisted,
    Postponed,
    Prompted,
    SummarizerRefused,
    Switched,
    Unpinned,
)
from holdfast.text.jsontext import Json, NotJson, parse
from holdfast.text.utf8 import to_bytes
from holdfast.text.words import extra_index_words

PASSAGE_CHARS = 1_200
"""About a screenful."""
MAX_PASSAGES = 60_000
"""Of one text; a longer text has longer passages."""
INDEX_VERSION = 2
"""Increase it if texts are cut or split into words differently: older indexes are rebuilt."""


class Passage(Struct, frozen=True):
    """Some whole lines of a text, or a piece of a very long line."""

    start: int
    stop: int


def passages_of(text: str) -> list[Passage]:
    """Cut a text into passages that end with a line if possible."""
    size = max(PASSAGE_CHARS, len(text) // MAX_PASSAGES + 1)
    if len(text) <= size + size // 4:
        return [Passage(0, len(text))]
    passages: list[Passage] = []
    start = 0
    while len(text) - start > size + size // 4:
        stop = _passage_end(text, start, size)
        passages.append(Passage(start, stop))
        start = stop
    passages.append(Passage(start, len(text)))
    return passages


def _passage_end(text: str, start: int, size: int) -> int:
    """Return the position behind the last line that fits, else the last word, else `size`."""
    for sign in ("\n", " "):
        at = text.rfind(sign, start + size // 2, start + size)
        if at >= 0:
            return at + 1
    return start + size


# The searchable text of an entry: messages, calls as lines, notes, summaries.


UNSEARCHED_NOTES = frozenset(
    kind.what
    for kind in (
        *(LimitLearned, ModelNamed, Original, Persisted, Postponed, Prompted, SummarizerRefused),
        *(Anchored, Switched, Unpinned, LevelWarned),
    )
)
"""Notes for internal use, or with text that an entry has too: they are not searched."""


@rule("")
def searchable_text(body: Body) -> str:
    """Return the text of a body for search and excerpts; empty if it has none."""
    match body:
        case ToolCalled():
            return _call_text(body)
        case Compressed():
            return _summary_text(body)
        case Noted():
            return _note_text(body)
        case _ if isinstance(body, Derived):
            return ""
        case _:
            return text_of(cast(Source, body))


def speaker(body: Body) -> str:
    """Return the author of a body, as search results show it."""
    match body:
        case Compressed():
            return "summary"
        case Noted():
            return "note"
        case Said():
            return body.by or body.role
        case _ if isinstance(body, Derived):
            return ""
        case _:
            return role_of(cast(Source, body))


def _call_text(body: ToolCalled) -> str:
    """Return a call with its decoded values, because escapes would join words."""
    try:
        value, _ = parse(to_bytes(body.arguments))
    except NotJson:  # a tool with plain text as its argument: a patch, a program
        value = None
    if not isinstance(value, dict):
        return f"{body.tool} {body.arguments}"
    return "\n".join([body.tool, *(f"{name}: {_plain_text(part)}" for name, part in value.items())])


def _plain_text(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return " ".join(f"{name}: {_plain_text(part)}" for name, part in value.items())
    if isinstance(value, list):
        return " ".join(_plain_text(part) for part in value)
    return "" if value is None else str(value)


def _summary_text(body: Compressed) -> str:
    stand_ins = (step.stand_in for step in body.steps if step.tier == 3)
    return "\n".join(text_of(stand_in) for stand_in in stand_ins if stand_in is not None)


def _note_text(body: Noted) -> str:
    return "" if body.what in UNSEARCHED_NOTES else "\n".join(_note_lines(body))


def _note_lines(body: Noted) -> Iterator[str]:
    yield body.what.replace("_", " ")
    for name, fact in body.facts.items():
        yield f"{name}: {fact}"


# The rows that entries add to the index of a store.


MAX_PASSAGE_NUMBER = 65_535
"""The largest number of a passage."""


class IndexMark(Struct, frozen=True):
    """The progress of indexing a session."""

    seq: int = 0
    """The number of the last entry that was read."""
    spots: int = 0
    """The number of entries with searchable text."""
    passages: int = 0
    steps: dict[str, int] = {}
    """The number of steps of each agent."""


class IndexRows(Struct, frozen=True):
    """The rows that one batch adds to the index."""

    before: IndexMark
    after: IndexMark
    spots: tuple[tuple[int, int, int], ...]
    """Place among the entries with text, number of the entry, step of the agent."""
    passages: tuple[tuple[int, int, str, str], ...]
    """Place, number of the passage, its text, and the extra words to index for it."""
    size: int = 0
    """Characters of all texts."""


def index_rows(mark: IndexMark, entries: Iterable[Entry], *, max_chars: int) -> IndexRows:
    """Return the rows of the entries after a mark, until they have about `max_chars` characters."""
    seq, place, size = mark.seq, mark.spots, 0
    steps = dict(mark.steps)
    spots: list[tuple[int, int, int]] = []
    passages: list[tuple[int, int, str, str]] = []
    for entry in entries:
        if size >= max_chars:
            break
        seq = entry.seq
        if starts_step(entry):
            steps[entry.lane] = steps.get(entry.lane, 0) + 1
        text = searchable_text(entry.body)
        if not text:
            continue
        spots.append((place, seq, steps.get(entry.lane, 0)))
        for number, passage in enumerate(passages_of(text)[: MAX_PASSAGE_NUMBER + 1]):
            part = storable(text[passage.start : passage.stop])
            passages.append((place, number, part, extra_index_words(part)))
        place, size = place + 1, size + len(text)
    after = IndexMark(seq, place, mark.passages + len(passages), steps)
    return IndexRows(mark, after, tuple(spots), tuple(passages), size)


def starts_step(entry: Entry) -> bool:
    """Whether an entry starts a step of the agent."""
    body = entry.body
    if isinstance(body, Derived) or entry.message != entry.seq:
        return False
    return role_of(body) == "assistant"


def storable(text: str) -> str:
    """Replace NUL characters and lone surrogates, which a search engine cannot store."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
