"""Read JSON out of a text and outline it: its shape, repeated values, and irregular rows.

Also describes a JSON value by its shape, or writes it on one line.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import cast

from msgspec import Struct

from holdfast.core.shrink.outline.fit import (
    Detail,
    Sketch,
    best_lines,
    join_names,
    squeeze,
    with_noun,
)
from holdfast.core.shrink.outline.reading import TextReading
from holdfast.text.jsontext import Json, NotJson, as_list, as_object, parse
from holdfast.text.patterns import Pattern
from holdfast.text.utf8 import to_bytes

MIN_DOCUMENT_CHARS = 200
"""A longer string is shown as a document of its own."""
MAX_COMPARED_ROWS = 2_000
"""Rows of a table whose values are compared."""
IDENTITY_KEYS = ("id", "name", "title", "key", "number", "version", "label", "kind", "type", "tool")
PLACE_KEYS = ("path", "file", "line", "ref", "branch", "sha", "command")
STATE_KEYS = (
    "status",
    "state",
    "conclusion",
    "result",
    "level",
    "severity",
    "code",
    "error",
    "reason",
)
PERSON_KEYS = ("author", "user", "login", "email", "role")
TEXT_KEYS = ("message", "body", "text", "description", "summary")
KEY_FIELDS = frozenset((*IDENTITY_KEYS, *PLACE_KEYS, *STATE_KEYS, *PERSON_KEYS, *TEXT_KEYS))
"""Keys whose values identify or explain a row; they are shown first."""


def shape_of(value: Json, *, keys: int = 6) -> str:
    """Describe a value by its type, its size and its keys."""
    match value:
        case dict():
            if not value:
                return "empty object"
            shown = (_member(key, item) for key, item in _tables_first(value))
            return f"object with {with_noun(len(value), 'key')} ({join_names(shown, keys)})"
        case list():
            return array_of(value)
        case str():
            return f"string of {with_noun(len(value), 'character')}"
        case _:
            return scalar(value, 40)


def _tables_first(value: dict[str, Json]) -> list[tuple[str, Json]]:
    """Return the members in their order, but arrays of objects first: they are the content."""
    return sorted(value.items(), key=lambda pair: not is_rows(pair[1]))


def _member(key: str, item: Json) -> str:
    return f"{key}: {len(as_list(item)):,} objects" if is_rows(item) else key


def is_rows(value: Json) -> bool:
    """Return whether the value is a list of objects."""
    items = as_list(value)
    return len(items) > 1 and all(isinstance(item, dict) for item in items[:20])


def array_of(items: list[Json]) -> str:
    """Describe an array by the types of its items."""
    if not items:
        return "empty array"
    kinds = Counter(_type(item) for item in items[:MAX_COMPARED_ROWS])
    if len(kinds) > 1:
        counts = (f"{times} {kind}" for kind, times in kinds.most_common())
        return f"array of {len(items):,} ({join_names(counts, 4)})"
    kind = next(iter(kinds))
    if kind == "object":
        return f"array of {with_noun(len(items), 'object')}{keys_of(items)}"
    names = {"str": "string", "int": "number", "float": "number", "bool": "boolean"}
    return f"array of {with_noun(len(items), names.get(kind, kind))}"


def keys_of(items: Sequence[Json]) -> str:
    """Return the keys of objects in brackets, `KEY_FIELDS` first."""
    counts: Counter[str] = Counter()
    for item in items[:200]:
        counts.update(as_object(item).keys())
    return f" ({join_names(key_fields_first(list(counts)), 8)})" if counts else ""


def key_fields_first(keys: Sequence[str]) -> list[str]:
    """Return the keys in their order, but `KEY_FIELDS` first."""
    return sorted(keys, key=lambda key: key.lower() not in KEY_FIELDS)


def _type(value: Json) -> str:
    match value:
        case None:
            return "null"
        case dict():
            return "object"
        case list():
            return "array"
        case _:
            return type(value).__name__


def scalar(value: Json, width: int) -> str:
    """Return a plain value as JSON, cut to a width."""
    match value:
        case str():
            more = f" ({len(value):,} chars)" if len(value) > MIN_DOCUMENT_CHARS else ""
            return f'"{squeeze(value, width)}"{more}'
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case int():
            # Python refuses to write a number of thousands of digits.
            return str(value) if abs(value) < 10**40 else "a very long number"
        case _:
            return squeeze(str(value), width)


def on_one_line(value: Json, width: int) -> str:
    """Return a value on one line, its most informative members first."""
    match value:
        case dict():
            return "{" + _members(value, max(width - 2, 8)) + "}"
        case list():
            return _short_list(value, width)
        case _:
            return scalar(value, max(width, 8))


def _short_list(items: list[Json], width: int) -> str:
    if all(not isinstance(item, dict | list) for item in items[:20]) and len(items) <= 20:
        shown = squeeze(", ".join(scalar(item, 30) for item in items), width)
        return f"[{shown}]"
    return f"[{len(items):,} items]"


def _members(value: dict[str, Json], width: int) -> str:
    shown: list[str] = []
    left = width
    members = sorted(value.items(), key=lambda pair: _dullness(pair[0], pair[1]))
    for key, item in members[:40]:
        name = squeeze(key, 40)
        text = f"{name}: {_member_value(item, min(60, max(left - len(name) - 4, 8)))}"
        if len(text) + 2 <= left or not shown:
            shown.append(text)
            left -= len(text) + 2
    return ", ".join(shown) + (", …" if len(shown) < len(value) else "")


def _member_value(item: Json, width: int) -> str:
    match item:
        case dict():
            for key in ("login", "name", "title", "id", "message"):
                if isinstance(item.get(key), str):
                    return (
                        f"{{{key}: {scalar(item[key], width)}, …}}"
                        if len(item) > 1
                        else f"{{{key}: {scalar(item[key], width)}}}"
                    )
            return f"{{{len(item)} keys}}"
        case list():
            return _short_list(item, width)
        case _:
            return scalar(item, width)


def _dullness(key: str, item: Json) -> int:
    if item is None or item in ("", []) or item == {}:
        return 4
    if isinstance(item, str) and (
        item.startswith("http") or (len(item) > 30 and " " not in item and "/" not in item)
    ):
        return 3
    if key.lower() in KEY_FIELDS:
        return 0
    return 2 if isinstance(item, dict | list) else 1


# Read JSON out of a text: one document, several, one a line, or one that is cut off.


MAX_PARSED_CHARS = 4_000_000
"""Of a longer text, only so many characters at the start are parsed."""
MAX_REPAIRED_CHARS = 200_000
"""Characters of a broken document that are read."""
MAX_DOCUMENTS = 20_000
JSON_PIECE = Pattern(r'"[^"\\]*+(?:\\.[^"\\]*+)*+("?)|[{}\[\],]', re.DOTALL)
BLANK = Pattern(r"\s*+")


class Documents(Struct, frozen=True):
    """The values in a text."""

    values: tuple[Json, ...]
    cut: bool = False
    """Whether the last value was cut off."""
    broken: int = 0
    """Lines or ends that are not JSON."""


def documents_of(text: str) -> Documents:
    """Read all JSON values in a text."""
    text = text.strip().lstrip("\ufeff")
    cut = len(text) > MAX_PARSED_CHARS
    text = text[:MAX_PARSED_CHARS] if cut else text
    if not cut and (document := _parse_value(text)) is not None:
        return Documents((document[0],))
    return _read_by_line(text) if _is_by_line(text) else _read_sequence(text)


def _parse_value(text: str) -> tuple[Json] | None:
    """Return the value, in a tuple because it may be null; None if the text is not JSON."""
    try:
        return (parse(to_bytes(text))[0],)
    except (NotJson, RecursionError):
        return None


def _is_by_line(text: str) -> bool:
    first = text[:MAX_REPAIRED_CHARS].partition("\n")
    return (
        bool(first[1])
        and first[0].rstrip()[-1:] in {"}", "]"}
        and _parse_value(first[0]) is not None
    )


def _read_by_line(text: str) -> Documents:
    values: list[Json] = []
    broken = 0
    rows = [row for row in text.split("\n") if row.strip()]
    for row in rows:
        value = _parse_value(row)
        if value is None:
            broken += 1
        else:
            values.append(value[0])
    return Documents(tuple(values), broken=broken)


def _read_sequence(text: str) -> Documents:
    """Read documents one after another; the last may be cut off."""
    values: list[Json] = []
    decoder = json.JSONDecoder()
    at = 0
    while at < len(text) and len(values) < MAX_DOCUMENTS:
        try:
            value, at = cast(tuple[Json, int], decoder.raw_decode(text, at))
        except (ValueError, RecursionError):
            break
        values.append(value)
        at = _after_blank(text, at)
    if at >= len(text):
        return Documents(tuple(values))
    rest = (
        _parse_value(close_document(text[at : at + MAX_REPAIRED_CHARS]))
        if text[at] in "{["
        else None
    )
    if rest is None:
        return Documents(tuple(values), broken=1)
    return Documents((*values, rest[0]), cut=True)


def _after_blank(text: str, at: int) -> int:
    match = BLANK.match(text, at)
    return match.end() if match else at


def close_document(text: str) -> str:
    """Complete a document that was cut off: close its brackets after the last whole member."""
    # The stack is a linked list, so that storing it at each comma is cheap.
    stack: tuple[str, object] | None = None
    end, at_end = 0, None
    for match in JSON_PIECE.finditer(text):
        piece = match[0]
        if piece in {"{", "["}:
            stack = ("}" if piece == "{" else "]", stack)
            end, at_end = match.end(), stack
        elif piece in {"}", "]"}:
            if stack is None or stack[0] != piece:
                break
            stack = cast("tuple[str, object] | None", stack[1])
            end, at_end = match.end(), stack
        elif piece == ",":
            end, at_end = match.start(), stack
    closers: list[str] = []
    while at_end is not None:
        closers.append(at_end[0])
        at_end = cast("tuple[str, object] | None", at_end[1])
    return text[:end] + "".join(closers)


# Rows of one table in JSON: repeated values, and rows that differ from the rest.


MAX_COUNTED_VALUES = 6
"""Values are counted one by one for keys with at most so many distinct ones."""
DULL_KEY = Pattern(r"(?:_at|At|_id|Id|_sha|_url|Url|sha|date|_date|time)$")
"""Ends of keys whose repeated values mean nothing: "created_at", "userId". Must not match
"status"."""
STATUS_FIELDS = (
    "status",
    "state",
    "conclusion",
    "result",
    "outcome",
    "level",
    "severity",
    "success",
)
BAD_STATES = ("fail", "err", "crit", "fatal", "timed", "denied", "reject", "invalid", "high")
"""Beginnings of a status that a reader looks for."""
ERROR_FIELDS = frozenset({"error", "errors", "exception", "failure", "failed", "err", "stderr"})


def repeated_values(rows: Sequence[dict[str, Json]], width: int) -> Iterator[str]:
    """Yield the values of each key that has few, with their counts."""
    if len(rows) < 4:
        return
    keys = dict.fromkeys(key for row in rows[:200] for key in row)
    for key in key_fields_first(list(keys))[:60]:
        values = [row[key] for row in rows if key in row]
        if DULL_KEY.search(key):
            continue
        if any(isinstance(value, dict | list) for value in values[:50]):
            continue
        counts = Counter(
            scalar(value, 40) for value in values if not isinstance(value, dict | list)
        )
        if 2 <= len(counts) <= MAX_COUNTED_VALUES and len(counts) * 2 <= len(values):
            values_shown = ", ".join(f"{value} ×{times}" for value, times in counts.most_common())
            yield squeeze(f"{key}: {values_shown}", width)


def odd_rows(rows: Sequence[dict[str, Json]]) -> dict[int, str]:
    """Return the rows that differ from the rest, by index, with the reason."""
    if len(rows) < 3:
        return {}
    present = Counter(key for row in rows for key in row)
    empty = Counter(key for row in rows for key, item in row.items() if item is None)
    most = len(rows)
    few = max(most // 10, 1)
    rare = {key for key, times in present.items() if times <= few}
    usual = {key for key, times in present.items() if times >= most - few}
    bad_rows = Counter(key for row in rows for key in STATUS_FIELDS if _is_bad(row.get(key)))
    rarely_bad = {key for key, times in bad_rows.items() if times * 3 <= most}
    odd: dict[int, str] = {}
    for at, row in enumerate(rows):
        extra = [key for key in row if key in rare]
        missing = [key for key in usual if key not in row]
        nulls = [key for key, item in row.items() if item is None and empty[key] <= few]
        trouble = [
            key
            for key, item in row.items()
            if item and key.lower() in ERROR_FIELDS and empty[key] * 2 > most
        ]
        bad = [
            f"{key} {row[key]}"
            for key in STATUS_FIELDS
            if _is_bad(row.get(key)) and key in rarely_bad
        ]
        reasons = [
            ("", bad),
            ("has", extra),
            ("lacks", sorted(missing)),
            ("null", nulls),
            ("set", trouble),
        ]
        why = ", ".join(f"{word} {join_names(keys, 3)}".strip() for word, keys in reasons if keys)
        if why:
            odd[at] = why
    return odd


def _is_bad(value: Json) -> bool:
    return isinstance(value, str) and value.lower().startswith(BAD_STATES)


# The outline: shape, counts, repeated values and odd rows.


MAX_DEPTH = 4
MAX_FIRST_ROWS = 40
"""The first rows may be shown even if they are not odd."""
MAX_ODD_ROWS = 12
"""If more rows are odd, they are not shown before the others."""


def outline_records(reading: TextReading, lines: int, width: int) -> Sketch:
    """Show the shape of the JSON, repeated values, and the first and the odd rows."""
    documents = documents_of(reading.whole)
    if not documents.values:
        return Sketch(
            _unreadable_summary(reading),
            tuple(row.strip() for row in reading.rows[: max(lines, 0)]),
        )
    many = len(documents.values) > 1
    value: Json = list(documents.values) if many else documents.values[0]
    details: list[Detail] = []
    for rank, text in _value_lines(value, 0, width):
        details.append(Detail(rank, len(details), text))
        if len(details) > 1_000:
            break
    return Sketch(_summary(value, documents, many), best_lines(details, lines))


def _unreadable_summary(reading: TextReading) -> str:
    return f"JSON that no reader can parse, {with_noun(len(reading.whole), 'character')}"


def _summary(value: Json, documents: Documents, many: bool) -> str:
    flaws = ", cut off in the middle" if documents.cut else ""
    flaws += f", {with_noun(documents.broken, 'part')} unreadable" if documents.broken else ""
    if many:
        return f"JSON: {with_noun(len(as_list(value)), 'document')}{keys_of(as_list(value))}{flaws}"
    return f"JSON: {shape_of(value, keys=10)}{flaws}"


def _value_lines(value: Json, depth: int, width: int) -> Iterator[tuple[int, str]]:
    """Yield lines about a value, each with its rank."""
    match value:
        case dict() if is_map(value):
            rows = [as_object(item) for item in value.values()]
            yield from _row_lines(
                list(value)[:MAX_COMPARED_ROWS], rows[:MAX_COMPARED_ROWS], depth, width
            )
        case dict():
            yield from _object_lines(value, depth, width)
        case list():
            yield from _list_lines(value, depth, width)
        case str() if depth == 0:
            for start in range(0, min(len(value), width * 40), width):
                yield 1, squeeze(value[start : start + width], width)
        case _:
            yield 1, scalar(value, width)


def _object_lines(
    value: dict[str, Json], depth: int, width: int, *, prefix: str = ""
) -> Iterator[tuple[int, str]]:
    for key, item in value.items():
        label = "  " * min(depth, MAX_DEPTH) + squeeze(prefix + key, 60)
        if isinstance(item, dict) and len(item) == 1 and prefix.count(".") < MAX_DEPTH:
            # An object with one member gets no level of its own.
            yield from _object_lines(item, depth, width, prefix=f"{prefix}{key}.")
        elif isinstance(item, dict | list) and item:
            yield from _nested_lines(item, label, depth, width)
        else:
            room = max(width - len(label) - 24, 20)
            yield _rank(key, item, depth), f"{label}: {scalar(item, room)}"


def _nested_lines(
    item: dict[str, Json] | list[Json], label: str, depth: int, width: int
) -> Iterator[tuple[int, str]]:
    base = 1 + depth * 2
    if isinstance(item, list):
        yield base, f"{label}: {array_of(item)}"
    elif is_map(item):
        yield (
            base,
            f"{label}: map of {with_noun(len(item), 'object')}{keys_of(list(item.values()))}",
        )
    elif len(item) <= 6 and not any(is_rows(inner) for inner in item.values()):
        yield base, f"{label}: {on_one_line(item, width - len(label) - 4)}"
        return
    else:
        yield base, f"{label}: {on_one_line(item, width - len(label) - 4)}"
        depth += 1
    if depth < MAX_DEPTH:
        yield from _value_lines(item, depth + 1, width)


def is_map(value: dict[str, Json]) -> bool:
    """Return whether the members are rows of one table, named by their keys."""
    items = list(value.values())[:20]
    rows = [as_object(item) for item in items if isinstance(item, dict)]
    if len(rows) < 3 or len(rows) < len(items):
        return False
    shared = set(rows[0]).intersection(*rows[1:])
    return bool(shared) and len(shared) * 2 >= len(rows[0])


def _rank(key: str, item: Json, depth: int) -> int:
    base = 1 + depth * 2
    if key.lower() in ERROR_FIELDS and item:
        return 0
    if key.lower() in KEY_FIELDS:
        return base
    dull = item in (None, "", False) or (isinstance(item, str) and item.startswith("http"))
    return base + (2 if dull else 1)


def _list_lines(items: list[Json], depth: int, width: int) -> Iterator[tuple[int, str]]:
    indent = "  " * min(depth, MAX_DEPTH)
    base = 1 + depth * 2
    rows = [as_object(item) for item in items[:MAX_COMPARED_ROWS] if isinstance(item, dict)]
    if not rows or len(rows) * 2 < min(len(items), MAX_COMPARED_ROWS):
        for at, item in enumerate(items[:60]):
            yield base + min(at // 4, 6), f"{indent}[{at}] {on_one_line(item, width - 12)}"
    elif len(items) == 1:
        yield from _object_lines(rows[0], depth, width, prefix="[0].")
    else:
        yield from _row_lines([f"[{at}]" for at in range(len(rows))], rows, depth, width)


def _row_lines(
    labels: Sequence[str], rows: Sequence[dict[str, Json]], depth: int, width: int
) -> Iterator[tuple[int, str]]:
    """Yield the repeated values of a table, then its rows, each with the reason if it is odd."""
    indent = "  " * min(depth, MAX_DEPTH)
    base = 1 + depth * 2
    for line in repeated_values(rows, width):
        yield base + 1, indent + line
    odd = odd_rows(rows)
    for at, (label, row) in enumerate(zip(labels, rows, strict=True)):
        why = odd.get(at, "")
        if at >= MAX_FIRST_ROWS and not (why and len(odd) <= MAX_ODD_ROWS):
            continue
        rank = base if at == 0 or (why and len(odd) <= MAX_ODD_ROWS) else base + 1 + min(at // 6, 8)
        start = indent + squeeze(label, 40) + (f" ({why})" if why else "")
        yield rank, f"{start} {on_one_line(row, width - len(start) - 2)}"
        if len(rows) <= 8:
            yield from _text_lines(row, f"{indent}{squeeze(label, 40)}", base, width)


def _text_lines(
    row: dict[str, Json], label: str, base: int, width: int
) -> Iterator[tuple[int, str]]:
    """Yield a few lines of each long string."""
    for key, item in row.items():
        if isinstance(item, str) and len(item) > MIN_DOCUMENT_CHARS and not item.startswith("http"):
            for order, line in enumerate(_paragraphs(item)):
                rank = base + (1 if key in KEY_FIELDS else 4) + order // 2
                yield rank, f"{label}.{key}: {squeeze(line, width - 24)}"


def _paragraphs(text: str) -> list[str]:
    """Return the headings of a text if it has more than two, else its first lines."""
    rows = [row.strip() for row in text[:20_000].split("\n") if row.strip(" \t\r-`=*")]
    rows = [row for row in rows if not row.startswith("<!--")]
    headings = [row for row in rows if row.startswith("#")]
    return (headings if len(headings) > 2 else rows)[:12]
