"""What a tool call touches: which file, which lines, to read it or to write it.

Agents name their tools differently and mean the same few things. A call that is not understood
touches nothing, and then nothing is concluded from it.
"""

import re
import shlex
from collections.abc import Mapping

from msgspec import Struct

from holdfast.core.ledger.entry import ToolCalled
from holdfast.core.ledger.jsontext import Json, NotJson, as_list, as_object, as_text, parse

READS = frozenset(
    (
        "read",
        "read_file",
        "readfile",
        "view",
        "view_file",
        "open_file",
        "read_text_file",
        "get_file_contents",
        "fs_read",
        "notebookread",
        "read_many_files",
    )
)
WRITES = frozenset(
    (
        "write",
        "write_file",
        "create_file",
        "create",
        "fs_write",
        "writefile",
        "save_file",
    )
)
EDITS = frozenset(
    (
        "edit",
        "edit_file",
        "multiedit",
        "str_replace",
        "replace",
        "apply_patch",
        "patch",
        "insert",
        "notebookedit",
        "update_file",
        "search_replace",
        "replace_in_file",
        "edit_block",
    )
)
RUNS = frozenset(
    (
        "bash",
        "shell",
        "exec",
        "exec_command",
        "run",
        "run_command",
        "terminal",
        "execute_bash",
        "execute_command",
        "local_shell",
        "run_shell_command",
        "shell_command",
        "container.exec",
        "execute",
        "run_in_terminal",
    )
)
SEARCHES = frozenset(
    (
        "grep",
        "glob",
        "search",
        "find",
        "list",
        "ls",
        "list_directory",
        "search_files",
        "list_dir",
        "websearch",
        "webfetch",
        "web_search",
        "web_fetch",
        "fetch",
        "codebase_search",
        "file_search",
        "grep_search",
        "search_file_content",
    )
)
MIXED = frozenset(
    (
        "str_replace_editor",
        "str_replace_based_edit_tool",
        "editor",
    )
)
PATH_KEYS = (
    "file_path",
    "path",
    "filePath",
    "filepath",
    "filename",
    "file",
    "target_file",
    "notebook_path",
    "absolute_path",
    "relative_path",
    "relative_workspace_path",
)
COMMAND_KEYS = ("command", "cmd", "script", "input")

LONGEST_COMMAND = 2_000
"""A longer command is a script; it is not taken apart."""

_HEREDOC = re.compile(r"cat\s{0,9}(?:>|<<).{0,300}", re.DOTALL)
_TARGET = re.compile(r">{1,2}\s{0,9}([^\s<>&|;'\"]{1,300})")
_MARK = re.compile(r"<<-?\s{0,9}['\"]?([A-Za-z_]\w{0,40})['\"]?[^\n]{0,200}\n")
_RANGE = re.compile(r"^(\d{1,9})(?:,(\d{1,9}))?p$")


class Touch(Struct, frozen=True):
    """What one call does to which file."""

    verb: str = ""
    """`read`, `write`, `edit`, `search`, `run`, or nothing when it is not understood."""
    path: str = ""
    first: int = 0
    last: int = 0
    """The lines read; zeros for the whole file."""
    command: str = ""
    written: str = ""
    """The text that a write makes the file of, or that an edit adds to it."""

    @property
    def paged(self) -> bool:
        """Whether only some lines were asked for."""
        return bool(self.first or self.last)


def touch_of(body: ToolCalled) -> Touch:
    """What a call touches."""
    arguments = arguments_of(body)
    name = plain_name(body.tool)
    if name in MIXED:
        name = as_text(arguments.get("command")) or name
    path = _first_text(arguments, PATH_KEYS)
    if name in READS:
        return Touch("read", path, *_lines(arguments))
    if name in WRITES:
        written = _first_text(arguments, ("content", "file_text", "text", "contents", "code"))
        return Touch("write", path, written=written)
    if name in EDITS:
        return Touch("edit", path or _patched(body, arguments))
    if name in RUNS:
        return _run(command_of(arguments))
    return Touch("search", path) if name in SEARCHES else Touch()


def plain_name(tool: str) -> str:
    """A tool's name without its server's: `mcp__fs__read_file` is `read_file`."""
    name = tool.rsplit("__", 1)[-1] if "__" in tool else tool
    return name.lower()


def arguments_of(body: ToolCalled) -> dict[str, Json]:
    """The arguments of a call; nothing when they are no object."""
    try:
        value, _ = parse(body.arguments.encode("utf-8", "surrogatepass"))
    except NotJson:
        return {}
    return as_object(value)


def _first_text(arguments: Mapping[str, Json], keys: tuple[str, ...]) -> str:
    texts = (as_text(arguments.get(key)) for key in keys)
    return next((text for text in texts if text), "")


def command_of(arguments: Mapping[str, Json]) -> str:
    """The command line of a shell call, also when it comes as a list of words."""
    for key in COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            words = [as_text(word) for word in value]
            # `["bash", "-lc", "…"]`: what is run is the last word.
            return words[-1] if len(words) == 3 and words[1].startswith("-") else " ".join(words)
    return ""


def _lines(arguments: Mapping[str, Json]) -> tuple[int, int]:
    spans = as_list(arguments.get("view_range"))
    first = _number(spans[0] if spans else _any(arguments, "offset", "start_line", "line_start"))
    if len(spans) > 1:
        return first, max(_number(spans[1]), 0)
    last = _number(_any(arguments, "end_line", "line_end"))
    limit = _number(arguments.get("limit"))
    if limit and not last:
        last = max(first, 1) + limit - 1
    return first, last


def _any(arguments: Mapping[str, Json], *keys: str) -> Json:
    return next((arguments[key] for key in keys if arguments.get(key) is not None), None)


def _number(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _patched(body: ToolCalled, arguments: Mapping[str, Json]) -> str:
    text = _first_text(arguments, ("input", "patch", "patchText", "diff")) or body.arguments
    for line in text[:20_000].split("\n"):
        for mark in ("*** Update File: ", "*** Add File: ", "*** Delete File: "):
            if line.startswith(mark):
                return line.removeprefix(mark).strip()
    return ""


def _run(command: str) -> Touch:
    plain = command.strip()
    written = _heredoc(plain)
    if written:
        path, text = written
        verb = "edit" if ">>" in plain.partition("\n")[0] else "write"
        return Touch(verb, path, command=plain, written=text)
    if not plain or len(plain) > LONGEST_COMMAND:
        return Touch("run", command=plain)
    try:
        words = shlex.split(plain)
    except ValueError:
        return Touch("run", command=plain)
    return _shell_read(plain, words) or Touch("run", command=plain)


def _shell_read(command: str, words: list[str]) -> Touch | None:
    """A command that does nothing but print a file."""
    if any(mark in command for mark in "|;&><\n$`"):
        return None
    match words:
        case ["cat", path] | ["cat", "-n", path] | ["nl", "-ba", path]:
            return Touch("read", path, command=command)
        case ["sed", "-n", span, path] if found := _RANGE.match(span):
            first = int(found[1])
            return Touch("read", path, first, int(found[2] or first), command=command)
        case ["head", "-n", count, path] if count.isdigit():
            return Touch("read", path, 1, int(count), command=command)
        case _:
            return None


def _heredoc(command: str) -> tuple[str, str] | None:
    """The file that a here-document writes, and its text."""
    if not _HEREDOC.match(command):
        return None
    opening, _, rest = command.partition("\n")
    target, mark = _TARGET.search(opening), _MARK.search(opening + "\n")
    if target is None or mark is None:
        return None
    body, found, _ = rest.partition(f"\n{mark[1]}")
    return (target[1], body + "\n") if found else None
