"""Rows and columns: comma, tab or pipe between cells, or cells set in columns by spaces."""

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from holdfast.core.shrink.outline.fit import Detail, Sketch, chosen, clip, count_of, named
from holdfast.core.shrink.outline.reading import Reading

GAP = re.compile(r"\s{2,}|\t")
RULE = re.compile(r"^[\s|+:=─-]+$")
LEAST = 3
SHARE = 0.8
FEW = 8
"""Distinct values of a column that are worth counting one by one."""


class Layout(Struct, frozen=True):
    """How cells are set apart, and how many a row has."""

    between: str
    columns: int


def layout_of(rows: Sequence[str]) -> Layout | None:
    """How these lines are laid out as a table, if they are one."""
    lines = [row for row in rows[:200] if row.strip() and not RULE.match(row)]
    if len(lines) < LEAST:
        return None
    for between in ("|", "\t", ",", ";", " "):
        counts = Counter(len(cells(line, between)) for line in lines)
        columns, times = max(counts.items(), key=lambda pair: (pair[1], pair[0]))
        least = 3 if between in {" ", ","} else 2
        if columns >= least and times >= SHARE * len(lines) and _fits(lines, between):
            return Layout(between, columns)
    return None


def _fits(lines: Sequence[str], between: str) -> bool:
    if between == ",":
        # A comma with a space behind it is a sentence's.
        spaced = sum(line.count(", ") for line in lines)
        return spaced * 3 <= sum(line.count(",") for line in lines)
    if between == " ":
        return lines[0][:1].strip() != "" and not any(
            line.endswith((";", "{")) for line in lines[:20]
        )
    return True


def cells(row: str, between: str) -> list[str]:
    """The cells of one line."""
    if between == " ":
        return GAP.split(row.strip())
    if between == "|":
        row = row.strip().strip("|")
    if between == "," and '"' in row:
        return _quoted(row)
    return [cell.strip() for cell in row.split(between)]


def _quoted(row: str) -> list[str]:
    """Comma separated cells, of which some are in quotes."""
    found: list[str] = []
    for part in row.split(","):
        if found and found[-1].startswith('"') and found[-1].count('"') % 2:
            found[-1] += "," + part
        else:
            found.append(part)
    return [cell.strip().strip('"') for cell in found]


def outline_table(reading: Reading, lines: int, _width: int) -> Sketch:
    """The columns, the first rows, and those that differ."""
    rows = [
        (number, row)
        for row, number in zip(reading.rows, reading.numbers, strict=True)
        if row.strip() and not RULE.match(row)
    ]
    layout = layout_of([row for _, row in rows]) or Layout("\t", 1)
    table = [(number, cells(row, layout.between)) for number, row in rows]
    head = table[0][1] if table else []
    body = table[1:]
    count = reading.total - 1 if reading.partial else len(body)
    details = [*_columns(head, body), *_rows(body, layout)]
    columns = f"{count_of(layout.columns, 'column')} ({named(head, 8)})"
    return Sketch(f"table: {count_of(count, 'row')}, {columns}", chosen(details, lines))


def _columns(head: Sequence[str], body: Sequence[tuple[int, Sequence[str]]]) -> list[Detail]:
    """For each column with few values: which, and how often."""
    details: list[Detail] = []
    for at, name in enumerate(head):
        counts = Counter(row[at] for _, row in body if at < len(row))
        if 1 <= len(counts) <= FEW and len(counts) * 2 < len(body):
            common = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
            values = ", ".join(f"{clip(value, 30) or 'empty'} ×{times}" for value, times in common)
            details.append(Detail(2, at - len(head), f"{name}: {values}"))
    return details


def _rows(body: Sequence[tuple[int, Sequence[str]]], layout: Layout) -> list[Detail]:
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
    """Columns that are empty in a few rows only."""
    empty = Counter(
        column for _, row in body for column, cell in enumerate(row[:columns]) if cell == ""
    )
    return {column for column, times in empty.items() if times * 10 <= len(body)}
