"""JSON: its shape, its counts, the values that repeat, and the rows that stand out."""

from collections.abc import Iterator, Sequence

from holdfast.core.ledger.jsontext import Json, as_list, as_object
from holdfast.core.shrink.outline.documents import Documents, documents_of
from holdfast.core.shrink.outline.fitting import Detail, Sketch, chosen, count_of, squeezed
from holdfast.core.shrink.outline.reading import Reading
from holdfast.core.shrink.outline.rows import TROUBLE, odd_rows, repeated
from holdfast.core.shrink.outline.shapes import (
    LONG_TEXT,
    ROWS,
    TELLING,
    array_of,
    compact,
    is_rows,
    keys_of,
    scalar,
    shape_of,
)

DEEPEST = 4
SHOWN = 40
"""Rows that may be shown for being first."""
MOST_ODD = 12
"""More odd rows than this are the rule, not the exception."""


def outline_records(reading: Reading, lines: int, width: int) -> Sketch:
    """What the JSON holds."""
    documents = documents_of(reading.whole)
    if not documents.values:
        return Sketch(_unread(reading), tuple(row.strip() for row in reading.rows[: max(lines, 0)]))
    many = len(documents.values) > 1
    value: Json = list(documents.values) if many else documents.values[0]
    details: list[Detail] = []
    for rank, text in _told(value, 0, width):
        details.append(Detail(rank, len(details), text))
        if len(details) > 1_000:
            break
    return Sketch(_summary(value, documents, many), chosen(details, lines))


def _unread(reading: Reading) -> str:
    return f"JSON that no reader can parse, {count_of(len(reading.whole), 'character')}"


def _summary(value: Json, documents: Documents, many: bool) -> str:
    flaws = ", cut off in the middle" if documents.cut else ""
    flaws += f", {count_of(documents.broken, 'part')} unreadable" if documents.broken else ""
    if many:
        return f"JSON: {count_of(len(as_list(value)), 'document')}{keys_of(as_list(value))}{flaws}"
    return f"JSON: {shape_of(value, keys=10)}{flaws}"


def _told(value: Json, depth: int, width: int) -> Iterator[tuple[int, str]]:
    """Lines about a value, each with its rank."""
    match value:
        case dict() if is_map(value):
            rows = [as_object(item) for item in value.values()]
            yield from _rows(list(value)[:ROWS], rows[:ROWS], depth, width)
        case dict():
            yield from _object(value, depth, width)
        case list():
            yield from _list(value, depth, width)
        case str() if depth == 0:
            for start in range(0, min(len(value), width * 40), width):
                yield 1, squeezed(value[start : start + width], width)
        case _:
            yield 1, scalar(value, width)


def _object(
    value: dict[str, Json], depth: int, width: int, *, prefix: str = ""
) -> Iterator[tuple[int, str]]:
    for key, item in value.items():
        label = "  " * min(depth, DEEPEST) + squeezed(prefix + key, 60)
        if isinstance(item, dict) and len(item) == 1 and prefix.count(".") < DEEPEST:
            # An object that only wraps another is not worth a level.
            yield from _object(item, depth, width, prefix=f"{prefix}{key}.")
        elif isinstance(item, dict | list) and item:
            yield from _nested(item, label, depth, width)
        else:
            room = max(width - len(label) - 24, 20)
            yield _rank(key, item, depth), f"{label}: {scalar(item, room)}"


def _nested(
    item: dict[str, Json] | list[Json], label: str, depth: int, width: int
) -> Iterator[tuple[int, str]]:
    base = 1 + depth * 2
    if isinstance(item, list):
        yield base, f"{label}: {array_of(item)}"
    elif is_map(item):
        yield base, f"{label}: map of {count_of(len(item), 'object')}{keys_of(list(item.values()))}"
    elif len(item) <= 6 and not any(is_rows(inner) for inner in item.values()):
        yield base, f"{label}: {compact(item, width - len(label) - 4)}"
        return
    else:
        yield base, f"{label}: {compact(item, width - len(label) - 4)}"
        depth += 1
    if depth < DEEPEST:
        yield from _told(item, depth + 1, width)


def is_map(value: dict[str, Json]) -> bool:
    """Whether the members are rows of one table, named by their keys."""
    items = list(value.values())[:20]
    rows = [as_object(item) for item in items if isinstance(item, dict)]
    if len(rows) < 3 or len(rows) < len(items):
        return False
    shared = set(rows[0]).intersection(*rows[1:])
    return bool(shared) and len(shared) * 2 >= len(rows[0])


def _rank(key: str, item: Json, depth: int) -> int:
    base = 1 + depth * 2
    if key.lower() in TROUBLE and item:
        return 0
    if key.lower() in TELLING:
        return base
    dull = item in (None, "", False) or (isinstance(item, str) and item.startswith("http"))
    return base + (2 if dull else 1)


def _list(items: list[Json], depth: int, width: int) -> Iterator[tuple[int, str]]:
    indent = "  " * min(depth, DEEPEST)
    base = 1 + depth * 2
    rows = [as_object(item) for item in items[:ROWS] if isinstance(item, dict)]
    if not rows or len(rows) * 2 < min(len(items), ROWS):
        for at, item in enumerate(items[:60]):
            yield base + min(at // 4, 6), f"{indent}[{at}] {compact(item, width - 12)}"
    elif len(items) == 1:
        yield from _object(rows[0], depth, width, prefix="[0].")
    else:
        yield from _rows([f"[{at}]" for at in range(len(rows))], rows, depth, width)


def _rows(
    labels: Sequence[str], rows: Sequence[dict[str, Json]], depth: int, width: int
) -> Iterator[tuple[int, str]]:
    """The rows of a table: what repeats, then each with what makes it odd."""
    indent = "  " * min(depth, DEEPEST)
    base = 1 + depth * 2
    for line in repeated(rows, width):
        yield base + 1, indent + line
    odd = odd_rows(rows)
    for at, (label, row) in enumerate(zip(labels, rows, strict=True)):
        why = odd.get(at, "")
        if at >= SHOWN and not (why and len(odd) <= MOST_ODD):
            continue
        rank = base if at == 0 or (why and len(odd) <= MOST_ODD) else base + 1 + min(at // 6, 8)
        start = indent + squeezed(label, 40) + (f" ({why})" if why else "")
        yield rank, f"{start} {compact(row, width - len(start) - 2)}"
        if len(rows) <= 8:
            yield from _long_texts(row, f"{indent}{squeezed(label, 40)}", base, width)


def _long_texts(
    row: dict[str, Json], label: str, base: int, width: int
) -> Iterator[tuple[int, str]]:
    """Documents held in strings, a few lines of each."""
    for key, item in row.items():
        if isinstance(item, str) and len(item) > LONG_TEXT and not item.startswith("http"):
            for order, line in enumerate(_paragraphs(item)):
                rank = base + (1 if key in TELLING else 4) + order // 2
                yield rank, f"{label}.{key}: {squeezed(line, width - 24)}"


def _paragraphs(text: str) -> list[str]:
    """Its headings if it has some, else its first lines."""
    rows = [row.strip() for row in text[:20_000].split("\n") if row.strip(" \t\r-`=*")]
    rows = [row for row in rows if not row.startswith("<!--")]
    headings = [row for row in rows if row.startswith("#")]
    return (headings if len(headings) > 2 else rows)[:12]
