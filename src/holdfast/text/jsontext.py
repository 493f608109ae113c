"""Parse, encode, normalize and split JSON, including invalid JSON that agents write.

Parsing is strict and fast by default. Text that a strict parser refuses but that agents write (lone
surrogates, NaN, a number that no double can hold, bytes that are not UTF-8) is parsed leniently,
and the result names the flaw. Such values may contain lone surrogates: `without_surrogates` returns
the storable form, which every body must have.
"""

import json
from collections.abc import Mapping
from math import isfinite
from typing import TypeAlias, cast

import msgspec

from holdfast.text.patterns import Pattern
from holdfast.text.utf8 import to_bytes

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

SURROGATE = Pattern("[\ud800-\udfff]")


class NotJson(ValueError):
    """The bytes are not a JSON value; the message gives the reason."""


def parse(raw: bytes) -> tuple[Json, str | None]:
    """Parse one JSON value; the second item names its flaw, or is None.

    Raises:
        NotJson: it cannot be parsed leniently either.
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


def without_surrogates(value: Json) -> Json:
    """Replace every lone surrogate in the texts of a value by U+FFFD, so that UTF-8 can hold it."""
    match value:
        case str():
            return SURROGATE.sub("\ufffd", value)
        case list():
            return [without_surrogates(item) for item in value]
        case dict():
            return {
                str(without_surrogates(key)): without_surrogates(item)
                for key, item in value.items()
            }
        case _:
            return value


def encode(value: object) -> bytes:
    """Encode a value as compact JSON that parses to an equal value; keep the order of keys.

    Raises:
        NotJson: it contains something without a JSON form.
    """
    try:
        raw = msgspec.json.encode(value, enc_hook=_sdk_to_json)
    except UnicodeEncodeError:
        return _encode_leniently(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJson(str(error) or "nested too deeply") from None
    # msgspec silently writes NaN and the infinities as null.
    if b"null" in raw and _has_odd_float(value):
        return _encode_leniently(value)
    return raw


def _encode_leniently(value: object) -> bytes:
    try:
        return json.dumps(value, separators=(",", ":"), default=_sdk_to_json).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def _sdk_to_json(value: object) -> object:
    """Return the JSON form of a message object of a provider's SDK."""
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
    """Encode a value with sorted keys and without spaces: equal values give equal bytes."""
    try:
        return msgspec.json.encode(value, order="sorted")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


VOLATILE = frozenset({"cache_control"})
"""Members that a client adds and removes between requests without a change of meaning."""


def stable_text(value: Json) -> str:
    """Return the canonical text of a value without its volatile members."""
    return canonical(_without_volatile(value)).decode()


def _without_volatile(value: Json) -> Json:
    if isinstance(value, dict):
        members = as_object(value).items()
        return {key: _without_volatile(item) for key, item in members if key not in VOLATILE}
    if isinstance(value, list):
        return [_without_volatile(item) for item in as_list(value)]
    return value


def canonical_text(text: str) -> str:
    """Return the canonical form of JSON text; strip text that is not JSON."""
    try:
        value, _ = parse(to_bytes(text))
        return canonical(value).decode()
    except (NotJson, RecursionError):
        return text.strip()


def members(raw: bytes) -> dict[str, bytes]:
    """Return the members of a JSON object, each value as its original bytes.

    Raises:
        NotJson: it is not an object.
    """
    try:
        slices = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        return {key: bytes(value) for key, value in slices.items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value, _ = parse(raw)
        return {key: encode(item) for key, item in as_object(value).items()}


def elements(raw: bytes) -> list[bytes]:
    """Return the elements of a JSON array, each as its original bytes.

    Raises:
        NotJson: it is not an array.
    """
    try:
        return [bytes(item) for item in msgspec.json.decode(raw, type=list[msgspec.Raw])]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value, _ = parse(raw)
        return [encode(item) for item in as_list(value)]


def join_object(parts: Mapping[str, bytes]) -> bytes:
    """Join members that are given as bytes into a JSON object."""
    return b"{" + b",".join(encode(key) + b":" + value for key, value in parts.items()) + b"}"


def join_array(parts: list[bytes]) -> bytes:
    """Join elements that are given as bytes into a JSON array."""
    return b"[" + b",".join(parts) + b"]"


def as_object(value: object) -> dict[str, Json]:
    """Return the value if it is an object, else an empty object."""
    return cast(dict[str, Json], value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Json]:
    """Return the value if it is an array, else an empty array."""
    return cast(list[Json], value) if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Return the value if it is a text, else an empty text."""
    return value if isinstance(value, str) else ""


def as_count(value: object) -> int:
    """Return the value if it is a whole number above zero, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def whole_number(text: str) -> int | None:
    """Parse a whole number of at most nine ASCII digits; None for other text such as `²`."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
