"""What a tool call touches: which file, which lines, to read it or to write it.

Agents name their tools differently and mean the same few things. A call that is not understood
touches nothing, and then nothing is concluded from it.
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
    Act,
    changed,
    count_lines,
    looks_like_path,
    patched,
    replaced,
    written,
)
from holdfast.text.jsontext import Json, NotJson, as_list, as_object, as_text, parse, whole_number

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

MOST_LINES = 10**9
REMEMBERED = 4_000
"""Characters of arguments up to which it is remembered what they touch."""
LONGEST_COMMAND = 2_000
"""A longer command is a script; it is not taken apart."""

_JOINS = "|;&><\n$`"
"""A command with one of these does more than print a file."""
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


@rule(Touch())
def touch_of(body: ToolCalled) -> Touch:
    """What a call touches."""
    # What writes a file is not kept for the sake of a moment.
    return _known(body) if len(body.arguments) <= REMEMBERED else _touch(body)


@lru_cache(maxsize=8_192)
def _known(body: ToolCalled) -> Touch:
    return _touch(body)


def _touch(body: ToolCalled) -> Touch:
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


@rule({})
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
    """A number of lines; one that no file has is none."""
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return value if abs(value) < MOST_LINES else 0


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
    if not plain or len(plain) > LONGEST_COMMAND or any(mark in plain for mark in _JOINS):
        return Touch("run", command=plain)
    try:
        words = shlex.split(plain)
    except ValueError:
        return Touch("run", command=plain)
    return _shell_read(plain, words) or Touch("run", command=plain)


def _shell_read(command: str, words: list[str]) -> Touch | None:
    """A command that does nothing but print a file."""
    match words:
        case ["cat", path] | ["cat", "-n", path] | ["nl", "-ba", path]:
            return Touch("read", path, command=command)
        case ["sed", "-n", span, path] if found := _RANGE.match(span):
            first = int(found[1])
            return Touch("read", path, first, int(found[2] or first), command=command)
        case ["head", "-n", count, path] if (last := whole_number(count)) is not None:
            return Touch("read", path, 1, last, command=command)
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


_MORE_READS = READS | {"read_media_file", "read_multiple_files", "cat_file", "get_file"}
_MORE_EDITS = EDITS | {
    "apply_diff",
    "insert_content",
    "insert_line",
    "append_file",
    "edit_notebook",
}
_DELETES = frozenset(("delete_file", "remove_file", "delete", "unlink_file", "fs_delete"))
_MOVES = frozenset(("move_file", "rename_file", "move", "rename", "mv_file"))
_COPIES = frozenset(("copy_file", "copy"))
_LOOKS = frozenset(("grep", "grep_search", "search_file_content", "search_files", "search_file"))
_OPENS = frozenset(("open", "goto", "scroll_down", "scroll_up", "create", "edit"))
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

_SHOWN = re.compile(r"\[File: ([^\n]{1,400}) \((\d{1,9}) lines total\)\]")
_NUMBERED = re.compile(r"(?m)^[ \t]{0,9}(\d{1,9})(?:→|\t|\||:)")
_PAGE = re.compile(r"[Ss]howing lines (\d{1,9})-(\d{1,9}) of \d")
_SPAN_EDITED = re.compile(r"edit (\d{1,9}):(\d{1,9})")
_ENDS = 1_000
"""Characters at either end of a page in which its first and last lines show."""


@rule(())
def acts_of_call(body: ToolCalled, output: str) -> tuple[Act, ...]:
    """What a call of a file tool did, given what it returned; nothing for other tools."""
    arguments = arguments_of(body)
    name = plain_name(body.tool).rpartition(".")[2]
    if name in MIXED:
        name = as_text(arguments.get("command")) or name
    if _SHOWN.match(output) and name in _OPENS:
        return shown_acts(f"{name} {as_text(arguments.get('command'))}", output)
    path = _first_text(arguments, PATH_KEYS)
    return tuple(act for act in _acts(name, path, body, arguments, output) if act.path)


def _acts(
    name: str, path: str, body: ToolCalled, arguments: Mapping[str, Json], output: str
) -> Iterator[Act]:
    if name in _MORE_READS:
        yield from _read(path, arguments, output)
    elif name in WRITES:
        yield _settled(written(path, _first_text(arguments, _TEXT_KEYS)), output)
    elif name in _MORE_EDITS:
        yield from _edited(path, body, arguments)
    elif name in _DELETES:
        yield Act("delete", path)
    elif name in _MOVES | _COPIES:
        source, target = (_first_text(arguments, keys) for keys in (_SOURCE_KEYS, _TARGET_KEYS))
        if name in _MOVES:
            yield Act("move", target, source or path)
        else:
            yield Act("write", target, how=f"copied from {source or path}")
    elif name == "undo_edit":
        yield Act("restore", path, how="undo_edit")
    elif name in _LOOKS and _one_file(path, output):
        yield Act("read", path, searched=True, how=_pattern(name, arguments))


def _pattern(name: str, arguments: Mapping[str, Json]) -> str:
    return f"{name} {_first_text(arguments, ('pattern', 'query', 'regex', 'search_term'))}"[:90]


def _one_file(path: str, output: str) -> bool:
    """Whether a search looked into one file and found something in it."""
    folder = f"{path.rpartition('/')[2]}/"
    return looks_like_path(path) and folder not in output and "No matches" not in output[:100]


def _read(path: str, arguments: Mapping[str, Json], output: str) -> Iterator[Act]:
    if "<type>directory" in output[:600] or "files and directories up to" in output[:400]:
        return
    several = as_list(arguments.get("paths"))
    if several:
        yield from (Act("read", as_text(name)) for name in several)
        return
    first, last = _lines(arguments)
    page = _PAGE.search(output[-600:])
    if page:
        first, last = int(page[1]), int(page[2])
    elif first or last:
        first, last = _seen_lines(max(first, 1), last, output)
    yield Act("read", path, first=first, last=last)


def _seen_lines(first: int, last: int, output: str) -> tuple[int, int]:
    """The lines of a page as they were asked for, less those behind the end of the file."""
    numbers = [int(found[1]) for found in _NUMBERED.finditer(output[-_ENDS:])]
    # Only a number that can be the last line of this page is one.
    fits = [number for number in numbers[-1:] if first <= number and (not last or number <= last)]
    return first, (fits or [last or first + max(count_lines(output), 1) - 1])[0]


def _settled(act: Act, output: str) -> Act:
    """A write that the tool's own words tell from an overwriting, or the other way round."""
    head = output[:600]
    if "has been updated" in head or "has been edited" in head or "overwritten" in head.lower():
        return replace(act, verb="edit")
    created = "created successfully" in head or "uccessfully created" in head
    return replace(act, verb="create") if created else act


def _edited(path: str, body: ToolCalled, arguments: Mapping[str, Json]) -> Iterator[Act]:
    patch = _first_text(arguments, _PATCH_KEYS) or ("" if arguments else body.arguments)
    acts = patched(patch) or replaced(patch) if patch else ()
    if not path:
        yield from acts
        return
    if acts:
        added, removed = sum(act.added for act in acts), sum(act.removed for act in acts)
        names = dict.fromkeys(chain.from_iterable(act.symbols for act in acts))
        yield Act("edit", path, added=added, removed=removed, symbols=tuple(names))
        return
    edits = [as_object(edit) for edit in as_list(arguments.get("edits"))] or [dict(arguments)]
    everywhere = any(edit.get("replace_all") or edit.get("replaceAll") for edit in edits)
    how = "in every place" if everywhere else ""
    pairs = [(_first_text(edit, OLD_KEYS), _first_text(edit, NEW_KEYS)) for edit in edits]
    yield changed(path, pairs, how=how)


@rule(())
def shown_acts(command: str, output: str) -> tuple[Act, ...]:
    """What a command of an editor that shows a window of a file did to the file it shows."""
    shown = _SHOWN.match(output)
    name = command.split(None, 1)[0] if command.strip() else ""
    if shown is None or name not in _OPENS:
        return ()
    path = shown[1]
    if name == "create":
        return (Act("create", path),)
    if name == "edit":
        return (_shown_edit(path, command),) if "updated" in output or "replaced" in output else ()
    numbers = [int(found[1]) for found in _NUMBERED.finditer(output)]
    first, last = (min(numbers), max(numbers)) if numbers else (0, 0)
    whole = first <= 1 and last >= int(shown[2])
    return (Act("read", path) if whole else Act("read", path, first=first, last=last),)


def _shown_edit(path: str, command: str) -> Act:
    text = command.partition("\n")[2].rpartition("end_of_edit")[0]
    span = _SPAN_EDITED.match(command)
    act = changed(path, [("", text)])
    return replace(act, removed=int(span[2]) - int(span[1]) + 1 if span else 0)
