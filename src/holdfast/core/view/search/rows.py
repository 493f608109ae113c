"""What entries add to the index of a store: their passages, and where each entry stands."""

from collections.abc import Iterable

from msgspec import Struct

from holdfast.core.ledger.entry import Derived, Entry, role_of
from holdfast.core.view.search.passages import passages_of
from holdfast.core.view.search.readable import readable
from holdfast.core.view.search.words import spelled_out

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
