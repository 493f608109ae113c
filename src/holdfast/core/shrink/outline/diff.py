"""Diffs: the files with how much of each changed, where, and what the new lines define."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from holdfast.core.shrink.outline.code import definition
from holdfast.core.shrink.outline.fit import Detail, Sketch, chosen, count_of, packed
from holdfast.core.shrink.outline.reading import Reading
from holdfast.text.code import LANGUAGES

HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$")
PATCH = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.+)$")
DEFINING = tuple(
    one
    for one in LANGUAGES
    if one.name not in {"YAML", "CSS", "TOML/INI", "C/C++", "Java/Kotlin/C#"}
)
STATES = (
    ("new file", "new"),
    ("deleted file", "deleted"),
    ("rename from", "renamed"),
    ("Binary files", "binary"),
)


class Hunk(Struct):
    """One changed place in a file."""

    at: int
    line: int
    context: str
    added: int = 0
    removed: int = 0
    defines: str = ""


class File(Struct):
    """One changed file."""

    at: int
    path: str
    state: str = ""
    hunks: list[Hunk] = []

    @property
    def added(self) -> int:
        """Lines put in."""
        return sum(hunk.added for hunk in self.hunks)

    @property
    def removed(self) -> int:
        """Lines taken out."""
        return sum(hunk.removed for hunk in self.hunks)


def outline_diff(reading: Reading, lines: int, width: int) -> Sketch:
    """The files with their counts, then the largest hunks."""
    files = list(_files(reading.rows))
    details = list(_commits(reading.rows))
    if len(files) + len(details) > lines:
        names = packed(map(_file, files), width)
        details += [Detail(1, at, row) for at, row in enumerate(names)]
    else:
        for file in files:
            details.append(Detail(0, file.at * 2, _file(file)))
            details += [_hunk(hunk) for hunk in file.hunks]
    added, removed = sum(file.added for file in files), sum(file.removed for file in files)
    read = " in the parts read" if reading.partial else ""
    summary = f"diff: {count_of(len(files), 'file')}, +{added:,} −{removed:,}{read}"
    return Sketch(summary, chosen(details, lines))


def _files(rows: Sequence[str]) -> Iterator[File]:
    file: File | None = None
    hunk: Hunk | None = None
    for at, row in enumerate(rows):
        start = _start(rows, at)
        if start:
            if file:
                yield file
            file, hunk = File(at, start), None
        elif match := HUNK.match(row):
            file = file or File(at, "(file not named)")
            hunk = Hunk(at, int(match[1][:9]), match[2].strip())
            file.hunks.append(hunk)
        elif hunk:
            _count(hunk, row)
        elif file:
            file.state = next((state for mark, state in STATES if row.startswith(mark)), file.state)
    if file:
        yield file


def _start(rows: Sequence[str], at: int) -> str:
    """The path, if a file's part of the diff starts at this row."""
    row = rows[at]
    if row.startswith("diff --git "):
        return row.rpartition(" b/")[2] or row[11:]
    if match := PATCH.match(row):
        return match[2]
    follows = row.startswith("--- ") and at + 1 < len(rows) and rows[at + 1].startswith("+++ ")
    if not follows or any(before.startswith("diff --git ") for before in rows[max(at - 6, 0) : at]):
        return ""
    path = rows[at + 1][4:].partition("\t")[0].strip()
    path = row[4:].strip() if path == "/dev/null" else path
    return path.removeprefix("b/").removeprefix("a/")


def _count(hunk: Hunk, row: str) -> None:
    if row.startswith("+"):
        hunk.added += 1
        if not hunk.defines:
            hunk.defines = _defined(row[1:])
    elif row.startswith("-"):
        hunk.removed += 1


def _defined(row: str) -> str:
    """A line that defines a function or a type, or nothing."""
    if not row or row[:5].isspace():
        return ""
    for language in DEFINING:
        found = definition(row, language)
        if found and found[0] == 0:
            return row.strip().rstrip(" {")
    return ""


def _commits(rows: Sequence[str]) -> Iterator[Detail]:
    """The commits of `git show` and `git log -p`, each with its subject."""
    for at, row in enumerate(rows):
        if row.startswith("commit ") and len(row.split()[-1]) >= 7 and " " not in row[7:20].strip():
            subject = next(
                (one.strip() for one in rows[at : at + 12] if one.startswith("    ")), ""
            )
            yield Detail(0, at * 2, f"{row[:17]} {subject}")


def _file(file: File) -> str:
    state = f" ({file.state})" if file.state else ""
    return f"{file.path}{state} +{file.added} −{file.removed}"


def _hunk(hunk: Hunk) -> Detail:
    size = hunk.added + hunk.removed
    rank = 1 if size >= 20 or hunk.defines else 2 if size >= 5 else 3
    what = f"+ {hunk.defines}" if hunk.defines else hunk.context
    return Detail(rank, hunk.at * 2 + 1, f"  @{hunk.line} +{hunk.added} −{hunk.removed} {what}")
