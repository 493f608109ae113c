"""Texts cut into passages: what the index knows, and what a hit is a part of.

The cut depends on the text alone, so a passage is known by its number and need not be stored.
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
from holdfast.text.jsontext import Json, NotJson, parse
from holdfast.text.words import spelled_out

SIZE = 1_200
"""Characters of a passage: a screenful."""
MOST = 60_000
"""Passages of one text; a longer text has longer ones."""
VERSION = 2
"""Grows when texts are cut or spelled out otherwise: an index of another version is made again."""


class Passage(Struct, frozen=True):
    """A run of whole lines, or a piece of a very long one."""

    start: int
    stop: int


def passages_of(text: str) -> list[Passage]:
    """A text from beginning to end, in passages that end with a line where they can."""
    size = max(SIZE, len(text) // MOST + 1)
    if len(text) <= size + size // 4:
        return [Passage(0, len(text))]
    cut: list[Passage] = []
    start = 0
    while len(text) - start > size + size // 4:
        stop = _end(text, start, size)
        cut.append(Passage(start, stop))
        start = stop
    cut.append(Passage(start, len(text)))
    return cut


def _end(text: str, start: int, size: int) -> int:
    """Behind the last line that fits, else behind the last word, else where the room ends."""
    for sign in ("\n", " "):
        at = text.rfind(sign, start + size // 2, start + size)
        if at >= 0:
            return at + 1
    return start + size


# What an entry says to someone who looks for something: calls as lines, notes, summaries.


OURS = frozenset(
    (
        *("limit", "model", "original", "persisted", "postponed", "prompt", "summarizer"),
        *("anchored", "switched", "unpinned", "warned"),
    )
)
"""Notes that we make for ourselves, or that an entry tells as well: nobody looks for them."""


@rule("")
def readable(body: Body) -> str:
    """The text of a body as it is searched and shown in excerpts; empty when it says nothing."""
    match body:
        case ToolCalled():
            return _call(body)
        case Compressed():
            return _summary(body)
        case Noted():
            return _note(body)
        case _ if isinstance(body, Derived):
            return ""
        case _:
            return text_of(cast(Source, body))


def speaker(body: Body) -> str:
    """Who is shown as having said it."""
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


def _call(body: ToolCalled) -> str:
    """A call with its values written out: escapes would glue words together."""
    try:
        value, _ = parse(body.arguments.encode("utf-8", "surrogatepass"))
    except NotJson:  # A tool that takes a text as it is: a patch, a program.
        value = None
    if not isinstance(value, dict):
        return f"{body.tool} {body.arguments}"
    return "\n".join([body.tool, *(f"{name}: {_plain(part)}" for name, part in value.items())])


def _plain(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return " ".join(f"{name}: {_plain(part)}" for name, part in value.items())
    if isinstance(value, list):
        return " ".join(_plain(part) for part in value)
    return "" if value is None else str(value)


def _summary(body: Compressed) -> str:
    said = (step.stand_in for step in body.steps if step.tier == 3)
    return "\n".join(text_of(one) for one in said if one is not None)


def _note(body: Noted) -> str:
    return "" if body.what in OURS else "\n".join(_facts(body))


def _facts(body: Noted) -> Iterator[str]:
    yield body.what.replace("_", " ")
    for name, fact in body.facts.items():
        yield f"{name}: {fact}"


# What entries add to the index of a store: their passages, and where each entry stands.


LAST = 65_535
"""The largest number of a passage."""


class Mark(Struct, frozen=True):
    """How far a session is indexed."""

    seq: int = 0
    """The last entry that was looked at."""
    spots: int = 0
    """Entries with anything to find in them."""
    passages: int = 0
    steps: dict[str, int] = {}
    """Steps of each agent so far."""


class Rows(Struct, frozen=True):
    """What one batch adds."""

    before: Mark
    after: Mark
    spots: tuple[tuple[int, int, int], ...]
    """Place among the entries with text, number of the entry, step of the agent."""
    passages: tuple[tuple[int, int, str, str], ...]
    """Place, number of the passage, its text, and what of it has to be spelled out."""
    size: int = 0
    """Characters of it all."""


def rows_of(mark: Mark, entries: Iterable[Entry], *, most: int) -> Rows:
    """The rows of entries that follow a mark; of about as many characters as asked for."""
    seq, place, size = mark.seq, mark.spots, 0
    steps = dict(mark.steps)
    spots: list[tuple[int, int, int]] = []
    passages: list[tuple[int, int, str, str]] = []
    for entry in entries:
        if size >= most:
            break
        seq = entry.seq
        if starts_step(entry):
            steps[entry.lane] = steps.get(entry.lane, 0) + 1
        text = readable(entry.body)
        if not text:
            continue
        spots.append((place, seq, steps.get(entry.lane, 0)))
        for number, cut in enumerate(passages_of(text)[: LAST + 1]):
            part = storable(text[cut.start : cut.stop])
            passages.append((place, number, part, spelled_out(part)))
        place, size = place + 1, size + len(text)
    after = Mark(seq, place, mark.passages + len(passages), steps)
    return Rows(mark, after, tuple(spots), tuple(passages), size)


def starts_step(entry: Entry) -> bool:
    """Whether a step of the agent starts with this entry."""
    body = entry.body
    if isinstance(body, Derived) or entry.message != entry.seq:
        return False
    return role_of(body) == "assistant"


def storable(text: str) -> str:
    """Text that an engine takes: no end marks in it, and no half of a character."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
