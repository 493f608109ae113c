"""Write plain values as YAML that every parser reads as the same values.

YAML 1.1 reads `no` as false, `12:30` as a number and `1.10` as 1.1. So every text is written in
quotes or as a block of lines; only keys are written without quotes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from holdfast.text.patterns import Pattern

_BARE = Pattern(r"[A-Za-z_][A-Za-z0-9_-]{0,60}")
_RESERVED = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_ESCAPED = Pattern(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]')
_NOT_IN_BLOCK = Pattern(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|[ \t]\n")
"""Characters that a block of lines cannot contain, or that a parser would change."""
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def to_yaml(value: Mapping[str, object]) -> str:
    """Return a mapping as a YAML document."""
    return "".join(f"{line}\n" for line in _mapping(value, 0))


def _mapping(value: Mapping[str, object], depth: int) -> Iterator[str]:
    for key, inner in value.items():
        yield from _member(f"{'  ' * depth}{_key(key)}:", inner, depth)


def _member(head: str, value: object, depth: int) -> Iterator[str]:
    match value:
        case dict() if value:
            yield head
            yield from _mapping(cast(Mapping[str, object], value), depth + 1)
        case list() | tuple() if value:
            yield from _list(head, cast(Sequence[object], value), depth)
        case str() if is_block(value):
            yield from _block(head, value, depth + 1)
        case _:
            yield f"{head} {_scalar(value)}"


def _list(head: str, values: Sequence[object], depth: int) -> Iterator[str]:
    if all(type(item) is int for item in values):
        yield f"{head} [{', '.join(map(str, values))}]"
        return
    yield head
    yield from _items(values, depth + 1)


def _items(values: Sequence[object], depth: int) -> Iterator[str]:
    dash = f"{'  ' * depth}-"
    for value in values:
        if isinstance(value, dict) and value:
            first, *others = _mapping(cast(Mapping[str, object], value), depth + 1)
            yield f"{dash} {first.lstrip()}"
            yield from others
        else:
            yield from _member(dash, cast(object, value), depth)


def is_block(text: str) -> bool:
    """Whether a text can be written as a block of lines and is read back unchanged."""
    if "\n" not in text.rstrip("\n") or text.endswith("\n\n"):
        return False
    return not text[0].isspace() and text[-1:] != " " and not _NOT_IN_BLOCK.search(text)


def _block(head: str, text: str, depth: int) -> Iterator[str]:
    yield f"{head} {'|' if text.endswith(chr(10)) else '|-'}"
    indent = "  " * depth
    for line in text.removesuffix("\n").split("\n"):
        yield f"{indent}{line}" if line else ""


def _scalar(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(value)
        case dict():
            return "{}"
        case list() | tuple():
            return "[]"
        case _:
            return str(value)


def _key(key: str) -> str:
    bare = _BARE.fullmatch(key) and key.lower() not in _RESERVED
    return key if bare else _quoted(key)


def _quoted(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"  # a lone surrogate, which UTF-8 cannot encode
    code = ord(character)
    return _SHORT_ESCAPES.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
