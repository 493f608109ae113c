"""Outline source code: its definitions and their line numbers."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from holdfast.core.shrink.outline.fit import (
    Detail,
    Sketch,
    best_lines,
    join_names,
    pack_names,
    with_noun,
)
from holdfast.core.shrink.outline.reading import TextReading
from holdfast.text.code import BY_NAME, Language, language_of
from holdfast.text.patterns import Pattern

MAX_INDENT = 9
"""A definition that is indented further is inside of a function, and is not shown."""
TYPE_KEYWORD = Pattern(r"\b(?:class|interface|struct|enum|trait|type|record|namespace|module)\b")


DEFINITION_NOUNS = {"YAML": "key", "TOML/INI": "section", "CSS": "rule", "SQL": "statement"}
"""The noun for definitions in languages without functions."""


class Symbol(Struct, frozen=True):
    """One definition."""

    line: int
    name: str
    text: str
    inner: bool
    minor: bool
    """A value, not a type or a function."""


def outline_code(reading: TextReading, lines: int, width: int) -> Sketch:
    """Show the lines of the definitions if they fit, else only their names."""
    name = language_of(reading.rows)
    symbols = list(symbols_of(reading, BY_NAME.get(name)))
    shown = symbols if len(symbols) <= lines else [symbol for symbol in symbols if not symbol.minor]
    if len(shown) <= lines:
        texts = tuple(_signature(symbol) for symbol in shown)
    else:
        texts = _name_lines(shown, lines, width)
    if not texts:
        texts = _first_rows(reading, lines)
    return Sketch(_summary(reading, name, symbols), texts)


def symbols_of(reading: TextReading, language: Language | None) -> Iterator[Symbol]:
    """Yield the definitions in the rows, in order."""
    if language is None:
        return
    for row, number in zip(reading.rows, reading.numbers, strict=True):
        if not row or row[:MAX_INDENT].isspace():
            continue
        if defined := find_definition(row, language):
            index, indent, name = defined
            minor = index > 0 and not indent and index == len(language.defines) - 1
            yield Symbol(number, name, row.strip(), bool(indent), minor)


def find_definition(row: str, language: Language) -> tuple[int, str, str] | None:
    """Return the index of the pattern that matches a row, the indent and the name; else None."""
    for index, pattern in enumerate(language.defines):
        if match := pattern.match(row):
            return index, match[1], match[2].strip(" '\"`")
    return None


def _signature(symbol: Symbol) -> str:
    return f"L{symbol.line} {'  ' if symbol.inner else ''}{symbol.text.rstrip(' {')}"


def _name_lines(symbols: Sequence[Symbol], lines: int, width: int) -> tuple[str, ...]:
    outer = [symbol for symbol in symbols if not symbol.inner]
    for named in (symbols, outer):
        rows = pack_names((f"L{symbol.line} {symbol.name}" for symbol in named), width)
        if len(rows) <= lines:
            return rows
    rest = len(outer) - sum(row.count(", L") + 1 for row in rows[: max(lines - 1, 0)])
    return (*rows[: max(lines - 1, 0)], f"… {rest:,} more") if lines > 0 else ()


def _first_rows(reading: TextReading, lines: int) -> tuple[str, ...]:
    details = (
        Detail(0, number, f"L{number} {row.strip()}")
        for row, number in zip(reading.rows, reading.numbers, strict=True)
        if row.strip()
    )
    return best_lines(
        (detail for detail, _ in zip(details, range(max(lines, 0)), strict=False)), lines
    )


def _summary(reading: TextReading, name: str, symbols: Sequence[Symbol]) -> str:
    types = [symbol.name for symbol in symbols if TYPE_KEYWORD.search(_text_before_name(symbol))]
    values = sum(1 for symbol in symbols if symbol.minor)
    others = len(symbols) - len(types) - values
    first, last = _span(reading)
    size = f"{with_noun(last - first + 1, 'line')}" + (f" ({first}–{last})" if first > 1 else "")
    parts = [
        f"defines {join_names(types, 4)}" if types else "",
        with_noun(others, DEFINITION_NOUNS.get(name, "function")) if others > 0 else "",
        with_noun(values, "constant") if values else "",
    ]
    what = "code" if name in {"", "code"} else name if name in DEFINITION_NOUNS else f"{name} code"
    definitions = ", ".join(part for part in parts if part)
    return f"{what}, {size}" + (f": {definitions}" if definitions else "")


def _text_before_name(symbol: Symbol) -> str:
    return symbol.text.partition(symbol.name)[0]


def _span(reading: TextReading) -> tuple[int, int]:
    """Return the first and the last line number of the code itself."""
    rows = [
        number
        for row, number in zip(reading.rows, reading.numbers, strict=True)
        if row or reading.numbered
    ]
    if not rows or not reading.numbered:
        return 1, max(reading.total, 1)
    return rows[0], max(rows)
