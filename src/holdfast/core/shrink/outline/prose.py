"""Prose and Markdown: the headings, and how what stands under them begins."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from holdfast.core.shrink.outline.fit import Detail, Sketch, chosen, count_of
from holdfast.core.shrink.outline.reading import Reading

HEADING = re.compile(r"^(#{1,6}) {1,4}(\S.{0,300})$")
TITLE = re.compile(
    r"^(?:Title|URL|File|Subject|Question): \S|^={3,} .{1,200} ={3,}$|^\*\*[^*]{2,160}\*\*:?$"
)
"""What tools put over each of several results."""
UNDERLINE = re.compile(r"^(?:={3,}|-{3,})$")
SENTENCE_END = re.compile(r"[.!?:](?:\s|$)")
MOST_ROWS = 200
FENCES = ("```", "~~~")


class Part(Struct, frozen=True):
    """A heading or a paragraph, with where it starts."""

    at: int
    level: int
    """1 to 6 for a heading, 0 for a paragraph."""
    text: str


def outline_prose(reading: Reading, lines: int, width: int) -> Sketch:
    """The headings with their lines; the first sentence of each paragraph while there is room."""
    parts = list(_parts(reading.rows))
    headings = [part for part in parts if part.level]
    details = list(_details(reading, parts))
    if len(headings) > lines:
        details = _headings(reading, headings, lines, width)
    if len(details) <= 3:
        details += _more(reading, parts, width)
    words = sum(row.count(" ") + 1 for row in reading.rows if row)
    what = "Markdown" if any(part.level for part in parts) else "text"
    about = next((part.text for part in headings or parts), "")
    counted = f", {count_of(len(headings), 'heading')}" if headings else ""
    about_words = (
        f"about {words:,} words"
        if not reading.partial
        else count_of(len(reading.whole), "character")
    )
    summary = f"{what}, {count_of(reading.total, 'line')}, {about_words}{counted}: {about}"
    return Sketch(summary, chosen(details, lines))


def _parts(rows: Sequence[str]) -> Iterator[Part]:
    fenced = False
    open_paragraph = False
    for at, row in enumerate(rows):
        if row.lstrip().startswith(FENCES):
            fenced, open_paragraph = not fenced, False
        elif fenced or not row.strip():
            open_paragraph = False
        elif match := HEADING.match(row):
            yield Part(at, len(match[1]), match[2].rstrip("# "))
            open_paragraph = False
        elif TITLE.match(row) or _underlined(rows, at):
            yield Part(at, 2, row.strip(" =*"))
            open_paragraph = False
        elif not open_paragraph:
            yield Part(at, 0, row.strip())
            open_paragraph = True


def _underlined(rows: Sequence[str], at: int) -> bool:
    below = rows[at + 1] if at + 1 < len(rows) else ""
    above = rows[at - 1] if at else ""
    return bool(UNDERLINE.match(below)) and not above.strip() and len(rows[at]) < 120


def _details(reading: Reading, parts: Sequence[Part]) -> Iterator[Detail]:
    headed = False
    first = True
    for order, part in enumerate(parts):
        number = reading.numbers[part.at]
        if part.level:
            rank = 1 if part.level <= 2 else part.level - 1
            yield Detail(rank, part.at, f"L{number} {'#' * part.level} {part.text}")
            headed = True
        elif SENTENCE_END.search(part.text) or len(part.text) > 40:
            # The opening says what it is; the first paragraph under a heading what that is.
            rank = 0 if first else 3 if headed else 5 + spread(order)
            yield Detail(rank, part.at, f"L{number}: {_sentence(part.text)}")
            headed, first = False, False
        else:
            yield Detail(10 + spread(order), part.at, f"L{number}: {part.text}")


def spread(order: int) -> int:
    """A rank that takes every sixteenth first, then every eighth, and so on: an even choice."""
    return next((rank for rank, step in enumerate((16, 8, 4, 2)) if order % step == 0), 4)


def _headings(reading: Reading, headings: Sequence[Part], lines: int, width: int) -> list[Detail]:
    """More headings than lines, packed: each of the top starts a line."""
    for deepest in range(6, 0, -1):
        rows: list[str] = []
        for part in headings:
            text = f"L{reading.numbers[part.at]} {part.text}"
            fits = rows and len(rows[-1]) + len(text) + 2 <= width
            if part.level > deepest:
                continue
            if fits:
                rows[-1] += f", {text}"
            else:
                rows.append(text)
        if len(rows) <= lines or deepest == 1:
            return [Detail(1, at, row) for at, row in enumerate(rows)]
    return []


def _sentence(text: str) -> str:
    """The first sentence, or all of a text that has no end."""
    for match in SENTENCE_END.finditer(text):
        if match.start() >= 24:
            return text[: match.start() + 1]
    return text


def _more(reading: Reading, parts: Sequence[Part], width: int) -> Iterator[Detail]:
    """Of a text in one block, its lines, the long ones in pieces."""
    shown = {part.at for part in parts}
    for at, row in enumerate(reading.rows[:MOST_ROWS]):
        bare = row.strip()
        first = width if at in shown else 0
        label = f"L{reading.numbers[at]}: "
        for order, start in enumerate(range(first, len(bare), width)):
            text = bare[start : start + width].strip()
            yield Detail(6 + order, at, label + text if start == 0 else text)
