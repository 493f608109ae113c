"""What calls take: arguments become values, and what is wrong with them becomes a sentence."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec
from msgspec import Struct

from holdfast.errors import Unreadable
from holdfast.surfaces.mcp.project_cache import Desk
from holdfast.text.jsontext import Json

T = TypeVar("T", bound=Struct)


class Act(Struct, frozen=True):
    """What a tool does, and what it takes."""

    takes: type[Struct]
    run: Callable[[Desk, str, Mapping[str, Json]], str]


def act(kind: type[T], do: Callable[[Desk, T], str]) -> Act:
    """A tool that takes values of a kind."""
    return Act(kind, lambda desk, tool, arguments: do(desk, taken(kind, tool, arguments)))


def taken(kind: type[T], tool: str, arguments: Mapping[str, Json]) -> T:
    """The arguments of a call as values; agents that write a number as text are understood.

    Raises:
        Unreadable: they are not what the tool takes.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        wrong, _, where = str(error).removeprefix("Object ").partition(" - at `$.")
        told = f"{where.strip('`')}: {wrong.lower()}" if where else wrong
        raise Unreadable(tool, told) from None
