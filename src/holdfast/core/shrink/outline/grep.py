"""What a search found: the files with counts, and the first matches of each."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from holdfast.core.shrink.outline.fit import Detail, Sketch, chosen, count_of
from holdfast.core.shrink.outline.listing import is_path
from holdfast.core.shrink.outline.reading import Reading

MATCH = re.compile(r"^((?:[A-Za-z]:)?[^\s:][^:\n]{0,300}):(\d{1,7}):(.*)$")
CONTEXT = re.compile(r"^\S.{0,300}?-\d{1,7}-")
LINE = re.compile(r"^(?:\s{2}Line )?(\d{1,7}): ?(.*)$")
"""Under a line that names the file, or with no file at all."""


class Match(Struct, frozen=True):
    """One line that was found."""

    line: int
    text: str


def outline_matches(reading: Reading, lines: int, _width: int) -> Sketch:
    """The files, each with its first match; more of them while there is room."""
    files = _same_files(_files(reading.rows))
    total = sum(len(found) for found in files.values())
    root = _root(list(files))
    details: list[Detail] = []
    if root:
        details.append(Detail(0, -1, f"under {root}"))
    for at, (path, found) in enumerate(files.items()):
        details += _details(at * 100_000, path.removeprefix(root), found)
    where = f" in {count_of(len(files), 'file')}" if "" not in files else ""
    return Sketch(f"grep: {count_of(total, 'match', 'matches')}{where}", chosen(details, lines))


def _files(rows: Sequence[str]) -> dict[str, list[Match]]:
    files: dict[str, list[Match]] = {}
    for path, match in _found(rows):
        files.setdefault(path, []).append(match)
    return files


def _found(rows: Sequence[str]) -> Iterator[tuple[str, Match]]:
    path = ""
    for row in rows:
        if match := LINE.match(row):
            yield path, Match(int(match[1]), match[2].strip())
        elif match := MATCH.match(row):
            yield match[1], Match(int(match[2]), match[3].strip())
        elif is_path(row.rstrip(":")) and not CONTEXT.match(row):
            path = row.rstrip(":")


def _same_files(files: dict[str, list[Match]]) -> dict[str, list[Match]]:
    """One name for a file that is named in full here and relative there."""
    by_name: dict[str, list[str]] = {}
    for path in files:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    merged: dict[str, list[Match]] = {}
    for path, found in files.items():
        known = by_name[path.rpartition("/")[2]][:20]
        # Of more than twenty files with one name, only the first twenty are compared.
        named = (one for one in known if path == one or path.endswith("/" + one))
        short = min(named, key=len, default=path)
        merged.setdefault(short, []).extend(found)
    return merged


def _root(paths: Sequence[str]) -> str:
    """The directory all paths share, if naming it once saves anything."""
    if len(paths) < 2:
        return ""
    first, last = min(paths), max(paths)
    end = 0
    for at, (one, other) in enumerate(zip(first, last, strict=False)):
        if one != other:
            break
        if one == "/":
            end = at + 1
    return first[:end] if end > 12 else ""


def _details(at: int, path: str, found: Sequence[Match]) -> Iterator[Detail]:
    found = sorted(found, key=lambda match: match.line)
    first = found[0]
    if not path:
        for order, match in enumerate(found):
            yield Detail(1 + order // 8, at + order, f"L{match.line}: {match.text}")
        return
    count = f" ({len(found)})" if len(found) > 1 else ""
    yield Detail(1, at, f"{path}{count} L{first.line}: {first.text}")
    for order, match in enumerate(found[1:], start=1):
        yield Detail(1 + order, at + order, f"  L{match.line}: {match.text}")
