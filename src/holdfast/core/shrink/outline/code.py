"""Source code: what it defines, and at which lines."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from holdfast.core.shrink.outline.fit import Detail, Sketch, chosen, count_of, named, packed
from holdfast.core.shrink.outline.reading import Reading
from holdfast.text.code import BY_NAME, Language, language_of

DEEPEST = 9
"""Indented further, a definition is inside a function."""
TYPES = re.compile(r"\b(?:class|interface|struct|enum|trait|type|record|namespace|module)\b")


NAMES = {"YAML": "key", "TOML/INI": "section", "CSS": "rule", "SQL": "statement"}
"""What is named where there are no functions."""


class Symbol(Struct, frozen=True):
    """One definition."""

    line: int
    name: str
    text: str
    inner: bool
    minor: bool
    """A value, not a type or a function."""


def outline_code(reading: Reading, lines: int, width: int) -> Sketch:
    """The definitions: their own lines while they fit, else only their names, packed."""
    name = language_of(reading.rows)
    symbols = list(symbols_of(reading, BY_NAME.get(name)))
    shown = symbols if len(symbols) <= lines else [one for one in symbols if not one.minor]
    if len(shown) <= lines:
        texts = tuple(_signature(symbol) for symbol in shown)
    else:
        texts = _names(shown, lines, width)
    if not texts:
        texts = _first_rows(reading, lines)
    return Sketch(_summary(reading, name, symbols), texts)


def symbols_of(reading: Reading, language: Language | None) -> Iterator[Symbol]:
    """The definitions in the rows, in order."""
    if language is None:
        return
    for row, number in zip(reading.rows, reading.numbers, strict=True):
        if not row or row[:DEEPEST].isspace():
            continue
        if found := definition(row, language):
            at, indent, name = found
            minor = at > 0 and not indent and at == len(language.defines) - 1
            yield Symbol(number, name, row.strip(), bool(indent), minor)


def definition(row: str, language: Language) -> tuple[int, str, str] | None:
    """Which pattern of the language defines something here, its indent and its name."""
    for at, pattern in enumerate(language.defines):
        if match := pattern.match(row):
            return at, match[1], match[2].strip(" '\"`")
    return None


def _signature(symbol: Symbol) -> str:
    return f"L{symbol.line} {'  ' if symbol.inner else ''}{symbol.text.rstrip(' {')}"


def _names(symbols: Sequence[Symbol], lines: int, width: int) -> tuple[str, ...]:
    outer = [symbol for symbol in symbols if not symbol.inner]
    for kept in (symbols, outer):
        rows = packed((f"L{symbol.line} {symbol.name}" for symbol in kept), width)
        if len(rows) <= lines:
            return rows
    rest = len(outer) - sum(row.count(", L") + 1 for row in rows[: max(lines - 1, 0)])
    return (*rows[: max(lines - 1, 0)], f"… {rest:,} more") if lines > 0 else ()


def _first_rows(reading: Reading, lines: int) -> tuple[str, ...]:
    details = (
        Detail(0, number, f"L{number} {row.strip()}")
        for row, number in zip(reading.rows, reading.numbers, strict=True)
        if row.strip()
    )
    return chosen((detail for detail, _ in zip(details, range(max(lines, 0)), strict=False)), lines)


def _summary(reading: Reading, name: str, symbols: Sequence[Symbol]) -> str:
    types = [symbol.name for symbol in symbols if TYPES.search(_keywords(symbol))]
    values = sum(1 for symbol in symbols if symbol.minor)
    others = len(symbols) - len(types) - values
    first, last = _span(reading)
    size = f"{count_of(last - first + 1, 'line')}" + (f" ({first}–{last})" if first > 1 else "")
    parts = [
        f"defines {named(types, 4)}" if types else "",
        count_of(others, NAMES.get(name, "function")) if others > 0 else "",
        count_of(values, "constant") if values else "",
    ]
    what = "code" if name in {"", "code"} else name if name in NAMES else f"{name} code"
    told = ", ".join(part for part in parts if part)
    return f"{what}, {size}" + (f": {told}" if told else "")


def _keywords(symbol: Symbol) -> str:
    """What stands before the name."""
    return symbol.text.partition(symbol.name)[0]


def _span(reading: Reading) -> tuple[int, int]:
    """The first and last line number of the code itself."""
    rows = [
        number
        for row, number in zip(reading.rows, reading.numbers, strict=True)
        if row or reading.numbered
    ]
    if not rows or not reading.numbered:
        return 1, max(reading.total, 1)
    return rows[0], max(rows)
