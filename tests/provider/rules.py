"""What every rule of a provider is made of, and what all wires share: one body of valid JSON."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

Fields: TypeAlias = dict[str, Any]


class Broken(NamedTuple):
    """One broken rule: which, where, about what, and a sentence."""

    rule: str
    at: str
    about: str
    """The call, block type or key that is concerned: with `rule`, what makes two breaks alike."""
    says: str

    def __str__(self) -> str:
        return f"{self.at}: {self.says} [{self.rule}]"


def fields(value: object) -> Fields:
    """An object's members; none of what is no object."""
    return cast("Fields", value) if isinstance(value, dict) else {}


def elements(value: object) -> list[Any]:
    """A list's elements; none of what is no list."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def is_a(value: object, *kinds: type) -> bool:
    """`isinstance`, for a value that stays of any type."""
    return isinstance(value, kinds)


def name(value: object) -> str:
    """A text, or nothing: so that garbage can be looked up like a name."""
    return value if isinstance(value, str) else ""


def unknown_keys(at: str, kind: str, value: Fields, allowed: frozenset[str]) -> Iterator[Broken]:
    """Members that a provider refuses ("Extra inputs are not permitted")."""
    for key in value:
        if key not in allowed:
            yield Broken("extra_key", at, f"{kind}.{key}", f"{key!r} is not permitted in {kind}")


def one_body(at: str, messages: Sequence[object]) -> Iterator[Broken]:
    """A request is one JSON text in UTF-8, or the provider reads none of it."""
    if not messages:
        yield Broken("no_messages", at, "", "at least one message is required")
    try:
        json.dumps(messages, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        yield Broken("not_utf8", at, "", "the request body holds a lone surrogate")
    except (TypeError, ValueError, RecursionError):
        yield Broken("not_json", at, "", "the request body is not valid JSON")


def is_json(text: str) -> bool:
    """Whether a text is one JSON value."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def canonical(value: object) -> str:
    """One spelling for all that differ in key order only."""
    try:
        return json.dumps(value, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return f"not JSON: {type(value).__name__}"
