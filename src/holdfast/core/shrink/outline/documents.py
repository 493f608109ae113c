"""JSON out of a text: one document, several, one to a line, or one that is cut off."""

import json
import re
from typing import cast

from msgspec import Struct

from holdfast.core.ledger.jsontext import Json, NotJson, parse

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
