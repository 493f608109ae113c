"""What a patch does to files: the forms in which agents write changes down, read as acts.

Four forms: the envelope of `apply_patch`, unified diffs, search and replace blocks, and an old text
with the new one for it. None is applied to anything; only paths, lines and names are taken.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, TypeAlias

from msgspec import Struct

from holdfast.core.faults import rule
from holdfast.text.code import MOST_SYMBOLS, find_symbols

Verb: TypeAlias = Literal["read", "create", "write", "edit", "delete", "move", "restore", "folder"]
MOST_FILES = 2_000
LOOKED_AT = 100_000
"""Characters of a text in which names are looked for."""
_BEGIN = "*** Begin Patch"
_HUNK = re.compile(
    r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@ ?([^\n]{0,200})", re.ASCII
)


class Act(Struct, frozen=True):
    """One thing that was done to one file."""

    verb: Verb
    path: str
    was: str = ""
    """Where a file that was moved came from."""
    first: int = 0
    last: int = 0
    """The lines that were read; zeros for the whole file."""
    added: int = 0
    removed: int = 0
    symbols: tuple[str, ...] = ()
    how: str = ""
    """What did it, where neither lines nor names tell."""
    searched: bool = False
    """Whether only the lines that match something were read."""
    text: str = ""
    """The whole text of the file after it, where it is known."""


@rule(())
def symbols_in(lines: Iterable[str], path: str = "") -> tuple[str, ...]:
    """Names defined in some lines of code, or the headings of prose, a few at most."""
    return find_symbols(lines, path)


def written(path: str, text: str, *, verb: Verb = "write", how: str = "") -> Act:
    """A file made of a text."""
    symbols = symbols_in(text[:LOOKED_AT].split("\n"), path)
    return Act(verb, path, added=count_lines(text), symbols=symbols, how=how, text=text)


def changed(path: str, pairs: Iterable[tuple[str, str]], *, how: str = "") -> Act:
    """A file in which old texts became new ones."""
    added = removed = 0
    symbols: dict[str, None] = {}
    for old, new in pairs:
        before, after = _lines(old), _lines(new)
        gone, come = Counter(before), Counter(after)
        added += (come - gone).total()
        removed += (gone - come).total()
        symbols.update(dict.fromkeys(symbols_in(after or before, path)))
    return Act(
        "edit", path, added=added, removed=removed, symbols=tuple(symbols)[:MOST_SYMBOLS], how=how
    )


def count_lines(text: str) -> int:
    """Lines of a text; a last one without its end counts."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


@rule(())
def patched(text: str, *, strip: int | None = None) -> tuple[Act, ...]:
    """What an `apply_patch` envelope or a unified diff does.

    `strip`: how many leading folders of its paths do not count; by default git's `a/` and `b/`.
    """
    if _BEGIN in text:
        acts = _enveloped(text[text.index(_BEGIN) :].split("\n"))
    elif "+++ " in text or "rename to " in text:
        acts = _diffed(text.split("\n"), strip)
    else:
        return ()
    return tuple(islice(acts, MOST_FILES))


class _Part:
    """The part of a patch that is about one file, while it is read."""

    def __init__(self, verb: Verb, path: str) -> None:
        self.verb: Verb = verb
        self.path, self.was = path, ""
        self.new: list[str] = []
        self.seen: list[str] = []
        self.removed = 0

    def act(self) -> Act:
        """What it came to."""
        names = symbols_in([*self.seen, *self.new], self.path)
        return Act(
            self.verb,
            self.path,
            self.was,
            added=len(self.new),
            removed=self.removed,
            symbols=names if self.verb != "delete" else (),
            text="\n".join([*self.new, ""]) if self.verb == "create" else "",
        )


_MARKS: tuple[tuple[str, Verb], ...] = (
    ("*** Add File: ", "create"),
    ("*** Update File: ", "edit"),
    ("*** Delete File: ", "delete"),
)


def _enveloped(lines: Sequence[str]) -> Iterator[Act]:
    part: _Part | None = None
    for line in lines:
        mark = next((known for known in _MARKS if line.startswith(known[0])), None)
        if mark or line.startswith("*** End Patch"):
            if part is not None:
                yield part.act()
            if mark is None:
                return
            part = _Part(mark[1], line.removeprefix(mark[0]).strip())
        elif part is not None:
            _take(part, line)
    if part is not None:
        yield part.act()


def _take(part: _Part, line: str) -> None:
    """Read one line of a part of an envelope."""
    if line.startswith("*** Move to: "):
        part.verb, part.was = "move", part.path
        part.path = line.removeprefix("*** Move to: ").strip()
    elif line.startswith("+"):
        part.new.append(line[1:])
    elif line.startswith("-"):
        part.removed += 1
    elif line.startswith("@@"):
        part.seen.append(line[2:].removeprefix(" "))


def _diffed(lines: Sequence[str], strip: int | None) -> Iterator[Act]:
    part: _Part | None = None
    old, renamed = "", ""
    left = right = 0
    for line in lines:
        if left > 0 or right > 0:
            left, right = _in_hunk(part, line, left, right)
        elif line.startswith("--- "):
            old = _named(line, strip)
        elif line.startswith("+++ "):
            if part is not None:
                yield part.act()
            part = _opened(old, _named(line, strip), renamed)
            renamed = ""
        elif line.startswith("rename from "):
            renamed = line.removeprefix("rename from ").strip()
        elif line.startswith("rename to "):
            if part is not None:
                yield part.act()
            part = _opened(renamed, line.removeprefix("rename to ").strip(), renamed)
        elif part is not None and (hunk := _HUNK.match(line)):
            left, right = int(hunk[1] or 1), int(hunk[2] or 1)
            part.seen.append(hunk[3])
    if part is not None:
        yield part.act()


def _in_hunk(part: _Part | None, line: str, left: int, right: int) -> tuple[int, int]:
    """Read one line of a hunk; the lines of either side that are still to come."""
    assert part is not None
    if line.startswith("+"):
        part.new.append(line[1:])
        return left, right - 1
    if line.startswith("-"):
        part.removed += 1
        return left - 1, right
    if line.startswith("\\"):
        return left, right
    return left - 1, right - 1


def _opened(old: str, new: str, renamed: str) -> _Part:
    if not new:
        return _Part("delete", old)
    part = _Part("edit" if old else "create", new)
    if renamed and renamed != new:
        part.verb, part.was = "move", renamed
    return part


def _named(line: str, strip: int | None) -> str:
    """The path in a header of a diff; none for `/dev/null`."""
    path = line[4:].partition("\t")[0].strip()
    if path == "/dev/null":
        return ""
    if strip is None:
        return path[2:] if path[:2] in ("a/", "b/") else path
    return "/".join(path.split("/")[strip:]) or path


SEARCH, MIDDLE, REPLACE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"


@rule(())
def replaced(text: str) -> tuple[Act, ...]:
    """What the search and replace blocks in a text would do, one act per path."""
    if SEARCH not in text:
        return ()
    found: dict[str, list[tuple[str, str]]] = {}
    path = ""
    before: list[str] = []
    old: list[str] | None = None
    new: list[str] | None = None
    for line in text.split("\n"):
        mark = line.rstrip()
        if mark == SEARCH:
            path = _path_above(before) or path
            old, new = [], None
        elif old is not None and new is None and mark == MIDDLE:
            new = []
        elif old is not None and new is not None and mark == REPLACE:
            found.setdefault(path, []).append(("\n".join(old), "\n".join(new)))
            before, old, new = [], None, None
        elif new is not None:
            new.append(line)
        elif old is not None:
            old.append(line)
        else:
            before = [*before[-2:], line]
    return tuple(_block(path, pairs) for path, pairs in found.items() if path)


def _block(path: str, pairs: list[tuple[str, str]]) -> Act:
    if len(pairs) == 1 and not pairs[0][0].strip():
        return written(path, pairs[0][1])
    return changed(path, pairs)


@rule(())
def fenced(text: str) -> tuple[Act, ...]:
    """The whole files that stand in a text, each in a fence under its path."""
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
    return tuple(written(path, "\n".join([*lines, ""])) for path, lines in files.items())


def _path_above(lines: Sequence[str]) -> str:
    """The path that the nearest of some lines names, fences apart."""
    for line in reversed(lines):
        if line.startswith("```") or not line.strip():
            continue
        bare = line.strip().strip("*`#:").strip().strip("`")
        return bare if looks_like_path(bare) else ""
    return ""


def looks_like_path(text: str) -> bool:
    """Whether a text can be nothing but the name of a file."""
    last = text.rpartition("/")[2]
    return 0 < len(text) <= 300 and not any(c in text for c in " \t\"'<>|`") and "." in last
