"""Read patches as acts on files: which paths change, by how many lines, with which symbols.

Four forms: the envelope of `apply_patch`, unified diffs, search and replace blocks, and pairs of
old and new text. No patch is applied.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, TypeAlias

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.text.code import MAX_SYMBOLS, find_symbols
from holdfast.text.patterns import Pattern

Verb: TypeAlias = Literal["read", "create", "write", "edit", "delete", "move", "restore", "folder"]
MAX_FILES = 2_000
MAX_SYMBOL_SEARCH_CHARS = 100_000
"""Characters of a text that are searched for symbols."""
_ENVELOPE_START = "*** Begin Patch"
# `@@ -1,3 +1,4 @@ def main():`, but not the bare `@@ def main():` of an envelope.
_HUNK_HEADER = Pattern(
    r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@ ?([^\n]{0,200})", re.ASCII
)


class FileAct(Struct, frozen=True):
    """One operation on one file."""

    verb: Verb
    path: str
    moved_from: str = ""
    """The old path of a moved file."""
    first: int = 0
    last: int = 0
    """First and last line that were read; zeros for the whole file."""
    added: int = 0
    removed: int = 0
    symbols: tuple[str, ...] = ()
    how: str = ""
    """The means (a command, a script) if line counts and symbols do not describe the change."""
    searched: bool = False
    """Whether only matching lines were read."""
    text: str = ""
    """The whole text of the file afterwards, if known."""


@rule(())
def symbols_in(lines: Iterable[str], path: str = "") -> tuple[str, ...]:
    """Return the first few names defined in lines of code, or the headings of prose."""
    return find_symbols(lines, path)


def act_of_write(path: str, text: str, *, verb: Verb = "write") -> FileAct:
    """Return the act of writing a text to a file."""
    symbols = symbols_in(text[:MAX_SYMBOL_SEARCH_CHARS].split("\n"), path)
    return FileAct(verb, path, added=count_lines(text), symbols=symbols, text=text)


def act_of_replacements(path: str, pairs: Iterable[tuple[str, str]], *, how: str = "") -> FileAct:
    """Return the act of replacing old texts by new ones in a file."""
    added = removed = 0
    symbols: dict[str, None] = {}
    for old, new in pairs:
        before, after = _split_lines(old), _split_lines(new)
        old_counts, new_counts = Counter(before), Counter(after)
        added += (new_counts - old_counts).total()
        removed += (old_counts - new_counts).total()
        symbols.update(dict.fromkeys(symbols_in(after or before, path)))
    return FileAct(
        "edit", path, added=added, removed=removed, symbols=tuple(symbols)[:MAX_SYMBOLS], how=how
    )


def count_lines(text: str) -> int:
    """Return the number of lines of a text, counting a last line without a line end."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def _split_lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


@rule(())
def acts_of_patch(text: str, *, strip: int | None = None) -> tuple[FileAct, ...]:
    """Return the acts of an `apply_patch` envelope or a unified diff.

    `strip` is the number of leading folders to remove from paths; by default git's `a/` and `b/`.
    """
    if _ENVELOPE_START in text:
        acts = _acts_of_envelope(text[text.index(_ENVELOPE_START) :].split("\n"))
    elif "+++ " in text or "rename to " in text:
        acts = _acts_of_diff(text.split("\n"), strip)
    else:
        return ()
    return tuple(islice(acts, MAX_FILES))


class _FilePatch:
    """The part of a patch for one file, while it is read."""

    def __init__(self, verb: Verb, path: str) -> None:
        self.verb: Verb = verb
        self.path, self.moved_from = path, ""
        self.added_lines: list[str] = []
        self.context_lines: list[str] = []
        self.removed = 0

    def act(self) -> FileAct:
        """Return the part as an act."""
        names = symbols_in([*self.context_lines, *self.added_lines], self.path)
        return FileAct(
            self.verb,
            self.path,
            self.moved_from,
            added=len(self.added_lines),
            removed=self.removed,
            symbols=names if self.verb != "delete" else (),
            text="\n".join([*self.added_lines, ""]) if self.verb == "create" else "",
        )


_ENVELOPE_HEADERS: tuple[tuple[str, Verb], ...] = (
    ("*** Add File: ", "create"),
    ("*** Update File: ", "edit"),
    ("*** Delete File: ", "delete"),
)


def _acts_of_envelope(lines: Sequence[str]) -> Iterator[FileAct]:
    part: _FilePatch | None = None
    for line in lines:
        mark = next((known for known in _ENVELOPE_HEADERS if line.startswith(known[0])), None)
        if mark or line.startswith("*** End Patch"):
            if part is not None:
                yield part.act()
            if mark is None:
                return
            part = _FilePatch(mark[1], line.removeprefix(mark[0]).strip())
        elif part is not None:
            _read_envelope_line(part, line)
    if part is not None:
        yield part.act()


def _read_envelope_line(part: _FilePatch, line: str) -> None:
    """Add one line of an envelope to the part."""
    if line.startswith("*** Move to: "):
        part.verb, part.moved_from = "move", part.path
        part.path = line.removeprefix("*** Move to: ").strip()
    elif line.startswith("+"):
        part.added_lines.append(line[1:])
    elif line.startswith("-"):
        part.removed += 1
    elif line.startswith("@@"):
        part.context_lines.append(line[2:].removeprefix(" "))


def _acts_of_diff(lines: Sequence[str], strip: int | None) -> Iterator[FileAct]:
    part: _FilePatch | None = None
    old, renamed = "", ""
    old_left = new_left = 0
    for line in lines:
        if old_left > 0 or new_left > 0:
            old_left, new_left = _read_hunk_line(part, line, old_left, new_left)
        elif line.startswith("--- "):
            old = _header_path(line, strip)
        elif line.startswith("+++ "):
            if part is not None:
                yield part.act()
            part = _start_file(old, _header_path(line, strip), renamed)
            renamed = ""
        elif line.startswith("rename from "):
            renamed = line.removeprefix("rename from ").strip()
        elif line.startswith("rename to "):
            if part is not None:
                yield part.act()
            part = _start_file(renamed, line.removeprefix("rename to ").strip(), renamed)
        elif part is not None and (hunk := _HUNK_HEADER.match(line)):
            old_left, new_left = int(hunk[1] or 1), int(hunk[2] or 1)
            part.context_lines.append(hunk[3])
    if part is not None:
        yield part.act()


def _read_hunk_line(
    part: _FilePatch | None, line: str, old_left: int, new_left: int
) -> tuple[int, int]:
    """Add one line of a hunk to the part; return the remaining old and new lines of the hunk."""
    assert part is not None
    if line.startswith("+"):
        part.added_lines.append(line[1:])
        return old_left, new_left - 1
    if line.startswith("-"):
        part.removed += 1
        return old_left - 1, new_left
    if line.startswith("\\"):
        return old_left, new_left
    return old_left - 1, new_left - 1


def _start_file(old: str, new: str, renamed: str) -> _FilePatch:
    if not new:
        return _FilePatch("delete", old)
    part = _FilePatch("edit" if old else "create", new)
    if renamed and renamed != new:
        part.verb, part.moved_from = "move", renamed
    return part


def _header_path(line: str, strip: int | None) -> str:
    """Return the path in a header of a diff; empty for `/dev/null`."""
    path = line[4:].partition("\t")[0].strip()
    if path == "/dev/null":
        return ""
    if strip is None:
        return path[2:] if path[:2] in ("a/", "b/") else path
    return "/".join(path.split("/")[strip:]) or path


SEARCH_MARK, MIDDLE_MARK, REPLACE_MARK = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"


@rule(())
def acts_of_search_replace(text: str) -> tuple[FileAct, ...]:
    """Return the acts of the search and replace blocks in a text, one per path."""
    if SEARCH_MARK not in text:
        return ()
    pairs_by_path: dict[str, list[tuple[str, str]]] = {}
    path = ""
    before: list[str] = []
    old: list[str] | None = None
    new: list[str] | None = None
    for line in text.split("\n"):
        mark = line.rstrip()
        if mark == SEARCH_MARK:
            path = _path_above(before) or path
            old, new = [], None
        elif old is not None and new is None and mark == MIDDLE_MARK:
            new = []
        elif old is not None and new is not None and mark == REPLACE_MARK:
            pairs_by_path.setdefault(path, []).append(("\n".join(old), "\n".join(new)))
            before, old, new = [], None, None
        elif new is not None:
            new.append(line)
        elif old is not None:
            old.append(line)
        else:
            before = [*before[-2:], line]
    return tuple(_act_of_blocks(path, pairs) for path, pairs in pairs_by_path.items() if path)


def _act_of_blocks(path: str, pairs: list[tuple[str, str]]) -> FileAct:
    if len(pairs) == 1 and not pairs[0][0].strip():
        return act_of_write(path, pairs[0][1])
    return act_of_replacements(path, pairs)


@rule(())
def acts_of_fenced_files(text: str) -> tuple[FileAct, ...]:
    """Return the writes of whole files in fenced blocks, each below a line with its path."""
    files: dict[str, list[str]] = {}
    above = ""
    body: list[str] | None = None
    for line in text.split("\n"):
        if body is None and line.startswith("```"):
            body = []
        elif body is not None and line.rstrip() == "```":
            if path := _path_above([above]):
                files[path] = body
            above, body = "", None
        elif body is not None:
            body.append(line)
        else:
            above = line
    return tuple(act_of_write(path, "\n".join([*lines, ""])) for path, lines in files.items())


def _path_above(lines: Sequence[str]) -> str:
    """Return the path in the last of some lines that is neither blank nor a fence; else empty."""
    for line in reversed(lines):
        if line.startswith("```") or not line.strip():
            continue
        bare = line.strip().strip("*`#:").strip().strip("`")
        return bare if looks_like_path(bare) else ""
    return ""


def looks_like_path(text: str) -> bool:
    """Return whether a text has the form of a file name."""
    last = text.rpartition("/")[2]
    return 0 < len(text) <= 300 and not any(c in text for c in " \t\"'<>|`") and "." in last
