"""JSON values in few words: their form, or themselves on one line."""

from collections import Counter
from collections.abc import Sequence

from holdfast.core.ledger.jsontext import Json, as_list, as_object
from holdfast.core.shrink.outline.fitting import count_of, named, squeezed

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
