"""Edit TOML in place: add a table to a text, or remove one.

The table is appended as text, and the rest of the text stays the same. Every result is parsed again
and refused if the table is not as intended.
"""

import re
import tomllib
from collections.abc import Mapping


class NotToml(ValueError):
    """The text is not TOML, or the change cannot be made in it."""


def table_at(text: str, name: str) -> object:
    """Return the value of a table named `outer.inner`; None if there is none.

    Raises:
        NotToml: the text is not TOML.
    """
    value: object = _parse(text)
    for key in name.split("."):
        value = value.get(key) if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return value  # pyright: ignore[reportUnknownVariableType]


def with_table(text: str, name: str, values: Mapping[str, object]) -> str:
    """Return the text with a table at its end; an existing table of that name is replaced.

    Raises:
        NotToml: the text is not TOML, or the table is not written as a section of its own.
    """
    if table_at(text, name) == dict(values):
        return text
    rest = without_table(text, name)
    line = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not rest.strip() else line if rest.endswith("\n") else line * 2
    body = line.join(f"{key} = {_render(value)}" for key, value in values.items())
    result = f"{rest}{gap}[{name}]{line}{body}{line}"
    if table_at(result, name) != dict(values):
        raise NotToml(f"[{name}] cannot be added")
    return result


def without_table(text: str, name: str) -> str:
    """Return the text without a table, and without the empty line before it.

    Raises:
        NotToml: the text is not TOML, or the table is not written as a section of its own.
    """
    if table_at(text, name) is None:
        return text
    # Matches the line `[mcp_servers.holdfast]  # ours`; not `[mcp_servers.holdfast.env]`.
    start = re.compile(rf"^[ \t]*\[{re.escape(name)}\][ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE)
    header = start.search(text)
    if header is None:
        raise NotToml(f"{name} is there, and not as a table of its own")
    # Matches the `[` of any table header, such as `[other]`; not that of `args = [1]`.
    next_header = re.compile(r"^[ \t]*\[", re.MULTILINE).search(text, header.end())
    before = text[: header.start()]
    rest = text[next_header.start() :] if next_header else ""
    # At the end of a file, the empty line before the table goes too. The pattern matches the end
    # of `a = 1\n\n`, which becomes `a = 1\n`; it does not match `a = 1\n`.
    cut = re.sub(r"(\r?\n)(?:[ \t]*\r?\n)\Z", r"\1", before) if not rest else before
    result = cut + rest
    if table_at(result, name) is not None:
        raise NotToml(f"{name} is there in more than one place")
    return result


def _parse(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotToml(str(error)) from None


def _render(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case list():
            return f"[{', '.join(map(_render, value))}]"  # pyright: ignore[reportUnknownArgumentType]
        case _:
            plain = str(value).replace("\\", "\\\\").replace('"', '\\"')
            return f'"{plain}"'
