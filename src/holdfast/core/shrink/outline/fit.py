"""Choose and format the lines of an outline: rank, clip, count, join; first and last lines."""

from collections.abc import Iterable

from msgspec import Struct

from holdfast.text.patterns import Pattern

ANSI = Pattern(r"\x1b\[[0-9;?]*+[@-~]?|\x1b[^\[]?")
"""Escape sequences of a terminal: "\\x1b[31m". Must not match "[31m"."""


class Sketch(Struct, frozen=True):
    """The outline that the module of one kind makes, before it is cut to size."""

    summary: str
    lines: tuple[str, ...]


class Detail(Struct, frozen=True):
    """A line that may be shown; lines with a lower rank are chosen first."""

    rank: int
    position: int
    text: str


def best_lines(details: Iterable[Detail], lines: int) -> tuple[str, ...]:
    """Return the `lines` details with the lowest rank, in the order of the document."""
    best = sorted(details, key=lambda detail: (detail.rank, detail.position))[: max(lines, 0)]
    return tuple(detail.text for detail in sorted(best, key=lambda detail: detail.position))


def printable(text: str) -> str:
    """Replace white space and characters that a terminal does not print."""
    if text.isprintable():
        return text
    return "".join(map(_printable_char, ANSI.sub("", text)))


def _printable_char(char: str) -> str:
    if char.isprintable():
        return char
    return " " if char.isspace() else "\ufffd"


def clip_printable(text: str, width: int) -> str:
    """Return one printable line of at most `width` characters; a cut one ends in an ellipsis."""
    # Escape sequences are removed, so more characters are read than are shown.
    shown = printable(text[: width * 2 + 64].rstrip()).rstrip()
    return shown if len(shown) <= width else shown[: max(width, 0)].rstrip() + "…"


def squeeze(text: str, width: int) -> str:
    """Return the start of a text, with each run of white space as one space."""
    return clip_printable(" ".join(text[: width * 3 + 64].split()), width)


def with_noun(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 line", "2 lines"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def join_names(names: Iterable[str], limit: int) -> str:
    """Join the first names, with an ellipsis if there are more."""
    shown = list(names)
    return ", ".join(shown[:limit]) + (", …" if len(shown) > limit else "")


def pack_names(names: Iterable[str], width: int) -> tuple[str, ...]:
    """Join names to lines of at most `width` characters."""
    rows: list[str] = []
    for name in names:
        if rows and len(rows[-1]) + len(", ") + len(name) <= width:
            rows[-1] += f", {name}"
        else:
            rows.append(name)
    return tuple(rows)


# The first and the last lines of a text.


def first_lines(
    text: str, *, lines: int = 10, width: int = 160, total: int = 2000
) -> tuple[str, ...]:
    """Return the first lines, cut to `width` characters each and `total` together."""
    most = max(lines, 0)
    rows = text.removesuffix("\n").split("\n", most)[:most] if text else []
    return _cut_rows(rows, width, total)


def last_lines(
    text: str, *, lines: int = 5, width: int = 160, total: int = 800, after: int = 0
) -> tuple[str, ...]:
    """Return the last lines, without the first `after` lines, which are shown already."""
    left = text.count("\n") + (not text.endswith("\n")) - after
    most = max(min(lines, left), 0) if text else 0
    rows = text.removesuffix("\n").rsplit("\n", most)[-most:] if most else []
    return tuple(reversed(_cut_rows(reversed(rows), width, total)))


def _cut_rows(rows: Iterable[str], width: int, total: int) -> tuple[str, ...]:
    cut_rows: list[str] = []
    left = total
    for row in rows:
        if left <= 0:
            break
        # The ellipsis counts too, so a line that is cut gets one character less.
        line = (
            clip_printable(row, min(width, left))
            if len(row) <= left
            else clip_printable(row, min(width, left - 1))
        )
        cut_rows.append(line)
        left -= len(line)
    return tuple(cut_rows)
