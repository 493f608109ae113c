"""The words in rows, changed one by one; what only says where something stands stays as it is."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

import msgspec
from msgspec import Struct

S = TypeVar("S", bound=Struct)

NAMES = frozenset(
    {
        *("entry", "lifted", "resolved", "overrules", "at", "by", "action", "owner"),
        *("type", "refs", "upto", "checksum", "signature", "created", "file", "act"),
        *("depth", "outcome", "task_type", "made_by", "creator", "audience", "session", "pane"),
        *("edited", "stale_after", "status"),
    }
)
"""Members of rows that are no words of anyone: ids, moments, and one of a few that are known."""


def worded(row: S, change: Callable[[str, str], str], entry: str = "") -> S:
    """A row, and the rows in it, with every text changed; a change is told whose entry it is of."""
    return msgspec.convert(_changed(msgspec.to_builtins(row), change, entry), type(row))


def _changed(value: object, change: Callable[[str, str], str], entry: str) -> object:
    match value:
        case str():
            return change(value, entry)
        case list() | tuple():
            return [_changed(one, change, entry) for one in cast(Sequence[object], value)]
        case dict():
            rows = cast(Mapping[str, object], value)
            own = str(rows.get("entry", "")) or entry
            return {
                # A report names its packet by an id; what was handed over holds one.
                key: one
                if key in NAMES or (key == "packet" and isinstance(one, str))
                else _changed(one, change, own)
                for key, one in rows.items()
            }
        case _:
            return value
