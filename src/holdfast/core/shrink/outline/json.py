"""JSON values in few words: their form, or themselves on one line."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import cast

from msgspec import Struct

from holdfast.core.shrink.outline.fit import Detail, Sketch, chosen, count_of, named, squeezed
from holdfast.core.shrink.outline.reading import Reading
from holdfast.text.jsontext import Json, NotJson, as_list, as_object, parse

LONG_TEXT = 200
"""A string longer than this is a document of its own."""
ROWS = 2_000
"""Rows whose values are compared."""
WHICH = ("id", "name", "title", "key", "number", "version", "label", "kind", "type", "tool")
WHERE = ("path", "file", "line", "ref", "branch", "sha", "command")
HOW = ("status", "state", "conclusion", "result", "level", "severity", "code", "error", "reason")
WHO = ("author", "user", "login", "email", "role")
SAID = ("message", "body", "text", "description", "summary")
TELLING = frozenset((*WHICH, *WHERE, *HOW, *WHO, *SAID))
"""Keys by which a reader knows a row."""


def shape_of(value: Json, *, keys: int = 6) -> str:
    """A value by its form: what it is, how many it holds, its keys."""
    match value:
        case dict():
            if not value:
                return "empty object"
            shown = (_member(key, item) for key, item in _by_weight(value))
            return f"object with {count_of(len(value), 'key')} ({named(shown, keys)})"
        case list():
            return array_of(value)
        case str():
            return f"string of {count_of(len(value), 'character')}"
        case _:
            return scalar(value, 40)


def _by_weight(value: dict[str, Json]) -> list[tuple[str, Json]]:
    """Members in their order, the arrays of objects first: they are what the rest is about."""
    return sorted(value.items(), key=lambda pair: not is_rows(pair[1]))


def _member(key: str, item: Json) -> str:
    return f"{key}: {len(as_list(item)):,} objects" if is_rows(item) else key


def is_rows(value: Json) -> bool:
    """Whether the value is a list of objects."""
    items = as_list(value)
    return len(items) > 1 and all(isinstance(item, dict) for item in items[:20])


def array_of(items: list[Json]) -> str:
    """An array by what it holds."""
    if not items:
        return "empty array"
    kinds = Counter(_type(item) for item in items[:ROWS])
    if len(kinds) > 1:
        told = (f"{times} {kind}" for kind, times in kinds.most_common())
        return f"array of {len(items):,} ({named(told, 4)})"
    kind = next(iter(kinds))
    if kind == "object":
        return f"array of {count_of(len(items), 'object')}{keys_of(items)}"
    names = {"str": "string", "int": "number", "float": "number", "bool": "boolean"}
    return f"array of {count_of(len(items), names.get(kind, kind))}"


def keys_of(items: Sequence[Json]) -> str:
    """The keys of some objects in brackets, those that tell most first."""
    counts: Counter[str] = Counter()
    for item in items[:200]:
        counts.update(as_object(item).keys())
    return f" ({named(telling_first(list(counts)), 8)})" if counts else ""


def telling_first(keys: Sequence[str]) -> list[str]:
    """Keys in their order, those that tell most first."""
    return sorted(keys, key=lambda key: key.lower() not in TELLING)


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
    """A plain value as JSON writes it, cut to a width."""
    match value:
        case str():
            more = f" ({len(value):,} chars)" if len(value) > LONG_TEXT else ""
            return f'"{squeezed(value, width)}"{more}'
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case int():
            # A number of thousands of digits has no decimal form that Python will write.
            return str(value) if abs(value) < 10**40 else "a very long number"
        case _:
            return squeezed(str(value), width)


def compact(value: Json, width: int) -> str:
    """A value on one line, its most telling members first."""
    match value:
        case dict():
            return "{" + _members(value, max(width - 2, 8)) + "}"
        case list():
            return _short_list(value, width)
        case _:
            return scalar(value, max(width, 8))


def _short_list(items: list[Json], width: int) -> str:
    if all(not isinstance(item, dict | list) for item in items[:20]) and len(items) <= 20:
        shown = squeezed(", ".join(scalar(item, 30) for item in items), width)
        return f"[{shown}]"
    return f"[{len(items):,} items]"


def _members(value: dict[str, Json], width: int) -> str:
    shown: list[str] = []
    left = width
    members = sorted(value.items(), key=lambda pair: _dullness(pair[0], pair[1]))
    for key, item in members[:40]:
        name = squeezed(key, 40)
        text = f"{name}: {_inner(item, min(60, max(left - len(name) - 4, 8)))}"
        if len(text) + 2 <= left or not shown:
            shown.append(text)
            left -= len(text) + 2
    return ", ".join(shown) + (", …" if len(shown) < len(value) else "")


def _inner(item: Json, width: int) -> str:
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
    if key.lower() in TELLING:
        return 0
    return 2 if isinstance(item, dict | list) else 1


# JSON out of a text: one document, several, one to a line, or one that is cut off.


WHOLE = 4_000_000
"""Characters that are parsed; of more than that, the start."""
REPAIRED = 200_000
"""Characters of a broken document that are looked at."""
DOCUMENTS = 20_000
PIECE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+("?)|[{}\[\],]', re.DOTALL)
BLANK = re.compile(r"\s*+")


class Documents(Struct, frozen=True):
    """The values in a text."""

    values: tuple[Json, ...]
    cut: bool = False
    """The last one ended in the middle."""
    broken: int = 0
    """Lines or ends that no reader could make a value of."""


def documents_of(text: str) -> Documents:
    """Read whatever JSON there is."""
    text = text.strip().lstrip("\ufeff")
    cut = len(text) > WHOLE
    text = text[:WHOLE] if cut else text
    if not cut and (one := _value(text)) is not None:
        return Documents((one[0],))
    return _by_line(text) if _is_by_line(text) else _in_a_row(text)


def _value(text: str) -> tuple[Json] | None:
    """The value, in a tuple because it may be null."""
    try:
        return (parse(text.encode("utf-8", "surrogatepass"))[0],)
    except (NotJson, RecursionError):
        return None


def _is_by_line(text: str) -> bool:
    first = text[:REPAIRED].partition("\n")
    return bool(first[1]) and first[0].rstrip()[-1:] in {"}", "]"} and _value(first[0]) is not None


def _by_line(text: str) -> Documents:
    values: list[Json] = []
    broken = 0
    rows = [row for row in text.split("\n") if row.strip()]
    for row in rows:
        value = _value(row)
        if value is None:
            broken += 1
        else:
            values.append(value[0])
    return Documents(tuple(values), broken=broken)


def _in_a_row(text: str) -> Documents:
    """Documents one after another, the last perhaps cut off."""
    values: list[Json] = []
    decoder = json.JSONDecoder()
    at = 0
    while at < len(text) and len(values) < DOCUMENTS:
        try:
            value, at = cast(tuple[Json, int], decoder.raw_decode(text, at))
        except (ValueError, RecursionError):
            break
        values.append(value)
        at = _after_blank(text, at)
    if at >= len(text):
        return Documents(tuple(values))
    rest = _value(mended(text[at : at + REPAIRED])) if text[at] in "{[" else None
    if rest is None:
        return Documents(tuple(values), broken=1)
    return Documents((*values, rest[0]), cut=True)


def _after_blank(text: str, at: int) -> int:
    match = BLANK.match(text, at)
    return match.end() if match else at


def mended(text: str) -> str:
    """A document that ends in the middle, ended after its last whole member."""
    # The stack is a chain, so that remembering it at each comma costs nothing.
    stack: tuple[str, object] | None = None
    end, at_end = 0, None
    for match in PIECE.finditer(text):
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


# Rows of one table in JSON: what repeats in them, and which differ from the rest.


FEW = 6
"""Distinct values of a key that are worth counting one by one."""
DULL = re.compile(r"(?:_at|At|_id|Id|_sha|_url|Url|sha|date|_date|time)$")
"""Keys whose values repeat without meaning anything."""
STATES = ("status", "state", "conclusion", "result", "outcome", "level", "severity", "success")
BAD = ("fail", "err", "crit", "fatal", "timed", "denied", "reject", "invalid", "high")
"""How a state starts that a reader looks for."""
TROUBLE = frozenset({"error", "errors", "exception", "failure", "failed", "err", "stderr"})


def repeated(rows: Sequence[dict[str, Json]], width: int) -> Iterator[str]:
    """For each key with few values: which, and how often."""
    if len(rows) < 4:
        return
    keys = dict.fromkeys(key for row in rows[:200] for key in row)
    for key in telling_first(list(keys))[:60]:
        values = [row[key] for row in rows if key in row]
        if DULL.search(key):
            continue
        if any(isinstance(value, dict | list) for value in values[:50]):
            continue
        counts = Counter(
            scalar(value, 40) for value in values if not isinstance(value, dict | list)
        )
        if 2 <= len(counts) <= FEW and len(counts) * 2 <= len(values):
            told = ", ".join(f"{value} ×{times}" for value, times in counts.most_common())
            yield squeezed(f"{key}: {told}", width)


def odd_rows(rows: Sequence[dict[str, Json]]) -> dict[int, str]:
    """Rows that differ from the rest, with why."""
    if len(rows) < 3:
        return {}
    present = Counter(key for row in rows for key in row)
    empty = Counter(key for row in rows for key, item in row.items() if item is None)
    most = len(rows)
    few = max(most // 10, 1)
    rare = {key for key, times in present.items() if times <= few}
    usual = {key for key, times in present.items() if times >= most - few}
    bad_rows = Counter(key for row in rows for key in STATES if _is_bad(row.get(key)))
    rarely_bad = {key for key, times in bad_rows.items() if times * 3 <= most}
    odd: dict[int, str] = {}
    for at, row in enumerate(rows):
        extra = [key for key in row if key in rare]
        missing = [key for key in usual if key not in row]
        nulls = [key for key, item in row.items() if item is None and empty[key] <= few]
        trouble = [
            key
            for key, item in row.items()
            if item and key.lower() in TROUBLE and empty[key] * 2 > most
        ]
        bad = [f"{key} {row[key]}" for key in STATES if _is_bad(row.get(key)) and key in rarely_bad]
        told = [
            ("", bad),
            ("has", extra),
            ("lacks", sorted(missing)),
            ("null", nulls),
            ("set", trouble),
        ]
        why = ", ".join(f"{word} {named(keys, 3)}".strip() for word, keys in told if keys)
        if why:
            odd[at] = why
    return odd


def _is_bad(value: Json) -> bool:
    return isinstance(value, str) and value.lower().startswith(BAD)


# JSON: its shape, its counts, the values that repeat, and the rows that stand out.


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
