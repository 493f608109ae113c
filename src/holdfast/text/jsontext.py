"""JSON as a ledger needs it: whatever a client wrote is read, and its bytes can be taken apart.

Strict and fast by default. Text that a strict reader refuses but that agents do write (lone
surrogates, NaN, a number no double holds, bytes that are not UTF-8) is read by the lenient path,
which says so. Values read leniently may hold lone surrogates: `cleaned` gives the storable form,
and whatever becomes a body has to be of that form.
"""

import json
import re
from collections.abc import Mapping
from math import isfinite
from typing import TypeAlias, cast

import msgspec

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

SURROGATE = re.compile("[\ud800-\udfff]")


class NotJson(ValueError):
    """These bytes are no JSON value; the message says why."""


def parse(raw: bytes) -> tuple[Json, str | None]:
    """Read one JSON value; the second item names what was wrong with it, if anything.

    Raises:
        NotJson: no reader can make a value of it.
    """
    try:
        return msgspec.json.decode(raw), None
    except RecursionError:
        raise NotJson("nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _parse_leniently(raw)


def _parse_leniently(raw: bytes) -> tuple[Json, str | None]:
    flaw = None
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text, flaw = raw.decode("utf-8", "surrogateescape"), "bytes that are not UTF-8"
    try:
        value = cast(Json, json.loads(text))
    except RecursionError:
        raise NotJson("nested too deeply") from None
    except ValueError as error:
        raise NotJson(_reason(error)) from None
    return value, flaw or "text that strict JSON forbids"


def _reason(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        if error.pos >= len(error.doc.rstrip()):
            return "the JSON ends in the middle"
        return f"not JSON ({error.msg.lower()} at character {error.pos + 1})"
    return "a number too long to read"


def cleaned(value: Json) -> Json:
    """A value whose texts UTF-8 can hold: every lone surrogate becomes U+FFFD."""
    match value:
        case str():
            return SURROGATE.sub("\ufffd", value)
        case list():
            return [cleaned(item) for item in value]
        case dict():
            return {str(cleaned(key)): cleaned(item) for key, item in value.items()}
        case _:
            return value


def encode(value: object) -> bytes:
    """Write a value as compact JSON that reads back equal, key order kept.

    Raises:
        NotJson: it holds something that JSON has no form for.
    """
    try:
        raw = msgspec.json.encode(value, enc_hook=_plain)
    except UnicodeEncodeError:
        return _encode_leniently(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJson(str(error) or "nested too deeply") from None
    # msgspec writes NaN and the infinities as null without a word.
    if b"null" in raw and _has_odd_float(value):
        return _encode_leniently(value)
    return raw


def _encode_leniently(value: object) -> bytes:
    try:
        return json.dumps(value, separators=(",", ":"), default=_plain).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def _plain(value: object) -> object:
    """The JSON form of a provider SDK's own message objects."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json", exclude_unset=True)
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def _has_odd_float(value: object) -> bool:
    match value:
        case float():
            return not isfinite(value)
        case dict():
            return any(_has_odd_float(item) for item in cast(dict[str, object], value).values())
        case list() | tuple():
            return any(_has_odd_float(item) for item in cast(list[object], value))
        case _:
            return False


def canonical(value: Json) -> bytes:
    """One spelling per value: keys sorted, no spaces."""
    try:
        return msgspec.json.encode(value, order="sorted")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


VOLATILE = frozenset({"cache_control"})
"""Members that a client moves between requests without meaning anything by it."""


def steady(value: Json) -> str:
    """The one spelling of a value, less what clients move about."""
    return canonical(_without_volatile(value)).decode()


def _without_volatile(value: Json) -> Json:
    if isinstance(value, dict):
        kept = as_object(value).items()
        return {key: _without_volatile(item) for key, item in kept if key not in VOLATILE}
    if isinstance(value, list):
        return [_without_volatile(item) for item in as_list(value)]
    return value


def same_spelling(text: str) -> str:
    """JSON text in its one spelling; text that is no JSON, less its outer white space."""
    try:
        value, _ = parse(text.encode("utf-8", "surrogatepass"))
        return canonical(value).decode()
    except (NotJson, RecursionError):
        return text.strip()


def members(raw: bytes) -> dict[str, bytes]:
    """The members of a JSON object, each value as the bytes it was written in.

    Raises:
        NotJson: it is no object.
    """
    try:
        slices = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        return {key: bytes(value) for key, value in slices.items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value, _ = parse(raw)
        return {key: encode(item) for key, item in as_object(value).items()}


def elements(raw: bytes) -> list[bytes]:
    """The elements of a JSON array, each as the bytes it was written in.

    Raises:
        NotJson: it is no array.
    """
    try:
        return [bytes(item) for item in msgspec.json.decode(raw, type=list[msgspec.Raw])]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value, _ = parse(raw)
        return [encode(item) for item in as_list(value)]


def joined_object(parts: Mapping[str, bytes]) -> bytes:
    """An object made of members given as bytes."""
    return b"{" + b",".join(encode(key) + b":" + value for key, value in parts.items()) + b"}"


def joined_array(parts: list[bytes]) -> bytes:
    """An array made of elements given as bytes."""
    return b"[" + b",".join(parts) + b"]"


def as_object(value: object) -> dict[str, Json]:
    """The value if it is an object, else an empty one: absent and misshapen read alike."""
    return cast(dict[str, Json], value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Json]:
    """The value if it is an array, else an empty one."""
    return cast(list[Json], value) if isinstance(value, list) else []


def as_text(value: object) -> str:
    """The value if it is text, else an empty one."""
    return value if isinstance(value, str) else ""


def as_count(value: object) -> int:
    """The value if it is a whole number above zero, else zero."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def whole_number(text: str) -> int | None:
    """A number that somebody typed: plain digits, and few enough of them; `²` is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
