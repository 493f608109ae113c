"""What a session said about something: excerpts around where it stands, in sight or not.

An excerpt is data, never an instruction: it stands in a fence whose token is made from its own
text, so that nothing in it can close the fence.
"""

from collections.abc import Iterable
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Entry
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.view.search.readable import readable, speaker
from holdfast.core.view.search.rows import starts_step

REFERENCE = 12
"""Characters of an entry's name that a hit shows."""


class Hit(Struct, frozen=True):
    """A part of an entry that answers a question, and where it stands."""

    text: str
    ref: str
    score: float = 0.0
    """How much of what could have been found it holds: about 1 when all of it."""
    role: str = ""
    turn: int = 0
    """The agent's step it belongs to; 0 before the first."""
    first: int = 1
    """The number of its first line in the entry."""
    last: int = 1
    lines: int = 1
    """How many lines the entry has."""
    hidden: bool = False
    """Whether the entry is out of sight."""
    agent: str = ""
    session: str = ""


def part_of(
    wanted: Entry, entries: Iterable[Entry], *, first: int, last: int, hidden: bool
) -> Hit | None:
    """Some lines of one entry as it is read; nothing when it has no words."""
    text = readable(wanted.body)
    if not text:
        return None
    lines = text.split("\n")
    start, end = max(first, 1), min(last, len(lines))
    before = (one for one in entries if one.seq <= wanted.seq and one.lane == wanted.lane)
    return Hit(
        text="\n".join(lines[start - 1 : end]),
        ref=wanted.id[:REFERENCE],
        role=speaker(wanted.body),
        turn=sum(map(starts_step, before)),
        first=start,
        last=end,
        lines=len(lines),
        hidden=hidden,
        agent=wanted.lane,
    )


def fitted(hits: Iterable[Hit], count: CountTokens, budget: int) -> list[Hit]:
    """As many hits as a budget of tokens takes, fences included; a long one cut by lines."""
    taken: list[Hit] = []
    left = budget
    for one in hits:
        fitting = _cut(one, count, left)
        if fitting is None:
            break
        taken.append(fitting)
        left -= count(fenced(fitting))
    return taken


def _cut(one: Hit, count: CountTokens, left: int) -> Hit | None:
    """The hit with as many of its lines as fit; nothing when not even one does."""
    lines = one.text.split("\n")
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if count(fenced(_shortened(one, lines[:middle]))) <= left:
            low = middle
        else:
            high = middle - 1
    return _shortened(one, lines[:low]) if low else None


def _shortened(one: Hit, lines: list[str]) -> Hit:
    return replace(one, text="\n".join(lines), last=one.first + len(lines) - 1)


def within(hits: Iterable[Hit], count: CountTokens, budget: int) -> list[Hit]:
    """The best hits whose texts together take no more than a budget of tokens."""
    taken: list[Hit] = []
    for one in hits:
        size = count(one.text)
        if size > budget:
            # A smaller one behind it may still fit; a tenth of the room is not worth looking for.
            if not taken or budget > size // 10:
                continue
            break
        taken.append(one)
        budget -= size
    return taken


def fenced(one: Hit, *, named: bool = False) -> str:
    """A hit as data: its token is the beginning of its hash. With the session's name if `named`."""
    token = sha256(one.text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    where = "out of sight" if one.hidden else "in sight"
    agent = f", agent {one.agent}" if one.agent else ""
    place = f"lines {one.first}-{one.last} of {one.lines}"
    session = f"session {one.session}, " if named and one.session else ""
    head = f"{session}ref {one.ref}, {one.role}, step {one.turn}{agent}, {place}, {where}"
    return f"--- data {token}: {head} ---\n{one.text}\n--- end {token} ---"
