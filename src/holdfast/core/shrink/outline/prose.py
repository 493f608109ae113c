"""Outline prose and Markdown: the headings, and the first sentence of each paragraph."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from holdfast.core.shrink.outline.fit import Detail, Sketch, best_lines, with_noun
from holdfast.core.shrink.outline.reading import TextReading
from holdfast.text.patterns import Pattern

HEADING = Pattern(r"^(#{1,6}) {1,4}(\S.{0,300})$")
TITLE = Pattern(
    r"^(?:Title|URL|File|Subject|Question): \S|^={3,} .{1,200} ={3,}$|^\*\*[^*]{2,160}\*\*:?$"
)
"""Titles that tools print above each of several results: "URL: https://a.b", "=== a.md ==="."""
UNDERLINE = Pattern(r"^(?:={3,}|-{3,})$")
SENTENCE_END = Pattern(r"[.!?:](?:\s|$)")
MAX_BLOCK_ROWS = 200
FENCES = ("```", "~~~")


class ProsePart(Struct, frozen=True):
    """A heading or a paragraph, with the row where it starts."""

    at: int
    level: int
    """1 to 6 for a heading, 0 for a paragraph."""
    text: str


def outline_prose(reading: TextReading, lines: int, width: int) -> Sketch:
    """Show the headings, and the first sentence of each paragraph while there is room."""
    parts = list(_parts(reading.rows))
    headings = [part for part in parts if part.level]
    details = list(_details(reading, parts))
    if len(headings) > lines:
        details = _packed_headings(reading, headings, lines, width)
    if len(details) <= 3:
        details += _block_details(reading, parts, width)
    words = sum(row.count(" ") + 1 for row in reading.rows if row)
    what = "Markdown" if any(part.level for part in parts) else "text"
    about = next((part.text for part in headings or parts), "")
    counted = f", {with_noun(len(headings), 'heading')}" if headings else ""
    about_words = (
        f"about {words:,} words"
        if not reading.partial
        else with_noun(len(reading.whole), "character")
    )
    summary = f"{what}, {with_noun(reading.total, 'line')}, {about_words}{counted}: {about}"
    return Sketch(summary, best_lines(details, lines))


def _parts(rows: Sequence[str]) -> Iterator[ProsePart]:
    fenced = False
    open_paragraph = False
    for at, row in enumerate(rows):
        if row.lstrip().startswith(FENCES):
            fenced, open_paragraph = not fenced, False
        elif fenced or not row.strip():
            open_paragraph = False
        elif match := HEADING.match(row):
            yield ProsePart(at, len(match[1]), match[2].rstrip("# "))
            open_paragraph = False
        elif TITLE.match(row) or _is_underlined(rows, at):
            yield ProsePart(at, 2, row.strip(" =*"))
            open_paragraph = False
        elif not open_paragraph:
            yield ProsePart(at, 0, row.strip())
            open_paragraph = True


def _is_underlined(rows: Sequence[str], at: int) -> bool:
    below = rows[at + 1] if at + 1 < len(rows) else ""
    above = rows[at - 1] if at else ""
    return bool(UNDERLINE.match(below)) and not above.strip() and len(rows[at]) < 120


def _details(reading: TextReading, parts: Sequence[ProsePart]) -> Iterator[Detail]:
    headed = False
    first = True
    for order, part in enumerate(parts):
        number = reading.numbers[part.at]
        if part.level:
            rank = 1 if part.level <= 2 else part.level - 1
            yield Detail(rank, part.at, f"L{number} {'#' * part.level} {part.text}")
            headed = True
        elif SENTENCE_END.search(part.text) or len(part.text) > 40:
            # The first paragraph describes the text, and the first under a heading its section.
            rank = 0 if first else 3 if headed else 5 + even_rank(order)
            yield Detail(rank, part.at, f"L{number}: {_first_sentence(part.text)}")
            headed, first = False, False
        else:
            yield Detail(10 + even_rank(order), part.at, f"L{number}: {part.text}")


def even_rank(order: int) -> int:
    """Return a rank that is best for every 16th, then every 8th part …: an even selection."""
    return next((rank for rank, step in enumerate((16, 8, 4, 2)) if order % step == 0), 4)


def _packed_headings(
    reading: TextReading, headings: Sequence[ProsePart], lines: int, width: int
) -> list[Detail]:
    """Join headings to lines, without the deepest levels if they do not fit."""
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


def _first_sentence(text: str) -> str:
    """Return the first sentence, or all of a text without an end of sentence."""
    for match in SENTENCE_END.finditer(text):
        if match.start() >= 24:
            return text[: match.start() + 1]
    return text


def _block_details(
    reading: TextReading, parts: Sequence[ProsePart], width: int
) -> Iterator[Detail]:
    """Yield the lines of a text in one block, and the pieces of long ones."""
    shown = {part.at for part in parts}
    for at, row in enumerate(reading.rows[:MAX_BLOCK_ROWS]):
        bare = row.strip()
        first = width if at in shown else 0
        label = f"L{reading.numbers[at]}: "
        for order, start in enumerate(range(first, len(bare), width)):
            text = bare[start : start + width].strip()
            yield Detail(6 + order, at, label + text if start == 0 else text)
