"""Changing a JSON file as a careful person would: what others wrote in it stays as it is.

Comments, order, spacing, line ends and trailing commas are kept, because a change is made in the
text where it belongs and nowhere else. Text that is not JSON with comments is refused.
"""

import json
import os
from collections.abc import Callable, Iterator
from typing import TypeAlias, cast

from msgspec import Struct

from holdfast.errors import Unreadable
from holdfast.text.jsontext import Json

Path: TypeAlias = tuple[str, ...]
"""Names of members, from the outside in."""

_BLANK = " \t\r\n\ufeff"
_ENDS = _BLANK + ",:]}/"
DEEPEST = 200


class NotJsonc(ValueError):
    """The text is not JSON, not even with comments."""


class Node(Struct, frozen=True):
    """A value and where it stands."""

    start: int
    end: int
    value: Json
    members: tuple["Member", ...] = ()
    """Of an object."""
    items: tuple["Node", ...] = ()
    """Of a list."""
    trailing: bool = False
    """Whether a comma follows the last of them."""


class Member(Struct, frozen=True):
    """A named value of an object."""

    name: str
    start: int
    node: Node


def value_at(text: str, path: Path = ()) -> Json:
    """What stands there; None when nothing does.

    Raises:
        NotJsonc: the text is not JSON.
    """
    found = _find(_parsed(text), path)
    return found.value if found is not None else None


def with_member(text: str, path: Path, value: Json) -> str:
    """The text with a member set, and those around it made where they are missing.

    Raises:
        NotJsonc: the text is not JSON, or something on the way is no object.
    """
    text = text if text.strip(_BLANK) else "{}\n"
    known = _find(_parsed(text), path)
    if known is not None and known.value == value:
        return text
    if known is not None:
        made = _written(value, _depth(text, known.start), _unit(text), _line_end(text))
        return text[: known.start] + made + text[known.end :]
    at, parent = _deepest(_parsed(text), path)
    for name in reversed(path[at + 1 :]):
        value = {name: value}
    return _added(text, parent, f"{json.dumps(path[at])}: ", value)


def without_member(text: str, path: Path) -> str:
    """The text less a member, and less those around it that it leaves empty.

    Raises:
        NotJsonc: the text is not JSON.
    """
    *outer, name = path
    parent = _find(_parsed(text), tuple(outer))
    if parent is None or not any(one.name == name for one in parent.members):
        return text
    if len(parent.members) == 1 and outer:
        return without_member(text, tuple(outer))
    spans = [(one.start, one.node.end) for one in parent.members]
    at = next(at for at, one in enumerate(parent.members) if one.name == name)
    return _cut(text, parent, spans, at)


def with_item(text: str, path: Path, value: Json) -> str:
    """The text with a value at the end of a list, unless it is in there.

    Raises:
        NotJsonc: the text is not JSON, or there is something else than a list.
    """
    known = _find(_parsed(text), path) if text.strip(_BLANK) else None
    if known is None:
        return with_member(text, path, [value])
    if not isinstance(known.value, list):
        raise NotJsonc(f"{'.'.join(path)} is no list")
    return text if value in known.value else _added(text, known, "", value)


def without_items(text: str, path: Path, is_ours: Callable[[Json], bool]) -> str:
    """The text less the values of a list that are ours, and less the list if it is left empty.

    Raises:
        NotJsonc: the text is not JSON.
    """
    while True:
        known = _find(_parsed(text), path)
        mine = [at for at, item in enumerate(known.items) if is_ours(item.value)] if known else []
        if known is None or not mine:
            return text
        if len(known.items) == 1:
            return without_member(text, path)
        text = _cut(text, known, [(item.start, item.end) for item in known.items], mine[0])


def _find(node: Node, path: Path) -> Node | None:
    for name in path:
        # The last of two members of one name is the one that counts.
        inner = [one.node for one in node.members if one.name == name]
        if not inner:
            return None
        node = inner[-1]
    return node


def _deepest(node: Node, path: Path) -> tuple[int, Node]:
    """How many names of a path lead somewhere, and the object there."""
    for at, name in enumerate(path):
        if not isinstance(node.value, dict):
            raise NotJsonc(f"{'.'.join(path[:at]) or 'it'} is no object")
        inner = _find(node, (name,))
        if inner is None:
            return at, node
        node = inner
    raise NotJsonc(f"{'.'.join(path)} is there already")


def _added(text: str, parent: Node, label: str, value: Json) -> str:
    """The text with one more member or item at the end of an object or a list."""
    inner = [one.node for one in parent.members] or list(parent.items)
    starts = [one.start for one in parent.members] or [one.start for one in parent.items]
    unit, line = _unit(text), _line_end(text)
    if not inner:
        depth = _depth(text, parent.start)
        made = f"{line}{depth}{unit}{label}{_written(value, depth + unit, unit, line)}{line}{depth}"
        return f"{text[: parent.start + 1]}{made}{text[parent.end - 1 :]}"
    own_line = "\n" in text[parent.start : starts[0]]
    depth = _depth(text, starts[-1])
    gap = f"{line}{depth}" if own_line else " "
    comma = "" if parent.trailing else ","
    at = _after_comma(text, inner[-1].end) if parent.trailing else inner[-1].end
    made = (
        f"{comma}{gap}{label}{_written(value, depth, unit, line)}{',' if parent.trailing else ''}"
    )
    return f"{text[:at]}{made}{text[at:]}"


def _cut(text: str, parent: Node, spans: list[tuple[int, int]], at: int) -> str:
    """The text less one of several members or items, and less the comma that parted it."""
    start, end = spans[at]
    if at + 1 < len(spans):
        return text[:start] + text[spans[at + 1][0] :]
    if at:
        return text[: spans[at - 1][1]] + text[end:]
    inside = text[parent.start + 1 : parent.end - 1]
    only = inside[: start - parent.start - 1] + inside[end - parent.start - 1 :]
    kept = only.replace(",", "", 1) if parent.trailing else only
    return text[: parent.start + 1] + kept.strip(_BLANK) + text[parent.end - 1 :]


def _after_comma(text: str, at: int) -> int:
    while text[at] != ",":
        at = _skipped(text, at + 1) if text[at] in _BLANK else _skipped(text, at)
    return at + 1


def _written(value: Json, depth: str, unit: str, line: str) -> str:
    made = json.dumps(value, indent=unit or None, ensure_ascii=False)
    return made.replace("\n", f"{line}{depth}")


def _depth(text: str, at: int) -> str:
    """The white space that the line of a place begins with."""
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """How deep one level is indented here."""
    for line in text.splitlines():
        blank = line[: len(line) - len(line.lstrip(" \t"))]
        if blank and line.strip():
            return blank
    return "  "


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _parsed(text: str) -> Node:
    node = _value(text, _skipped(text, 0), 0)
    if _skipped(text, node.end) != len(text):
        raise NotJsonc(_where(text, node.end, "something follows"))
    return node


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEEPEST:
        raise NotJsonc(f"it is more than {DEEPEST} levels deep")
    if text[at : at + 1] == "{":
        return _object(text, at, depth)
    if text[at : at + 1] == "[":
        return _list(text, at, depth)
    return _scalar(text, at)


def _object(text: str, start: int, depth: int) -> Node:
    members: list[Member] = []
    at, trailing = _skipped(text, start + 1), False
    while text[at : at + 1] != "}":
        name = _scalar(text, at)
        colon = _skipped(text, name.end)
        if not isinstance(name.value, str) or text[colon : colon + 1] != ":":
            raise NotJsonc(_where(text, at, "a name and a colon are missing"))
        node = _value(text, _skipped(text, colon + 1), depth + 1)
        members.append(Member(name.value, at, node))
        at, trailing = _next(text, node.end, "}")
    value: Json = {one.name: one.node.value for one in members}
    return Node(start, at + 1, value, members=tuple(members), trailing=trailing)


def _list(text: str, start: int, depth: int) -> Node:
    items: list[Node] = []
    at, trailing = _skipped(text, start + 1), False
    while text[at : at + 1] != "]":
        items.append(_value(text, at, depth + 1))
        at, trailing = _next(text, items[-1].end, "]")
    value: Json = [one.value for one in items]
    return Node(start, at + 1, value, items=tuple(items), trailing=trailing)


def _next(text: str, at: int, close: str) -> tuple[int, bool]:
    """Where the next one stands, or the end; and whether a comma is in between."""
    at = _skipped(text, at)
    comma = text[at : at + 1] == ","
    at = _skipped(text, at + 1) if comma else at
    if at >= len(text) or (not comma and text[at] != close):
        raise NotJsonc(_where(text, at, "a comma or an end is missing"))
    return at, comma


def _scalar(text: str, at: int) -> Node:
    end = _string_end(text, at) if text[at : at + 1] == '"' else _word_end(text, at)
    try:
        value = cast(Json, json.loads(text[at:end]))
    except ValueError:
        raise NotJsonc(_where(text, at, "this is no value")) from None
    return Node(at, end, value)


def _string_end(text: str, at: int) -> int:
    end = at + 1
    while end < len(text) and text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    return end + 1


def _word_end(text: str, at: int) -> int:
    end = at
    while end < len(text) and text[end] not in _ENDS:
        end += 1
    return end


def _skipped(text: str, at: int) -> int:
    """Past white space and comments."""
    while at < len(text):
        if text[at] in _BLANK:
            at += 1
        elif text.startswith("//", at):
            at = _past(text, text.find("\n", at), 0)
        elif text.startswith("/*", at):
            at = _past(text, text.find("*/", at + 2), 2)
        else:
            break
    return at


def _past(text: str, found: int, length: int) -> int:
    return len(text) if found < 0 else found + length


def _where(text: str, at: int, what: str) -> str:
    line = text.count("\n", 0, at) + 1
    return f"line {line}: {what}"


def names(text: str) -> Iterator[str]:
    """The members of the outermost object."""
    yield from (one.name for one in _parsed(text).members)


def edited(
    path: os.PathLike[str] | str, content: bytes | None, change: Callable[[str], str]
) -> bytes:
    """The content of a file with a change made in its text; an empty one when it is not there.

    Raises:
        Unreadable: it is not JSON, not even with comments; nothing is changed.
    """
    try:
        return change((content or b"").decode("utf-8")).encode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable(str(path), "it is not UTF-8; it is left as it is") from None
    except NotJsonc as error:
        raise Unreadable(str(path), f"{error}; it is left as it is") from None
