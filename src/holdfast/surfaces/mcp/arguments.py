"""Convert and validate the arguments of tool calls."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec
from msgspec import Struct

from holdfast.errors import Unreadable
from holdfast.surfaces.mcp.project_cache import RequestContext
from holdfast.text.jsontext import Json

T = TypeVar("T", bound=Struct)


class ToolHandler(Struct, frozen=True):
    """The function of a tool, and the type of its arguments."""

    arguments: type[Struct]
    run: Callable[[RequestContext, str, Mapping[str, Json]], str]


def make_handler(kind: type[T], run: Callable[[RequestContext, T], str]) -> ToolHandler:
    """Make the handler of a tool from a function of typed arguments."""
    return ToolHandler(
        kind,
        lambda context, tool, arguments: run(context, convert_arguments(kind, tool, arguments)),
    )


def convert_arguments(kind: type[T], tool: str, arguments: Mapping[str, Json]) -> T:
    """Convert the arguments of a call to a type; numbers written as text are accepted.

    Raises:
        Unreadable: an argument is missing, unknown or of the wrong type.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        wrong, _, where = str(error).removeprefix("Object ").partition(" - at `$.")
        reason = f"{where.strip('`')}: {wrong.lower()}" if where else wrong
        raise Unreadable(tool, reason) from None
