"""Edit JSON with comments in place: set and remove members and list items.

Comments, order, spacing, line ends and trailing commas stay the same, because only the changed part
of the text is replaced. Text that is not JSON with comments is refused.
"""

import json
from collections.abc import Callable
from typing import TypeAlias, cast

from msgspec import Struct

from holdfast.text.jsontext import Json

MemberPath: TypeAlias = tuple[str, ...]
"""Names of members, from the outermost object inwards."""

_WHITESPACE = " \t\r\n\ufeff"
_WORD_ENDS = _WHITESPACE + ",:]}/"
MAX_DEPTH = 200


class NotJsonc(ValueError):
    """The text is not JSON, not even with comments."""


class JsonNode(Struct, frozen=True):
    """A value, and its offsets in the text."""

    start: int
    end: int
    value: Json
    members: tuple["JsonMember", ...] = ()
    """The members, if the value is an object."""
    items: tuple["JsonNode", ...] = ()
    """The items, if the value is a list."""
    trailing_comma: bool = False
    """Whether a comma follows the last member or item."""


class JsonMember(Struct, frozen=True):
    """A named value of an object."""

    name: str
    start: int
    node: JsonNode


def value_at(text: str, path: MemberPath = ()) -> Json:
    """Return the value at a path; None if there is none.

    Raises:
        NotJsonc: the text is not JSON.
    """
    node = _find(_parse(text), path)
    return node.value if node is not None else None


def with_member(text: str, path: MemberPath, value: Json) -> str:
    """Return the text with a member set; objects on the path are created if they are missing.

    Raises:
        NotJsonc: the text is not JSON, or a value on the path is not an object.
    """
    text = text if text.strip(_WHITESPACE) else "{}\n"
    current = _find(_parse(text), path)
    if current is not None and current.value == value:
        return text
    if current is not None:
        rendered = _render(
            value, _indentation_at(text, current.start), _indentation_unit(text), _line_end(text)
        )
        return text[: current.start] + rendered + text[current.end :]
    depth, parent = _deepest_object(_parse(text), path)
    for name in reversed(path[depth + 1 :]):
        value = {name: value}
    return _append(text, parent, f"{json.dumps(path[depth])}: ", value)


def without_member(text: str, path: MemberPath) -> str:
    """Return the text without a member, and without the objects that this leaves empty.

    Raises:
        NotJsonc: the text is not JSON.
    """
    *outer, name = path
    parent = _find(_parse(text), tuple(outer))
    if parent is None or not any(member.name == name for member in parent.members):
        return text
    if len(parent.members) == 1 and outer:
        return without_member(text, tuple(outer))
    spans = [(member.start, member.node.end) for member in parent.members]
    index = next(i for i, member in enumerate(parent.members) if member.name == name)
    return _remove_at(text, parent, spans, index)


def with_item(text: str, path: MemberPath, value: Json) -> str:
    """Return the text with a value appended to a list, unless the list contains it.

    Raises:
        NotJsonc: the text is not JSON, or the value at the path is not a list.
    """
    current = _find(_parse(text), path) if text.strip(_WHITESPACE) else None
    if current is None:
        return with_member(text, path, [value])
    if not isinstance(current.value, list):
        raise NotJsonc(f"{'.'.join(path)} is no list")
    return text if value in current.value else _append(text, current, "", value)


def without_items(text: str, path: MemberPath, is_ours: Callable[[Json], bool]) -> str:
    """Return the text without the items that are ours, and without the list if it becomes empty.

    Raises:
        NotJsonc: the text is not JSON.
    """
    while True:
        current = _find(_parse(text), path)
        mine = (
            [at for at, item in enumerate(current.items) if is_ours(item.value)] if current else []
        )
        if current is None or not mine:
            return text
        if len(current.items) == 1:
            return without_member(text, path)
        text = _remove_at(
            text, current, [(item.start, item.end) for item in current.items], mine[0]
        )


def _find(node: JsonNode, path: MemberPath) -> JsonNode | None:
    for name in path:
        # Of two members with the same name, the last one counts, as in `json.loads`.
        inner = [member.node for member in node.members if member.name == name]
        if not inner:
            return None
        node = inner[-1]
    return node


def _deepest_object(node: JsonNode, path: MemberPath) -> tuple[int, JsonNode]:
    """Follow a path as far as it exists: the number of names found, and the last object."""
    for depth, name in enumerate(path):
        if not isinstance(node.value, dict):
            raise NotJsonc(f"{'.'.join(path[:depth]) or 'it'} is no object")
        inner = _find(node, (name,))
        if inner is None:
            return depth, node
        node = inner
    raise NotJsonc(f"{'.'.join(path)} is there already")


def _append(text: str, parent: JsonNode, label: str, value: Json) -> str:
    """Return the text with a member or item added at the end of an object or a list."""
    inner = [child.node for child in parent.members] or list(parent.items)
    starts = [member.start for member in parent.members] or [item.start for item in parent.items]
    unit, line = _indentation_unit(text), _line_end(text)
    if not inner:
        depth = _indentation_at(text, parent.start)
        addition = (
            f"{line}{depth}{unit}{label}{_render(value, depth + unit, unit, line)}{line}{depth}"
        )
        return f"{text[: parent.start + 1]}{addition}{text[parent.end - 1 :]}"
    multiline = "\n" in text[parent.start : starts[0]]
    depth = _indentation_at(text, starts[-1])
    gap = f"{line}{depth}" if multiline else " "
    comma = "" if parent.trailing_comma else ","
    at = _after_comma(text, inner[-1].end) if parent.trailing_comma else inner[-1].end
    end = "," if parent.trailing_comma else ""
    addition = f"{comma}{gap}{label}{_render(value, depth, unit, line)}{end}"
    return f"{text[:at]}{addition}{text[at:]}"


def _remove_at(text: str, parent: JsonNode, spans: list[tuple[int, int]], index: int) -> str:
    """Return the text without one member or item, and without its separating comma."""
    start, end = spans[index]
    if index + 1 < len(spans):
        return text[:start] + text[spans[index + 1][0] :]
    if index:
        return text[: spans[index - 1][1]] + text[end:]
    inside = text[parent.start + 1 : parent.end - 1]
    only = inside[: start - parent.start - 1] + inside[end - parent.start - 1 :]
    remaining = only.replace(",", "", 1) if parent.trailing_comma else only
    return text[: parent.start + 1] + remaining.strip(_WHITESPACE) + text[parent.end - 1 :]


def _after_comma(text: str, at: int) -> int:
    while text[at] != ",":
        at = _skip_blank(text, at + 1) if text[at] in _WHITESPACE else _skip_blank(text, at)
    return at + 1


def _render(value: Json, depth: str, unit: str, line: str) -> str:
    rendered = json.dumps(value, indent=unit or None, ensure_ascii=False)
    return rendered.replace("\n", f"{line}{depth}")


def _indentation_at(text: str, at: int) -> str:
    """Return the white space at the start of the line of an offset."""
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indentation_unit(text: str) -> str:
    """Return the white space by which the text indents one level."""
    for line in text.splitlines():
        indentation = line[: len(line) - len(line.lstrip(" \t"))]
        if indentation and line.strip():
            return indentation
    return "  "


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _parse(text: str) -> JsonNode:
    node = _parse_value(text, _skip_blank(text, 0), 0)
    if _skip_blank(text, node.end) != len(text):
        raise NotJsonc(_with_line_number(text, node.end, "something follows"))
    return node


def _parse_value(text: str, at: int, depth: int) -> JsonNode:
    if depth > MAX_DEPTH:
        raise NotJsonc(f"it is more than {MAX_DEPTH} levels deep")
    if text[at : at + 1] == "{":
        return _parse_object(text, at, depth)
    if text[at : at + 1] == "[":
        return _parse_list(text, at, depth)
    return _parse_scalar(text, at)


def _parse_object(text: str, start: int, depth: int) -> JsonNode:
    members: list[JsonMember] = []
    at, trailing = _skip_blank(text, start + 1), False
    while text[at : at + 1] != "}":
        name = _parse_scalar(text, at)
        colon = _skip_blank(text, name.end)
        if not isinstance(name.value, str) or text[colon : colon + 1] != ":":
            raise NotJsonc(_with_line_number(text, at, "a name and a colon are missing"))
        node = _parse_value(text, _skip_blank(text, colon + 1), depth + 1)
        members.append(JsonMember(name.value, at, node))
        at, trailing = _next_element(text, node.end, "}")
    value: Json = {member.name: member.node.value for member in members}
    return JsonNode(start, at + 1, value, members=tuple(members), trailing_comma=trailing)


def _parse_list(text: str, start: int, depth: int) -> JsonNode:
    items: list[JsonNode] = []
    at, trailing = _skip_blank(text, start + 1), False
    while text[at : at + 1] != "]":
        items.append(_parse_value(text, at, depth + 1))
        at, trailing = _next_element(text, items[-1].end, "]")
    value: Json = [item.value for item in items]
    return JsonNode(start, at + 1, value, items=tuple(items), trailing_comma=trailing)


def _next_element(text: str, at: int, close: str) -> tuple[int, bool]:
    """Return the offset of the next element or the end, and whether a comma was read."""
    at = _skip_blank(text, at)
    comma = text[at : at + 1] == ","
    at = _skip_blank(text, at + 1) if comma else at
    if at >= len(text) or (not comma and text[at] != close):
        raise NotJsonc(_with_line_number(text, at, "a comma or an end is missing"))
    return at, comma


def _parse_scalar(text: str, at: int) -> JsonNode:
    end = _string_end(text, at) if text[at : at + 1] == '"' else _word_end(text, at)
    try:
        value = cast(Json, json.loads(text[at:end]))
    except ValueError:
        raise NotJsonc(_with_line_number(text, at, "this is no value")) from None
    return JsonNode(at, end, value)


def _string_end(text: str, at: int) -> int:
    end = at + 1
    while end < len(text) and text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    return end + 1


def _word_end(text: str, at: int) -> int:
    end = at
    while end < len(text) and text[end] not in _WORD_ENDS:
        end += 1
    return end


def _skip_blank(text: str, at: int) -> int:
    """Return the offset after white space and comments."""
    while at < len(text):
        if text[at] in _WHITESPACE:
            at += 1
        elif text.startswith("//", at):
            at = _offset_after(text, text.find("\n", at), 0)
        elif text.startswith("/*", at):
            at = _offset_after(text, text.find("*/", at + 2), 2)
        else:
            break
    return at


def _offset_after(text: str, start: int, length: int) -> int:
    return len(text) if start < 0 else start + length


def _with_line_number(text: str, at: int, what: str) -> str:
    line = text.count("\n", 0, at) + 1
    return f"line {line}: {what}"
