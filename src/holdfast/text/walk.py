"""Apply a function to every text inside a Struct, except ids, times and fixed values."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

import msgspec
from msgspec import Struct

S = TypeVar("S", bound=Struct)

NON_TEXT_MEMBERS = frozenset(
    {
        *("entry", "lifted", "resolved", "overrules", "at", "by", "action", "owner"),
        *("type", "refs", "upto", "checksum", "signature", "created", "file", "act"),
        *("depth", "outcome", "task_type", "made_by", "creator", "audience", "session", "pane"),
        *("edited", "stale_after", "status"),
    }
)
"""Members without free text: ids, times and values of a fixed set."""


def map_texts(row: S, change: Callable[[str, str], str], entry: str = "") -> S:
    """Return a row with every text in it changed; `change` gets a text and the id of its entry."""
    return msgspec.convert(_map_value(msgspec.to_builtins(row), change, entry), type(row))


def texts_in(row: Struct) -> list[str]:
    """Return every text in a row, in order."""
    found = list[str]()

    def keep(text: str, entry: str) -> str:
        del entry
        found.append(text)
        return text

    _map_value(msgspec.to_builtins(row), keep, "")
    return found


def _map_value(value: object, change: Callable[[str, str], str], entry: str) -> object:
    match value:
        case str():
            return change(value, entry)
        case list() | tuple():
            return [_map_value(item, change, entry) for item in cast(Sequence[object], value)]
        case dict():
            rows = cast(Mapping[str, object], value)
            own = str(rows.get("entry", "")) or entry
            return {
                # `packet` is an id in a report, and a whole packet in `PacketSent`.
                key: item
                if key in NON_TEXT_MEMBERS or (key == "packet" and isinstance(item, str))
                else _map_value(item, change, own)
                for key, item in rows.items()
            }
        case _:
            return value
