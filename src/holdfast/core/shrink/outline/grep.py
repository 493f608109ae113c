"""Outline the output of a search: the files with counts, and the first matches of each."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from holdfast.core.shrink.outline.fit import Detail, Sketch, best_lines, with_noun
from holdfast.core.shrink.outline.listing import is_path
from holdfast.core.shrink.outline.reading import TextReading
from holdfast.text.patterns import Pattern

FILE_MATCH = Pattern(r"^((?:[A-Za-z]:)?[^\s:][^:\n]{0,300}):(\d{1,7}):(.*)$")
# `grep -n`: matches "src/a.py:12: x = 1"; must not match "12: x = 1".
CONTEXT = Pattern(r"^\S.{0,300}?-\d{1,7}-")
LINE_MATCH = Pattern(r"^(?:\s{2}Line )?(\d{1,7}): ?(.*)$")
"""A match under a line with the file's name, or without one: "12: x = 1"."""


class GrepMatch(Struct, frozen=True):
    """One matching line."""

    line: int
    text: str


def outline_matches(reading: TextReading, lines: int, _width: int) -> Sketch:
    """Show each file with its first match, and more matches while there is room."""
    files = _merge_same_files(_matches_by_file(reading.rows))
    total = sum(len(matches) for matches in files.values())
    root = _shared_directory(list(files))
    details: list[Detail] = []
    if root:
        details.append(Detail(0, -1, f"under {root}"))
    for order, (path, matches) in enumerate(files.items()):
        details += _details(order * 100_000, path.removeprefix(root), matches)
    where = f" in {with_noun(len(files), 'file')}" if "" not in files else ""
    return Sketch(
        f"grep: {with_noun(total, 'match', 'matches')}{where}", best_lines(details, lines)
    )


def _matches_by_file(rows: Sequence[str]) -> dict[str, list[GrepMatch]]:
    files: dict[str, list[GrepMatch]] = {}
    for path, match in _matches(rows):
        files.setdefault(path, []).append(match)
    return files


def _matches(rows: Sequence[str]) -> Iterator[tuple[str, GrepMatch]]:
    path = ""
    for row in rows:
        if match := LINE_MATCH.match(row):
            yield path, GrepMatch(int(match[1]), match[2].strip())
        elif match := FILE_MATCH.match(row):
            yield match[1], GrepMatch(int(match[2]), match[3].strip())
        elif is_path(row.rstrip(":")) and not CONTEXT.match(row):
            path = row.rstrip(":")


def _merge_same_files(files: dict[str, list[GrepMatch]]) -> dict[str, list[GrepMatch]]:
    """Merge the matches of a file that has an absolute and a relative path in the output."""
    by_name: dict[str, list[str]] = {}
    for path in files:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    merged: dict[str, list[GrepMatch]] = {}
    for path, matches in files.items():
        known = by_name[path.rpartition("/")[2]][:20]
        # If more than twenty files have one name, only the first twenty are compared.
        suffixes = (name for name in known if path == name or path.endswith("/" + name))
        short = min(suffixes, key=len, default=path)
        merged.setdefault(short, []).extend(matches)
    return merged


def _shared_directory(paths: Sequence[str]) -> str:
    """Return the directory that all paths share, if showing it once saves room."""
    if len(paths) < 2:
        return ""
    first, last = min(paths), max(paths)
    end = 0
    for at, (left, right) in enumerate(zip(first, last, strict=False)):
        if left != right:
            break
        if left == "/":
            end = at + 1
    return first[:end] if end > 12 else ""


def _details(position: int, path: str, matches: Sequence[GrepMatch]) -> Iterator[Detail]:
    matches = sorted(matches, key=lambda match: match.line)
    first = matches[0]
    if not path:
        for order, match in enumerate(matches):
            yield Detail(1 + order // 8, position + order, f"L{match.line}: {match.text}")
        return
    count = f" ({len(matches)})" if len(matches) > 1 else ""
    yield Detail(1, position, f"{path}{count} L{first.line}: {first.text}")
    for order, match in enumerate(matches[1:], start=1):
        yield Detail(1 + order, position + order, f"  L{match.line}: {match.text}")
