"""Outline lists of paths (`ls`, `find`, `tree`, glob tools) by directory."""

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from holdfast.core.shrink.outline.fit import Sketch, pack_names, with_noun
from holdfast.core.shrink.outline.reading import TextReading
from holdfast.text.patterns import Pattern

LS_ROW = Pattern(
    r"^([-dlbcps])[-rwxsStT]{9}[@+.]?\s{1,8}\d{1,9}\s{1,40}\S{1,80}\s{1,40}\S{1,80}\s{1,40}"
    r"([\d.,KMGB]{1,16})\s{1,40}"
    r"(?:\w{3}\s{1,4}\d{1,2}\s{1,4}[\d:]{4,5}|\d{4}-\d\d-\d\d\s[\d:.]{5,20}(?:\s[+-]\d{4})?)\s(.+)$"
)
"""`ls -l`: type, size, name: "-rw-r--r-- 1 ann dev 4.0K Jan  2 10:00 a.py"."""
TREE_ROW = Pattern(r"^([\s│|\xa0]*+)(?:├|└|[|`])[─-]{0,4}\s*+(\S.*)$")
"""`tree`: indentation and name: "│   ├── a.py". Must not match "a.py"."""
PATH = Pattern(r"^(?:\S{0,4}[/~.]|[A-Za-z]:\\)?[^\s:;,(){}<>\"'=|]+(?: [^\s:;,(){}<>\"'=|]+){0,2}$")
NAME = Pattern(r"^[\w.@+ -]{1,120}\.[A-Za-z0-9]{1,10}$")


MAX_LINES_PER_DIRECTORY = 6
"""Lines for the names of one directory: more would repeat the listing."""


class ListedPath(Struct, frozen=True):
    """One file or directory of a listing."""

    folder: str
    name: str
    size: str = ""
    is_folder: bool = False


class DirectoryGroup(Struct, frozen=True):
    """Directories that contain the same names."""

    places: tuple[str, ...]
    names: tuple[str, ...]


def is_path(row: str) -> bool:
    """Return whether a line is a path and nothing else."""
    bare = row.strip()
    if len(bare) > 400 or not PATH.match(bare):
        return False
    return "/" in bare or "\\" in bare or bool(NAME.match(bare))


def outline_listing(reading: TextReading, lines: int, width: int) -> Sketch:
    """Show the number of paths, and the names in each directory."""
    entries = list(_listed_paths(reading.rows))
    root = _shared_directory([entry.folder for entry in entries])
    folders: dict[str, list[str]] = {}
    for entry in entries:
        folders.setdefault(entry.folder, []).append(_label(entry))
    groups = _group_by_names(folders, root)
    lines_each = min(max(lines // max(len(groups), 1), 1), MAX_LINES_PER_DIRECTORY)
    rows = [row for group in groups for row in _group_lines(group, lines_each, width)]
    left = len(groups) - lines
    if left > 0 and lines > 0:
        rows[lines - 1 :] = [f"… {with_noun(left + 1, 'more directory', 'more directories')}"]
    return Sketch(_summary(reading, entries, len(folders), root), tuple(rows[: max(lines, 0)]))


def _label(entry: ListedPath) -> str:
    return entry.name + ("/" if entry.is_folder else f" {entry.size}" if entry.size else "")


def _listed_paths(rows: Sequence[str]) -> Iterator[ListedPath]:
    if sum(1 for row in rows[:40] if TREE_ROW.match(row)) >= 2:
        yield from _tree_paths(rows)
        return
    folder = ""
    for row in rows:
        bare = row.strip()
        if match := LS_ROW.match(row):
            name = match[3].rstrip("/")
            if name not in {".", ".."}:
                yield ListedPath(folder, name, match[2], match[1] == "d")
        elif (bare.endswith(":") and is_path(bare[:-1])) or (bare.endswith(":") and bare == "./:"):
            folder = bare[:-1]
        elif bare and is_path(bare):
            is_folder = bare.endswith(("/", "\\"))
            head, _, tail = bare.rstrip("/").rpartition("/")
            yield ListedPath(head or folder, tail or bare, "", is_folder)


def _tree_paths(rows: Sequence[str]) -> Iterator[ListedPath]:
    stack: list[tuple[int, str]] = []
    branches: list[tuple[int, str]] = []
    for row in rows:
        if match := TREE_ROW.match(row):
            branches.append((len(match[1]), match[2].strip()))
    for at, (depth, name) in enumerate(branches):
        while stack and stack[-1][0] >= depth:
            stack.pop()
        parent = stack[-1][1] if stack else ""
        has_more = at + 1 < len(branches) and branches[at + 1][0] > depth
        is_folder = has_more or name.endswith("/")
        yield ListedPath(parent, name.rstrip("/"), "", is_folder)
        if is_folder and len(stack) < 24:
            stack.append((depth, f"{parent}/{name.rstrip('/')}".lstrip("/")))


def _shared_directory(folders: Sequence[str]) -> str:
    """Return the directory that all paths share."""
    if not folders:
        return ""
    first, last = min(folders), max(folders)
    shared = 0
    for left, right in zip(first.split("/"), last.split("/"), strict=False):
        if left != right:
            break
        shared += len(left) + 1
    return first[: max(shared - 1, 0)]


def _group_by_names(folders: dict[str, list[str]], root: str) -> list[DirectoryGroup]:
    """Group the directories that contain the same names."""
    by_names: dict[tuple[str, ...], list[str]] = {}
    for folder, names in folders.items():
        place = folder[len(root) :].lstrip("/") if folder.startswith(root) else folder
        by_names.setdefault(tuple(names), []).append(f"{place}/" if place else "./")
    return [DirectoryGroup(tuple(places), names) for names, places in by_names.items()]


def _group_lines(group: DirectoryGroup, lines: int, width: int) -> list[str]:
    """Return the names of a group in at most `lines` lines."""
    place, *alike = group.places
    more = f" and {len(alike):,} more like it" if alike else ""
    label = f"{place}{more} ({len(group.names):,}): "
    first, *others = group.names
    rows = pack_names((label + first, *others), width - 12)
    if len(rows) > lines:
        shown = sum(len(row.split(", ")) for row in rows[:lines])
        return [
            *rows[: lines - 1],
            f"{rows[lines - 1]}, … {max(len(group.names) - shown, 1):,} more",
        ]
    return list(rows)


def _summary(reading: TextReading, entries: Sequence[ListedPath], groups: int, root: str) -> str:
    total = len(entries) if not reading.partial else reading.total
    files = [entry for entry in entries if not entry.is_folder]
    kinds = Counter(_extension(entry.name) for entry in files)
    common = sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))[:5]
    types = ", ".join(f"{name or 'no extension'} {count:,}" for name, count in common)
    place = f" under {root}/" if root else ""
    folders = sum(1 for entry in entries if entry.is_folder)
    spread = f" in {with_noun(groups, 'directory', 'directories')}" if groups > 1 else ""
    named_folders = (
        f", {with_noun(folders, 'path is a directory', 'paths are directories')}" if folders else ""
    )
    return f"listing: {with_noun(total, 'path')}{spread}{place}{named_folders}" + (
        f" ({types})" if types else ""
    )


def _extension(name: str) -> str:
    stem, dot, extension = name.rpartition(".")
    return dot + extension if stem and len(extension) <= 10 else ""
