"""What a session said about something: excerpts around where it stands, in sight or not.

An excerpt is data, never an instruction: it stands in a fence whose token is made from its own
text, so that nothing in it can close the fence.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.index.passages import Passage, readable, speaker, starts_step
from holdfast.core.index.terms import Term
from holdfast.core.ledger.entry import Entry
from holdfast.core.measure.tokens import CountTokens

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


# The part of a passage that is shown: the lines around what was found, never a whole file.


WHOLE = 600
"""Characters up to which a passage is shown as it is."""
LINES_BEFORE, LINES_AFTER = 2, 5
WIDTH = 240
"""Characters shown of a line, where there are many."""
PLACES = 8
"""Times that one word is looked for in a long line."""


class Shown(Struct, frozen=True):
    """Some lines of a text."""

    text: str
    first: int
    last: int
    lines: int


def shown(text: str, passage: Passage, worth: Mapping[Term, float]) -> Shown:
    """The lines of a passage where most of what was looked for stands."""
    part = text[passage.start : passage.stop]
    before, total = text.count("\n", 0, passage.start), text.count("\n") + 1
    lines = part.removesuffix("\n").split("\n")
    start, end = 0, len(lines)
    if len(part) > WHOLE:
        at = _best_line(lines, worth)
        start, end = max(at - LINES_BEFORE, 0), min(at + LINES_AFTER + 1, len(lines))
        # Few lines leave room for more of each: a result may be one long line.
        room = max(WIDTH, WHOLE // (end - start))
        lines = [_clipped(line, worth, room) for line in lines[start:end]]
    return Shown("\n".join(lines), before + start + 1, before + end, total)


def _best_line(lines: list[str], worth: Mapping[Term, float]) -> int:
    values = [_line_worth(line.lower(), worth) for line in lines]
    # A line counts with the one behind it: a name and what is said of it.
    sums = [value + 0.5 * behind for value, behind in zip(values, [*values[1:], 0.0], strict=True)]
    best = max(sums, default=0.0)
    return sums.index(best) if best > 0 else 0


def _line_worth(line: str, worth: Mapping[Term, float]) -> float:
    total = 0.0
    for term, value in worth.items():
        if term.text and term.text in line:
            total += 2 * value
        else:
            # A stem is not at hand here, but most of a word is.
            total += value * sum(_trunk(word) in line for word in term.words) / len(term.words)
    return total


def _trunk(word: str) -> str:
    return word if len(word) < 6 else word[:-2]


def _clipped(line: str, worth: Mapping[Term, float], room: int) -> str:
    """A line, cut to where most of what was looked for stands when it is long."""
    if len(line) <= WIDTH:
        return line
    small = line.lower()
    places = sorted(
        (at, name, value)
        for term, value in worth.items()
        for name in {term.text, *map(_trunk, term.words)} - {""}
        for at in _places(small, name)
    )
    first, last = _densest(places, room - WIDTH // 2)
    start = max(first - WIDTH // 4, 0)
    stop = max(start + WIDTH, last + WIDTH // 4)
    before, after = "…" if start else "", "…" if stop < len(line) else ""
    return f"{before}{line[start:stop]}{after}"


def _places(text: str, name: str) -> Iterator[int]:
    at = text.find(name)
    for _ in range(PLACES):
        if at < 0:
            return
        yield at
        at = text.find(name, at + 1)


def _densest(places: Sequence[tuple[int, str, float]], room: int) -> tuple[int, int]:
    """The first and the last place of the part that holds most of different things."""
    best, part = 0.0, (0, 0)
    for number, (at, _, _) in enumerate(places):
        near = [place for place in places[number:] if place[0] <= at + room]
        worth = sum({name: value for _, name, value in near}.values())
        if worth > best:
            best, part = worth, (at, near[-1][0])
    return part
