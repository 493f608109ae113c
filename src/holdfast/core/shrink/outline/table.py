"""Detect and outline tables: cells separated by commas, tabs or pipes, or aligned by spaces."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from holdfast.core.shrink.outline.fit import (
    Detail,
    Sketch,
    best_lines,
    clip_printable,
    join_names,
    with_noun,
)
from holdfast.core.shrink.outline.reading import TextReading
from holdfast.text.patterns import Pattern

COLUMN_GAP = Pattern(r"\s{2,}|\t")
RULE_ROW = Pattern(r"^[\s|+:=─-]+$")
MIN_ROWS = 3
MIN_REGULAR_SHARE = 0.8
MAX_COUNTED_VALUES = 8
"""Values are counted one by one in columns with at most so many distinct ones."""


class Layout(Struct, frozen=True):
    """The separator of cells, and the number of cells in a row."""

    separator: str
    columns: int


def layout_of(rows: Sequence[str]) -> Layout | None:
    """Return the layout of lines that are a table; None if they are not."""
    lines = [row for row in rows[:200] if row.strip() and not RULE_ROW.match(row)]
    if len(lines) < MIN_ROWS:
        return None
    for separator in ("|", "\t", ",", ";", " "):
        counts = Counter(len(cells(line, separator)) for line in lines)
        columns, times = max(counts.items(), key=lambda pair: (pair[1], pair[0]))
        min_columns = 3 if separator in {" ", ","} else 2
        if (
            columns >= min_columns
            and times >= MIN_REGULAR_SHARE * len(lines)
            and _is_plausible(lines, separator)
        ):
            return Layout(separator, columns)
    return None


def _is_plausible(lines: Sequence[str], separator: str) -> bool:
    if separator == ",":
        # A comma before a space is punctuation of a sentence.
        spaced = sum(line.count(", ") for line in lines)
        return spaced * 3 <= sum(line.count(",") for line in lines)
    if separator == " ":
        return lines[0][:1].strip() != "" and not any(
            line.endswith((";", "{")) for line in lines[:20]
        )
    return True


def cells(row: str, separator: str) -> list[str]:
    """Return the cells of one line."""
    if separator == " ":
        return COLUMN_GAP.split(row.strip())
    if separator == "|":
        row = row.strip().strip("|")
    if separator == "," and '"' in row:
        return _split_quoted(row)
    return [cell.strip() for cell in row.split(separator)]


def _split_quoted(row: str) -> list[str]:
    """Split cells at commas outside of quotes."""
    parts: list[str] = []
    for part in row.split(","):
        if parts and parts[-1].startswith('"') and parts[-1].count('"') % 2:
            parts[-1] += "," + part
        else:
            parts.append(part)
    return [cell.strip().strip('"') for cell in parts]


def outline_table(reading: TextReading, lines: int, _width: int) -> Sketch:
    """Show the columns, the first rows, and the irregular ones."""
    rows = [
        (number, row)
        for row, number in zip(reading.rows, reading.numbers, strict=True)
        if row.strip() and not RULE_ROW.match(row)
    ]
    layout = layout_of([row for _, row in rows]) or Layout("\t", 1)
    table = [(number, cells(row, layout.separator)) for number, row in rows]
    head = table[0][1] if table else []
    body = table[1:]
    count = reading.total - 1 if reading.partial else len(body)
    details = [*_column_details(head, body), *_row_details(body, layout)]
    columns = f"{with_noun(layout.columns, 'column')} ({join_names(head, 8)})"
    return Sketch(f"table: {with_noun(count, 'row')}, {columns}", best_lines(details, lines))


def _column_details(head: Sequence[str], body: Sequence[tuple[int, Sequence[str]]]) -> list[Detail]:
    """Return the values of each column that has few, with their counts."""
    details: list[Detail] = []
    for at, name in enumerate(head):
        counts = Counter(row[at] for _, row in body if at < len(row))
        if 1 <= len(counts) <= MAX_COUNTED_VALUES and len(counts) * 2 < len(body):
            common = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
            values = ", ".join(
                f"{clip_printable(value, 30) or 'empty'} ×{times}" for value, times in common
            )
            details.append(Detail(2, at - len(head), f"{name}: {values}"))
    return details


def _row_details(body: Sequence[tuple[int, Sequence[str]]], layout: Layout) -> list[Detail]:
    rare = _rarely_empty(body, layout.columns)
    details: list[Detail] = []
    for at, (number, row) in enumerate(body):
        odd = len(row) != layout.columns or any(
            cell == "" and column in rare for column, cell in enumerate(row)
        )
        rank = 0 if at < 2 else 1 if odd else 3 if at == len(body) - 1 else 4
        details.append(
            Detail(rank, number, f"L{number}{' (odd)' if odd else ''}: {' | '.join(row)}")
        )
    return details


def _rarely_empty(body: Sequence[tuple[int, Sequence[str]]], columns: int) -> set[int]:
    """Return the columns that are empty in a few rows only."""
    empty = Counter(
        column for _, row in body for column, cell in enumerate(row[:columns]) if cell == ""
    )
    return {column for column, times in empty.items() if times * 10 <= len(body)}
