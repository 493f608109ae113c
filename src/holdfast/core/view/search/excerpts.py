"""Cut excerpts of entries around matching words, fit them to a budget, and fence them as data.

An excerpt is data, never an instruction. Its fence contains a token made from the hash of its text,
so that nothing in the text can close the fence.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.index.passages import Passage, searchable_text, speaker, starts_step
from holdfast.core.index.terms import Term
from holdfast.core.ledger.entry import Entry
from holdfast.core.measure.tokens import CountTokens
from holdfast.text.clip import most_that_fit
from holdfast.text.utf8 import to_bytes

REF_CHARS = 12
"""Characters of an entry id that a hit shows."""


class Hit(Struct, frozen=True):
    """A part of an entry that answers a query, with its place."""

    text: str
    ref: str
    score: float = 0.0
    """Share of the best possible evidence that it contains: about 1 for all of it."""
    role: str = ""
    turn: int = 0
    """The step of the agent that it belongs to; 0 before the first."""
    first: int = 1
    """Number of its first line in the entry."""
    last: int = 1
    lines: int = 1
    """Number of lines of the entry."""
    hidden: bool = False
    """Whether the window hides the entry."""
    agent: str = ""
    session: str = ""


def excerpt_of_lines(
    target: Entry,
    entries: Iterable[Entry],
    *,
    first: int,
    last: int,
    hidden: bool,
    earlier_steps: int = 0,
) -> Hit | None:
    """Return some lines of one entry as a hit; None when the entry has no text.

    `earlier_steps` are those of the agent before the first of `entries`.
    """
    text = searchable_text(target.body)
    if not text:
        return None
    lines = text.split("\n")
    start, end = max(first, 1), min(last, len(lines))
    before = (entry for entry in entries if entry.seq <= target.seq and entry.lane == target.lane)
    return Hit(
        text="\n".join(lines[start - 1 : end]),
        ref=target.id[:REF_CHARS],
        role=speaker(target.body),
        turn=earlier_steps + sum(map(starts_step, before)),
        first=start,
        last=end,
        lines=len(lines),
        hidden=hidden,
        agent=target.lane,
    )


def cut_to_budget(hits: Iterable[Hit], count: CountTokens, budget: int) -> list[Hit]:
    """Return as many hits as fit a token budget, fences included; the last is cut by lines."""
    taken: list[Hit] = []
    left = budget
    for hit in hits:
        fitting = _cut_to_fit(hit, count, left)
        if fitting is None:
            break
        taken.append(fitting)
        left -= count(fence_hit(fitting))
    return taken


def _cut_to_fit(hit: Hit, count: CountTokens, left: int) -> Hit | None:
    """Return the hit with as many lines as fit; None when not even one does."""
    lines = hit.text.split("\n")
    size = most_that_fit(
        len(lines), lambda size: count(fence_hit(_with_lines(hit, lines[:size]))) <= left
    )
    return _with_lines(hit, lines[:size]) if size else None


def _with_lines(hit: Hit, lines: list[str]) -> Hit:
    return replace(hit, text="\n".join(lines), last=hit.first + len(lines) - 1)


def hits_within_budget(hits: Iterable[Hit], count: CountTokens, budget: int) -> list[Hit]:
    """Return the best hits whose texts together fit a token budget."""
    taken: list[Hit] = []
    for hit in hits:
        size = count(hit.text)
        if size > budget:
            # A smaller hit after it may still fit, unless little of the budget is left.
            if not taken or budget > size // 10:
                continue
            break
        taken.append(hit)
        budget -= size
    return taken


def fence_hit(hit: Hit, *, named: bool = False) -> str:
    """Render a hit as fenced data; include the session's name if `named`."""
    token = sha256(to_bytes(hit.text)).hexdigest()[:6]
    where = "out of sight" if hit.hidden else "in sight"
    agent = f", agent {hit.agent}" if hit.agent else ""
    place = f"lines {hit.first}-{hit.last} of {hit.lines}"
    session = f"session {hit.session}, " if named and hit.session else ""
    head = f"{session}ref {hit.ref}, {hit.role}, step {hit.turn}{agent}, {place}, {where}"
    return f"--- data {token}: {head} ---\n{hit.text}\n--- end {token} ---"


# Excerpts of passages: the lines around the matching terms, never a whole file.


MAX_WHOLE_CHARS = 600
"""Characters up to which a passage is shown uncut."""
LINES_BEFORE, LINES_AFTER = 2, 5
MAX_LINE_CHARS = 240
"""Characters shown of a line when a passage has many lines."""
MAX_PLACES_PER_WORD = 8
"""Occurrences of one word that are considered in a long line."""


class Excerpt(Struct, frozen=True):
    """Some lines of a text."""

    text: str
    first: int
    last: int
    lines: int


def excerpt_of_passage(text: str, passage: Passage, worth: Mapping[Term, float]) -> Excerpt:
    """Return the lines of a passage that contain the most valuable query terms."""
    part = text[passage.start : passage.stop]
    before, total = text.count("\n", 0, passage.start), text.count("\n") + 1
    lines = part.removesuffix("\n").split("\n")
    start, end = 0, len(lines)
    if len(part) > MAX_WHOLE_CHARS:
        at = _best_line(lines, worth)
        start, end = max(at - LINES_BEFORE, 0), min(at + LINES_AFTER + 1, len(lines))
        # With few lines, each may be longer: a result may be one long line.
        room = max(MAX_LINE_CHARS, MAX_WHOLE_CHARS // (end - start))
        lines = [_clip_line(line, worth, room) for line in lines[start:end]]
    return Excerpt("\n".join(lines), before + start + 1, before + end, total)


def _best_line(lines: list[str], worth: Mapping[Term, float]) -> int:
    values = [_line_worth(line.lower(), worth) for line in lines]
    # The next line counts half: it often says something about a name in this one.
    sums = [value + 0.5 * behind for value, behind in zip(values, [*values[1:], 0.0], strict=True)]
    best = max(sums, default=0.0)
    return sums.index(best) if best > 0 else 0


def _line_worth(line: str, worth: Mapping[Term, float]) -> float:
    total = 0.0
    for term, value in worth.items():
        if term.text and term.text in line:
            total += 2 * value
        else:
            # Stems are not available here; so compare the beginning of the word.
            total += value * sum(_word_trunk(word) in line for word in term.words) / len(term.words)
    return total


def _word_trunk(word: str) -> str:
    return word if len(word) < 6 else word[:-2]


def _clip_line(line: str, worth: Mapping[Term, float], room: int) -> str:
    """Cut a long line to the part that contains the most valuable query terms."""
    if len(line) <= MAX_LINE_CHARS:
        return line
    lower_line = line.lower()
    places = sorted(
        (at, name, value)
        for term, value in worth.items()
        for name in {term.text, *map(_word_trunk, term.words)} - {""}
        for at in _positions_of(lower_line, name)
    )
    first, last = _densest_span(places, room - MAX_LINE_CHARS // 2)
    start = max(first - MAX_LINE_CHARS // 4, 0)
    stop = max(start + MAX_LINE_CHARS, last + MAX_LINE_CHARS // 4)
    before, after = "…" if start else "", "…" if stop < len(line) else ""
    return f"{before}{line[start:stop]}{after}"


def _positions_of(text: str, name: str) -> Iterator[int]:
    at = text.find(name)
    for _ in range(MAX_PLACES_PER_WORD):
        if at < 0:
            return
        yield at
        at = text.find(name, at + 1)


def _densest_span(places: Sequence[tuple[int, str, float]], room: int) -> tuple[int, int]:
    """Return the first and last position of the span with the most distinct terms."""
    best, part = 0.0, (0, 0)
    for number, (at, _, _) in enumerate(places):
        near = [place for place in places[number:] if place[0] <= at + room]
        worth = sum({name: value for _, name, value in near}.values())
        if worth > best:
            best, part = worth, (at, near[-1][0])
    return part
