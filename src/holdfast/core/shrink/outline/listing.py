"""Paths: what `ls`, `find`, `tree` and glob tools print, shown by directory."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from holdfast.core.shrink.outline.fit import Sketch, count_of, packed
from holdfast.core.shrink.outline.reading import Reading

LONG_ROW = re.compile(
    r"^([-dlbcps])[-rwxsStT]{9}[@+.]?\s{1,8}\d{1,9}\s{1,40}\S{1,80}\s{1,40}\S{1,80}\s{1,40}"
    r"([\d.,KMGB]{1,16})\s{1,40}"
    r"(?:\w{3}\s{1,4}\d{1,2}\s{1,4}[\d:]{4,5}|\d{4}-\d\d-\d\d\s[\d:.]{5,20}(?:\s[+-]\d{4})?)\s(.+)$"
)
"""`ls -l`: type, size, name."""
BRANCH = re.compile(r"^([\s│|\xa0]*+)(?:├|└|[|`])[─-]{0,4}\s*+(\S.*)$")
"""`tree`: the depth is how far the branch is indented."""
PATH = re.compile(
    r"^(?:\S{0,4}[/~.]|[A-Za-z]:\\)?[^\s:;,(){}<>\"'=|]+(?: [^\s:;,(){}<>\"'=|]+){0,2}$"
)
NAME = re.compile(r"^[\w.@+ -]{1,120}\.[A-Za-z0-9]{1,10}$")


MOST_EACH = 6
"""Lines for the names of one directory: more would be the listing again."""


class Entry(Struct, frozen=True):
    """One file or directory that a listing names."""

    folder: str
    name: str
    size: str = ""
    is_folder: bool = False


class Group(Struct, frozen=True):
    """Directories that hold the same names."""

    places: tuple[str, ...]
    names: tuple[str, ...]


def is_path(row: str) -> bool:
    """Whether a line is a path and nothing else."""
    bare = row.strip()
    if len(bare) > 400 or not PATH.match(bare):
        return False
    return "/" in bare or "\\" in bare or bool(NAME.match(bare))


def outline_listing(reading: Reading, lines: int, width: int) -> Sketch:
    """How many paths, and the names in each directory."""
    entries = list(_entries(reading.rows))
    root = _root([entry.folder for entry in entries])
    folders: dict[str, list[str]] = {}
    for entry in entries:
        folders.setdefault(entry.folder, []).append(_name(entry))
    groups = _alike(folders, root)
    each = min(max(lines // max(len(groups), 1), 1), MOST_EACH)
    shown = [row for group in groups for row in _group(group, each, width)]
    left = len(groups) - lines
    if left > 0 and lines > 0:
        shown[lines - 1 :] = [f"… {count_of(left + 1, 'more directory', 'more directories')}"]
    return Sketch(_summary(reading, entries, len(folders), root), tuple(shown[: max(lines, 0)]))


def _name(entry: Entry) -> str:
    return entry.name + ("/" if entry.is_folder else f" {entry.size}" if entry.size else "")


def _entries(rows: Sequence[str]) -> Iterator[Entry]:
    if sum(1 for row in rows[:40] if BRANCH.match(row)) >= 2:
        yield from _branches(rows)
        return
    folder = ""
    for row in rows:
        bare = row.strip()
        if match := LONG_ROW.match(row):
            name = match[3].rstrip("/")
            if name not in {".", ".."}:
                yield Entry(folder, name, match[2], match[1] == "d")
        elif (bare.endswith(":") and is_path(bare[:-1])) or (bare.endswith(":") and bare == "./:"):
            folder = bare[:-1]
        elif bare and is_path(bare):
            is_folder = bare.endswith(("/", "\\"))
            head, _, tail = bare.rstrip("/").rpartition("/")
            yield Entry(head or folder, tail or bare, "", is_folder)


def _branches(rows: Sequence[str]) -> Iterator[Entry]:
    stack: list[tuple[int, str]] = []
    found: list[tuple[int, str]] = []
    for row in rows:
        if match := BRANCH.match(row):
            found.append((len(match[1]), match[2].strip()))
    for at, (depth, name) in enumerate(found):
        while stack and stack[-1][0] >= depth:
            stack.pop()
        parent = stack[-1][1] if stack else ""
        has_more = at + 1 < len(found) and found[at + 1][0] > depth
        is_folder = has_more or name.endswith("/")
        yield Entry(parent, name.rstrip("/"), "", is_folder)
        if is_folder and len(stack) < 24:
            stack.append((depth, f"{parent}/{name.rstrip('/')}".lstrip("/")))


def _root(folders: Sequence[str]) -> str:
    """The directory that all paths share."""
    if not folders:
        return ""
    first, last = min(folders), max(folders)
    shared = 0
    for one, other in zip(first.split("/"), last.split("/"), strict=False):
        if one != other:
            break
        shared += len(one) + 1
    return first[: max(shared - 1, 0)]


def _alike(folders: dict[str, list[str]], root: str) -> list[Group]:
    """The directories, those that hold the same names together."""
    found: dict[tuple[str, ...], list[str]] = {}
    for folder, names in folders.items():
        place = folder[len(root) :].lstrip("/") if folder.startswith(root) else folder
        found.setdefault(tuple(names), []).append(f"{place}/" if place else "./")
    return [Group(tuple(places), names) for names, places in found.items()]


def _group(group: Group, lines: int, width: int) -> list[str]:
    """The names in a directory, set in so many lines."""
    place, *alike = group.places
    more = f" and {len(alike):,} more like it" if alike else ""
    label = f"{place}{more} ({len(group.names):,}): "
    first, *others = group.names
    rows = packed((label + first, *others), width - 12)
    if len(rows) > lines:
        told = sum(len(row.split(", ")) for row in rows[:lines])
        return [
            *rows[: lines - 1],
            f"{rows[lines - 1]}, … {max(len(group.names) - told, 1):,} more",
        ]
    return list(rows)


def _summary(reading: Reading, entries: Sequence[Entry], groups: int, root: str) -> str:
    total = len(entries) if not reading.partial else reading.total
    files = [entry for entry in entries if not entry.is_folder]
    kinds = Counter(_extension(entry.name) for entry in files)
    common = sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))[:5]
    types = ", ".join(f"{name or 'no extension'} {count:,}" for name, count in common)
    place = f" under {root}/" if root else ""
    folders = sum(1 for entry in entries if entry.is_folder)
    spread = f" in {count_of(groups, 'directory', 'directories')}" if groups > 1 else ""
    named_folders = (
        f", {count_of(folders, 'path is a directory', 'paths are directories')}" if folders else ""
    )
    return f"listing: {count_of(total, 'path')}{spread}{place}{named_folders}" + (
        f" ({types})" if types else ""
    )


def _extension(name: str) -> str:
    stem, dot, extension = name.rpartition(".")
    return dot + extension if stem and len(extension) <= 10 else ""
