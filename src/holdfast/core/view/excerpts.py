"""What a session said about something: excerpts around where it stands, in sight or not.

An excerpt is data, never an instruction: it stands in a fence whose token is made from its own
text, so that nothing in it can close the fence.
"""

from collections.abc import Collection, Iterable, Iterator
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.entry import Derived, Entry, EntryId, Source, role_of, text_of
from holdfast.core.measure.tokens import CountTokens

LINES_BEFORE, LINES_AFTER = 2, 5
WIDTH = 240
"""Characters shown of a line."""


class Excerpt(Struct, frozen=True):
    """A part of an entry, and where it stands."""

    text: str
    ref: str
    role: str
    step: int
    """The agent's step it belongs to; 0 before the first."""
    first: int
    """The number of its first line in the entry."""
    last: int
    lines: int
    """How many lines the entry has."""
    hidden: bool = False
    """Whether the entry is out of sight."""
    agent: str = ""


class _Placed(Struct, frozen=True):
    entry: Entry
    body: Source
    step: int


def find_excerpts(
    query: str, entries: Iterable[Entry], in_sight: Collection[EntryId], *, limit: int = 5
) -> list[Excerpt]:
    """Where a query stands, whatever its case: what is out of sight first, then the newest.

    When it stands nowhere as it is, entries that hold all of its words are found instead.
    """
    placed = list(_placed(entries))
    words = query.lower().split()
    if not words or limit <= 0:
        return []
    whole = [one for one in placed if query.lower() in text_of(one.body).lower()]
    found = whole or [one for one in placed if _has_all(text_of(one.body).lower(), words)]
    needle = query.lower() if whole else max(words, key=len)
    newest = sorted(found, key=lambda one: (one.entry.id in in_sight, -one.entry.seq))
    around = (_around(one, needle, one.entry.id not in in_sight) for one in newest)
    # The same words again say nothing more: a file that was read twice is shown once.
    different: dict[str, Excerpt] = {}
    for one in around:
        different.setdefault(one.text, one)
        if len(different) == limit:
            break
    return list(different.values())


def _placed(entries: Iterable[Entry]) -> Iterator[_Placed]:
    steps: dict[str, int] = {}
    for entry in entries:
        body = entry.body
        if isinstance(body, Derived):
            continue
        if role_of(body) == "assistant" and entry.message == entry.seq:
            steps[entry.lane] = steps.get(entry.lane, 0) + 1
        yield _Placed(entry, body, steps.get(entry.lane, 0))


def _has_all(text: str, words: Iterable[str]) -> bool:
    return all(word in text for word in words)


def _around(one: _Placed, needle: str, hidden: bool) -> Excerpt:
    lines = text_of(one.body).split("\n")
    at = next((n for n, line in enumerate(lines) if needle in line.lower()), 0)
    start, end = max(at - LINES_BEFORE, 0), min(at + LINES_AFTER + 1, len(lines))
    shown = [_clipped(line, needle) for line in lines[start:end]]
    return _excerpt(one, "\n".join(shown), start + 1, end, len(lines), hidden)


def _clipped(line: str, needle: str) -> str:
    """A line, cut around what was looked for when it is long."""
    if len(line) <= WIDTH:
        return line
    at = max(line.lower().find(needle) - WIDTH // 3, 0)
    before, after = "…" if at else "", "…" if at + WIDTH < len(line) else ""
    return f"{before}{line[at : at + WIDTH]}{after}"


def _excerpt(one: _Placed, text: str, first: int, last: int, lines: int, hidden: bool) -> Excerpt:
    return Excerpt(
        text=text,
        ref=one.entry.id[:12],
        role=role_of(one.body),
        step=one.step,
        first=first,
        last=last,
        lines=lines,
        hidden=hidden,
        agent=one.entry.lane,
    )


def part_of(
    wanted: Entry, entries: Iterable[Entry], *, first: int, last: int, hidden: bool
) -> Excerpt | None:
    """Some lines of one entry, exact; nothing when it is no source entry."""
    one = next((one for one in _placed(entries) if one.entry.id == wanted.id), None)
    if one is None:
        return None
    lines = text_of(one.body).split("\n")
    start, end = max(first, 1), min(last, len(lines))
    return _excerpt(one, "\n".join(lines[start - 1 : end]), start, end, len(lines), hidden)


def fitted(excerpts: Iterable[Excerpt], count: CountTokens, budget: int) -> list[Excerpt]:
    """As many excerpts as a budget of tokens takes, fences included; a long one cut by lines."""
    taken: list[Excerpt] = []
    left = budget
    for one in excerpts:
        fitting = _cut(one, count, left)
        if fitting is None:
            break
        taken.append(fitting)
        left -= count(fenced(fitting))
    return taken


def _cut(one: Excerpt, count: CountTokens, left: int) -> Excerpt | None:
    """The excerpt with as many of its lines as fit; nothing when not even one does."""
    lines = one.text.split("\n")
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if count(fenced(_shortened(one, lines[:middle]))) <= left:
            low = middle
        else:
            high = middle - 1
    return _shortened(one, lines[:low]) if low else None


def _shortened(one: Excerpt, lines: list[str]) -> Excerpt:
    return replace(one, text="\n".join(lines), last=one.first + len(lines) - 1)


def fenced(one: Excerpt) -> str:
    """An excerpt as data: its token is the beginning of its hash."""
    token = sha256(one.text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    where = "out of sight" if one.hidden else "in sight"
    agent = f", agent {one.agent}" if one.agent else ""
    place = f"lines {one.first}-{one.last} of {one.lines}"
    head = f"ref {one.ref}, {one.role}, step {one.step}{agent}, {place}, {where}"
    return f"--- data {token}: {head} ---\n{one.text}\n--- end {token} ---"
