"""One table put into a TOML file, or taken out of it: what others wrote stays as it is.

The table goes to the end, as text; nothing else is touched. Every change is read back, and refused
when it changed anything besides.
"""

import os
import re
import tomllib
from collections.abc import Callable, Mapping

from holdfast.errors import Unreadable


class NotToml(ValueError):
    """The text is not TOML, or what is asked for cannot be done in it."""


def table_at(text: str, name: str) -> object:
    """What a table named `outer.inner` holds; None when there is none.

    Raises:
        NotToml: the text is not TOML.
    """
    found: object = _parsed(text)
    for key in name.split("."):
        found = found.get(key) if isinstance(found, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return found  # pyright: ignore[reportUnknownVariableType]


def with_table(text: str, name: str, values: Mapping[str, object]) -> str:
    """The text with a table at its end, in place of one of that name.

    Raises:
        NotToml: the text is not TOML, or the table stands in it in a way that is not understood.
    """
    if table_at(text, name) == dict(values):
        return text
    rest = without_table(text, name)
    line = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not rest.strip() else line if rest.endswith("\n") else line * 2
    body = line.join(f"{key} = {_written(value)}" for key, value in values.items())
    made = f"{rest}{gap}[{name}]{line}{body}{line}"
    if table_at(made, name) != dict(values):
        raise NotToml(f"[{name}] cannot be added")
    return made


def without_table(text: str, name: str) -> str:
    """The text less a table, and less the empty line before it.

    Raises:
        NotToml: the text is not TOML, or the table stands in it in a way that is not understood.
    """
    if table_at(text, name) is None:
        return text
    start = re.compile(rf"^[ \t]*\[{re.escape(name)}\][ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE)
    found = start.search(text)
    if found is None:
        raise NotToml(f"{name} is there, and not as a table of its own")
    after = re.compile(r"^[ \t]*\[", re.MULTILINE).search(text, found.end())
    before = text[: found.start()]
    rest = text[after.start() :] if after else ""
    # The empty line that parted it goes with it, and comments before what follows stay.
    cut = re.sub(r"(\r?\n)(?:[ \t]*\r?\n)\Z", r"\1", before) if not rest else before
    made = cut + rest
    if table_at(made, name) is not None:
        raise NotToml(f"{name} is there in more than one place")
    return made


def _parsed(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotToml(str(error)) from None


def _written(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case list():
            return f"[{', '.join(map(_written, value))}]"  # pyright: ignore[reportUnknownArgumentType]
        case _:
            plain = str(value).replace("\\", "\\\\").replace('"', '\\"')
            return f'"{plain}"'


def edited(
    path: os.PathLike[str] | str, content: bytes | None, change: Callable[[str], str]
) -> bytes:
    """The content of a file with a change made in its text; an empty one when it is not there.

    Raises:
        Unreadable: it is not TOML, or cannot be changed safely; nothing is changed.
    """
    try:
        return change((content or b"").decode("utf-8")).encode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable(str(path), "it is not UTF-8; it is left as it is") from None
    except NotToml as error:
        raise Unreadable(str(path), f"{error}; it is left as it is") from None
