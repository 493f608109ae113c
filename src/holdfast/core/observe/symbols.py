"""Names of what is defined in some lines of code, and headings of prose."""

import re
from collections.abc import Iterable

from holdfast.core.faults import rule

MOST_SYMBOLS = 6
LONGEST_SYMBOL = 48
_DEFINED = re.compile(
    r"(?P<indent>[ \t]{0,40})(?:(?:export|default|pub|pub\(crate\)|public|private|protected|static"
    r"|abstract|async|declare|final|override|unsafe)[ \t]{1,4}){0,4}(?:"
    r"(?:def|function|func|fn|fun)\*?[ \t]{1,4}"
    r"(?:\((?:\w{1,40} )?\*?(?P<owner>\w{1,60})[^()\n]{0,40}\) )?"
    r"(?P<function>\w{1,80})[ \t]{0,4}[(<\[]"
    r"|(?:class|interface|struct|enum|trait|type|module|namespace)[ \t]{1,4}"
    r"(?P<type>[A-Za-z_]\w{0,79})"
    r"|const[ \t]{1,4}(?P<arrow>\w{1,80})[^=\n]{0,80}= (?:async )?(?:\([^()\n]{0,200}\)|\w{1,40})"
    r"[^=\n]{0,80}=>"
    r")"
)
_METHOD = re.compile(
    r"[ \t]{1,40}(?:(?:public|private|protected|static|async|get|set|override|readonly)"
    r"[ \t]{1,4}){1,4}(\w{1,80})[(<]"
)
_HEADING = re.compile(r"#{1,4} ([^\n]{1,200})")


@rule(())
def symbols_in(lines: Iterable[str], path: str = "") -> tuple[str, ...]:
    """Names of what is defined in some lines of code, or the headings of prose, a few at most."""
    found: dict[str, None] = {}
    prose = path.endswith((".md", ".mdx", ".rst", ".markdown"))
    inside = ""
    for line in lines:
        if len(found) >= MOST_SYMBOLS:
            break
        if prose:
            # What looks like a heading in a fence is a comment of some code.
            inside = inside if not line.startswith("```") else "" if inside else "fence"
            name = _heading(line) if not inside else ""
        else:
            name, inside = _definition(line, inside)
        if name:
            found[_shortened(name)] = None
    return tuple(found)


def _shortened(name: str) -> str:
    if len(name) <= LONGEST_SYMBOL:
        return name
    bare = name.rpartition(".")[2] if name.endswith("()") else name
    return bare if len(bare) <= LONGEST_SYMBOL else f"{bare[: LONGEST_SYMBOL - 1]}…"


def _heading(line: str) -> str:
    heading = _HEADING.match(line)
    return heading[1].strip() if heading else ""


def _definition(line: str, inside: str) -> tuple[str, str]:
    """What a line defines, and the class that the lines after it are in."""
    found = _DEFINED.match(line)
    if found is None:
        method = _METHOD.match(line)
        return (_of(inside, method[1]), inside) if method else ("", inside)
    name = found["function"] or found["arrow"]
    if not name:
        return found["type"], found["type"]
    if found["owner"]:
        return _of(found["owner"], name), inside
    if found["indent"]:
        return _of(inside, name), inside
    return f"{name}()", ""


def _of(owner: str, name: str) -> str:
    return f"{owner}.{name}()" if owner else f"{name}()"
