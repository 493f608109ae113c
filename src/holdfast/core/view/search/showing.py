"""The part of a passage that is shown: the lines around what was found, never a whole file."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from holdfast.core.view.search.passages import Passage
from holdfast.core.view.search.query import Term

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
