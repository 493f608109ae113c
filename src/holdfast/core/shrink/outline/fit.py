"""Fits text to a budget: one line each, so wide and no wider, the most telling kept."""

import re
from collections.abc import Iterable

from msgspec import Struct

ANSI = re.compile(r"\x1b\[[0-9;?]*+[@-~]?|\x1b[^\[]?")
"""Colours and cursor moves of a terminal."""


class Sketch(Struct, frozen=True):
    """What one kind has to say about a text, before it is cut to size."""

    summary: str
    lines: tuple[str, ...]


class Detail(Struct, frozen=True):
    """A line that may be shown: the lower its rank, the sooner it is."""

    rank: int
    at: int
    text: str


def chosen(details: Iterable[Detail], lines: int) -> tuple[str, ...]:
    """The most telling details that fit, in the order of the document."""
    best = sorted(details, key=lambda one: (one.rank, one.at))[: max(lines, 0)]
    return tuple(one.text for one in sorted(best, key=lambda one: one.at))


def plain(text: str) -> str:
    """The text on one line that any terminal shows as it is."""
    if text.isprintable():
        return text
    return "".join(map(_shown, ANSI.sub("", text)))


def _shown(char: str) -> str:
    if char.isprintable():
        return char
    return " " if char.isspace() else "\ufffd"


def clip(text: str, width: int) -> str:
    """One line of at most `width` characters; a cut one ends in an ellipsis."""
    # What terminals do not show takes room in the text, so more of it is looked at than is shown.
    shown = plain(text[: width * 2 + 64].rstrip()).rstrip()
    return shown if len(shown) <= width else shown[: max(width, 0)].rstrip() + "…"


def squeezed(text: str, width: int) -> str:
    """The start of a text with its white space and line breaks made single spaces."""
    return clip(" ".join(text[: width * 3 + 64].split()), width)


def count_of(number: int, what: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def named(names: Iterable[str], most: int) -> str:
    """The first names in one line, with an ellipsis if there are more."""
    shown = list(names)
    return ", ".join(shown[:most]) + (", …" if len(shown) > most else "")


def packed(names: Iterable[str], width: int, *, between: str = ", ") -> tuple[str, ...]:
    """Names set in as few lines as they need."""
    rows: list[str] = []
    for name in names:
        if rows and len(rows[-1]) + len(between) + len(name) <= width:
            rows[-1] += between + name
        else:
            rows.append(name)
    return tuple(rows)


# The two ends of a text as they stand, for a reader who wants its own words.


def head_of(text: str, *, lines: int = 10, width: int = 160, total: int = 2000) -> tuple[str, ...]:
    """The first lines, cut to `width` each and `total` together."""
    most = max(lines, 0)
    rows = text.removesuffix("\n").split("\n", most)[:most] if text else []
    return _within(rows, width, total)


def tail_of(
    text: str, *, lines: int = 5, width: int = 160, total: int = 800, after: int = 0
) -> tuple[str, ...]:
    """The last lines; `after` is how many the head took, and none of those is shown again."""
    left = text.count("\n") + (not text.endswith("\n")) - after
    most = max(min(lines, left), 0) if text else 0
    rows = text.removesuffix("\n").rsplit("\n", most)[-most:] if most else []
    return tuple(reversed(_within(reversed(rows), width, total)))


def _within(rows: Iterable[str], width: int, total: int) -> tuple[str, ...]:
    kept: list[str] = []
    left = total
    for row in rows:
        if left <= 0:
            break
        # The ellipsis counts too: a line takes one character less than it may have.
        line = clip(row, min(width, left)) if len(row) <= left else clip(row, min(width, left - 1))
        kept.append(line)
        left -= len(line)
    return tuple(kept)
