"""Read from a tool call which file it reads, writes or edits, and which lines.

The file tools of the known agents have different names for the same few operations. A call of an
unknown tool has an empty touch, from which nothing is concluded.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.faults import rule
from holdfast.core.ledger.entry import ToolCalled
from holdfast.core.observe.files.patches import (
    FileAct,
    act_of_replacements,
    act_of_write,
    acts_of_patch,
    acts_of_search_replace,
    count_lines,
    looks_like_path,
)
from holdfast.text.jsontext import Json, NotJson, as_list, as_object, as_text, parse, whole_number
from holdfast.text.patterns import Pattern
from holdfast.text.utf8 import to_bytes

READ_TOOLS = frozenset(
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
WRITE_TOOLS = frozenset(
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
EDIT_TOOLS = frozenset(
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
SHELL_TOOLS = frozenset(
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
SEARCH_TOOLS = frozenset(
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
COMMAND_EDITORS = frozenset(
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

MAX_LINE_NUMBER = 10**9
MAX_CACHED_CHARS = 4_000
"""Calls with arguments up to this length are cached."""
MAX_COMMAND_CHARS = 2_000
"""A longer command is a script and is not parsed here."""

_SHELL_OPERATORS = "|;&><\n$`"
"""A command with one of these characters does more than print a file."""
# `cat > a.py <<EOF` and `cat <<EOF > a.py`, but not `cat a.py`.
_HEREDOC = Pattern(r"cat\s{0,9}(?:>|<<).{0,300}", re.DOTALL)
# `> a.py` and `>> a.py`, but not `2>&1`.
_HEREDOC_TARGET = Pattern(r">{1,2}\s{0,9}([^\s<>&|;'\"]{1,300})")
# `<<EOF` and `<<-'EOF'` at the end of a line, but not `<<<text`.
_HEREDOC_TAG = Pattern(r"<<-?\s{0,9}['\"]?([A-Za-z_]\w{0,40})['\"]?[^\n]{0,200}\n")
# `10,20p` and `10p`, but not `/name/p`.
_SED_RANGE = Pattern(r"^(\d{1,9})(?:,(\d{1,9}))?p$")


class Touch(Struct, frozen=True):
    """What one call does to one file."""

    verb: str = ""
    """`read`, `write`, `edit`, `search`, `run`; empty if the tool is unknown."""
    path: str = ""
    first: int = 0
    last: int = 0
    """First and last line that were read; zeros for the whole file."""
    command: str = ""
    written_text: str = ""
    """The whole text that a write stores, or the text that a here-document appends."""

    @property
    def paged(self) -> bool:
        """Whether only some lines were requested."""
        return bool(self.first or self.last)


@rule(Touch())
def touch_of(body: ToolCalled) -> Touch:
    """Return what a call does to which file."""
    # Long arguments hold whole files: do not keep them in the cache.
    return _cached_touch(body) if len(body.arguments) <= MAX_CACHED_CHARS else _read_touch(body)


@lru_cache(maxsize=8_192)
def _cached_touch(body: ToolCalled) -> Touch:
    return _read_touch(body)


def _read_touch(body: ToolCalled) -> Touch:
    arguments = arguments_of(body)
    name = bare_tool_name(body.tool)
    if name in COMMAND_EDITORS:
        name = as_text(arguments.get("command")) or name
    path = _first_text(arguments, PATH_KEYS)
    if name in READ_TOOLS:
        return Touch("read", path, *_requested_lines(arguments))
    if name in WRITE_TOOLS:
        written = _first_text(arguments, ("content", "file_text", "text", "contents", "code"))
        return Touch("write", path, written_text=written)
    if name in EDIT_TOOLS:
        return Touch("edit", path or _patched_path(body, arguments))
    if name in SHELL_TOOLS:
        return _touch_of_command(command_of(arguments))
    return Touch("search", path) if name in SEARCH_TOOLS else Touch()


def bare_tool_name(tool: str) -> str:
    """Return a tool's name in lower case without its server: `mcp__fs__Read` is `read`."""
    name = tool.rsplit("__", 1)[-1] if "__" in tool else tool
    return name.lower()


@rule({})
def arguments_of(body: ToolCalled) -> dict[str, Json]:
    """Return the arguments of a call; empty if they are not a JSON object."""
    try:
        value, _ = parse(to_bytes(body.arguments))
    except NotJson:
        return {}
    return as_object(value)


def _first_text(arguments: Mapping[str, Json], keys: tuple[str, ...]) -> str:
    texts = (as_text(arguments.get(key)) for key in keys)
    return next((text for text in texts if text), "")


def command_of(arguments: Mapping[str, Json]) -> str:
    """Return the command line of a shell call, also if it is given as a list of words."""
    for key in COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            words = [as_text(word) for word in value]
            # In `["bash", "-lc", "…"]` the last word is the script.
            return words[-1] if len(words) == 3 and words[1].startswith("-") else " ".join(words)
    return ""


def _requested_lines(arguments: Mapping[str, Json]) -> tuple[int, int]:
    spans = as_list(arguments.get("view_range"))
    first = _line_number(
        spans[0] if spans else _first_value(arguments, "offset", "start_line", "line_start")
    )
    if len(spans) > 1:
        return first, max(_line_number(spans[1]), 0)
    last = _line_number(_first_value(arguments, "end_line", "line_end"))
    limit = _line_number(arguments.get("limit"))
    if limit and not last:
        last = max(first, 1) + limit - 1
    return first, last


def _first_value(arguments: Mapping[str, Json], *keys: str) -> Json:
    return next((arguments[key] for key in keys if arguments.get(key) is not None), None)


def _line_number(value: Json) -> int:
    """Return a line number; 0 for a value that is not one or is too large."""
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return value if abs(value) < MAX_LINE_NUMBER else 0


def _patched_path(body: ToolCalled, arguments: Mapping[str, Json]) -> str:
    text = _first_text(arguments, ("input", "patch", "patchText", "diff")) or body.arguments
    for line in text[:20_000].split("\n"):
        for mark in ("*** Update File: ", "*** Add File: ", "*** Delete File: "):
            if line.startswith(mark):
                return line.removeprefix(mark).strip()
    return ""


def _touch_of_command(command: str) -> Touch:
    stripped = command.strip()
    written = _heredoc_file(stripped)
    if written:
        path, text = written
        verb = "edit" if ">>" in stripped.partition("\n")[0] else "write"
        return Touch(verb, path, command=stripped, written_text=text)
    if (
        not stripped
        or len(stripped) > MAX_COMMAND_CHARS
        or any(mark in stripped for mark in _SHELL_OPERATORS)
    ):
        return Touch("run", command=stripped)
    try:
        words = shlex.split(stripped)
    except ValueError:
        return Touch("run", command=stripped)
    return _touch_of_print(stripped, words) or Touch("run", command=stripped)


def _touch_of_print(command: str, words: list[str]) -> Touch | None:
    """Return the touch of a command that only prints a file."""
    match words:
        case ["cat", path] | ["cat", "-n", path] | ["nl", "-ba", path]:
            return Touch("read", path, command=command)
        case ["sed", "-n", span, path] if found := _SED_RANGE.match(span):
            first = int(found[1])
            return Touch("read", path, first, int(found[2] or first), command=command)
        case ["head", "-n", count, path] if (last := whole_number(count)) is not None:
            return Touch("read", path, 1, last, command=command)
        case _:
            return None


def _heredoc_file(command: str) -> tuple[str, str] | None:
    """Return the file that a here-document writes, and its text."""
    if not _HEREDOC.match(command):
        return None
    opening, _, rest = command.partition("\n")
    target, tag = _HEREDOC_TARGET.search(opening), _HEREDOC_TAG.search(opening + "\n")
    if target is None or tag is None:
        return None
    body, end_tag, _ = rest.partition(f"\n{tag[1]}")
    return (target[1], body + "\n") if end_tag else None


_ALL_READ_TOOLS = READ_TOOLS | {"read_media_file", "read_multiple_files", "cat_file", "get_file"}
_ALL_EDIT_TOOLS = EDIT_TOOLS | {
    "apply_diff",
    "insert_content",
    "insert_line",
    "append_file",
    "edit_notebook",
}
_DELETE_TOOLS = frozenset(("delete_file", "remove_file", "delete", "unlink_file", "fs_delete"))
_MOVE_TOOLS = frozenset(("move_file", "rename_file", "move", "rename", "mv_file"))
_COPY_TOOLS = frozenset(("copy_file", "copy"))
_FILE_SEARCH_TOOLS = frozenset(
    ("grep", "grep_search", "search_file_content", "search_files", "search_file")
)
_WINDOW_COMMANDS = frozenset(("open", "goto", "scroll_down", "scroll_up", "create", "edit"))
_PATCH_KEYS = ("input", "patch", "patchText", "patch_text", "diff")
OLD_KEYS = ("old_string", "oldString", "oldText", "old_str", "old_text", "search", "old")
NEW_KEYS = (
    "new_string",
    "newString",
    "newText",
    "new_str",
    "new_text",
    "replace",
    "new",
    "new_source",
    "insert_text",
    "code_edit",
    "content",
    "text",
)
_TEXT_KEYS = ("content", "file_text", "text", "contents", "code")
_SOURCE_KEYS = ("source", "source_path", "old_path", "from", "src", "oldPath")
_TARGET_KEYS = ("destination", "destination_path", "new_path", "to", "dst", "newPath", "target")

# `[File: /src/a.py (120 lines total)]`, as SWE-agent prints it.
_WINDOW_HEADER = Pattern(r"\[File: ([^\n]{1,400}) \((\d{1,9}) lines total\)\]")
# `  12→text`, `12\ttext`, `12|text` and `12:text`, but not `12 text`.
_NUMBERED_LINE = Pattern(r"(?m)^[ \t]{0,9}(\d{1,9})(?:→|\t|\||:)")
# `Showing lines 1-200 of 950`.
_PAGE_NOTE = Pattern(r"[Ss]howing lines (\d{1,9})-(\d{1,9}) of \d")
# `edit 10:12` at the start of a command.
_EDITED_SPAN = Pattern(r"edit (\d{1,9}):(\d{1,9})")
_PAGE_EDGE_CHARS = 1_000
"""Characters at the end of an output that contain its last line number."""


@rule(())
def acts_of_call(body: ToolCalled, output: str) -> tuple[FileAct, ...]:
    """Return the acts of a file tool's call, given its output; empty for other tools."""
    arguments = arguments_of(body)
    name = bare_tool_name(body.tool).rpartition(".")[2]
    if name in COMMAND_EDITORS:
        name = as_text(arguments.get("command")) or name
    if _WINDOW_HEADER.match(output) and name in _WINDOW_COMMANDS:
        return acts_of_window_editor(f"{name} {as_text(arguments.get('command'))}", output)
    path = _first_text(arguments, PATH_KEYS)
    return tuple(act for act in _acts_of_tool(name, path, body, arguments, output) if act.path)


def _acts_of_tool(
    name: str, path: str, body: ToolCalled, arguments: Mapping[str, Json], output: str
) -> Iterator[FileAct]:
    if name in _ALL_READ_TOOLS:
        yield from _acts_of_read(path, arguments, output)
    elif name in WRITE_TOOLS:
        yield _with_reported_verb(act_of_write(path, _first_text(arguments, _TEXT_KEYS)), output)
    elif name in _ALL_EDIT_TOOLS:
        yield from _acts_of_edit(path, body, arguments)
    elif name in _DELETE_TOOLS:
        yield FileAct("delete", path)
    elif name in _MOVE_TOOLS | _COPY_TOOLS:
        source, target = (_first_text(arguments, keys) for keys in (_SOURCE_KEYS, _TARGET_KEYS))
        if name in _MOVE_TOOLS:
            yield FileAct("move", target, source or path)
        else:
            yield FileAct("write", target, how=f"copied from {source or path}")
    elif name == "undo_edit":
        yield FileAct("restore", path, how="undo_edit")
    elif name in _FILE_SEARCH_TOOLS and _is_hit_in_one_file(path, output):
        yield FileAct("read", path, searched=True, how=_search_label(name, arguments))


def _search_label(name: str, arguments: Mapping[str, Json]) -> str:
    return f"{name} {_first_text(arguments, ('pattern', 'query', 'regex', 'search_term'))}"[:90]


def _is_hit_in_one_file(path: str, output: str) -> bool:
    """Return whether a search was in one file and had matches."""
    folder = f"{path.rpartition('/')[2]}/"
    return looks_like_path(path) and folder not in output and "No matches" not in output[:100]


def _acts_of_read(path: str, arguments: Mapping[str, Json], output: str) -> Iterator[FileAct]:
    if "<type>directory" in output[:600] or "files and directories up to" in output[:400]:
        return
    several = as_list(arguments.get("paths"))
    if several:
        yield from (FileAct("read", as_text(name)) for name in several)
        return
    first, last = _requested_lines(arguments)
    page = _PAGE_NOTE.search(output[-600:])
    if page:
        first, last = int(page[1]), int(page[2])
    elif first or last:
        first, last = _shown_lines(max(first, 1), last, output)
    yield FileAct("read", path, first=first, last=last)


def _shown_lines(first: int, last: int, output: str) -> tuple[int, int]:
    """Return the requested lines without those after the end of the file."""
    numbers = [int(found[1]) for found in _NUMBERED_LINE.finditer(output[-_PAGE_EDGE_CHARS:])]
    # A number outside the requested span is not a line number of this page.
    fits = [number for number in numbers[-1:] if first <= number and (not last or number <= last)]
    return first, (fits or [last or first + max(count_lines(output), 1) - 1])[0]


def _with_reported_verb(act: FileAct, output: str) -> FileAct:
    """Return a write with the verb that the output states: `edit`, `create` or unchanged."""
    head = output[:600]
    if "has been updated" in head or "has been edited" in head or "overwritten" in head.lower():
        return replace(act, verb="edit")
    created = "created successfully" in head or "uccessfully created" in head
    return replace(act, verb="create") if created else act


def _acts_of_edit(path: str, body: ToolCalled, arguments: Mapping[str, Json]) -> Iterator[FileAct]:
    patch = _first_text(arguments, _PATCH_KEYS) or ("" if arguments else body.arguments)
    acts = acts_of_patch(patch) or acts_of_search_replace(patch) if patch else ()
    if not path:
        yield from acts
        return
    if acts:
        added, removed = sum(act.added for act in acts), sum(act.removed for act in acts)
        names = dict.fromkeys(chain.from_iterable(act.symbols for act in acts))
        yield FileAct("edit", path, added=added, removed=removed, symbols=tuple(names))
        return
    edits = [as_object(edit) for edit in as_list(arguments.get("edits"))] or [dict(arguments)]
    replaces_all = any(edit.get("replace_all") or edit.get("replaceAll") for edit in edits)
    how = "in every place" if replaces_all else ""
    pairs = [(_first_text(edit, OLD_KEYS), _first_text(edit, NEW_KEYS)) for edit in edits]
    yield act_of_replacements(path, pairs, how=how)


@rule(())
def acts_of_window_editor(command: str, output: str) -> tuple[FileAct, ...]:
    """Return the acts of a command of an editor that shows a window of a file (SWE-agent)."""
    shown = _WINDOW_HEADER.match(output)
    name = command.split(None, 1)[0] if command.strip() else ""
    if shown is None or name not in _WINDOW_COMMANDS:
        return ()
    path = shown[1]
    if name == "create":
        return (FileAct("create", path),)
    if name == "edit":
        return (
            (_act_of_window_edit(path, command),)
            if "updated" in output or "replaced" in output
            else ()
        )
    numbers = [int(found[1]) for found in _NUMBERED_LINE.finditer(output)]
    first, last = (min(numbers), max(numbers)) if numbers else (0, 0)
    whole = first <= 1 and last >= int(shown[2])
    return (FileAct("read", path) if whole else FileAct("read", path, first=first, last=last),)


def _act_of_window_edit(path: str, command: str) -> FileAct:
    text = command.partition("\n")[2].rpartition("end_of_edit")[0]
    span = _EDITED_SPAN.match(command)
    act = act_of_replacements(path, [("", text)])
    return replace(act, removed=int(span[2]) - int(span[1]) + 1 if span else 0)
