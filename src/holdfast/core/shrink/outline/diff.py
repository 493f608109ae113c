"""Outline diffs: the changed files with counts, the hunks, and what new lines define."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from holdfast.core.shrink.outline.code import find_definition
from holdfast.core.shrink.outline.fit import Detail, Sketch, best_lines, pack_names, with_noun
from holdfast.core.shrink.outline.reading import TextReading
from holdfast.text.code import LANGUAGES
from holdfast.text.patterns import Pattern

HUNK = Pattern(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$")
PATCH = Pattern(r"^\*\*\* (Update|Add|Delete) File: (.+)$")
DEFINING_LANGUAGES = tuple(
    language
    for language in LANGUAGES
    if language.name not in {"YAML", "CSS", "TOML/INI", "C/C++", "Java/Kotlin/C#"}
)
FILE_STATES = (
    ("new file", "new"),
    ("deleted file", "deleted"),
    ("rename from", "renamed"),
    ("Binary files", "binary"),
)


class Hunk(Struct):
    """One hunk of a file."""

    at: int
    line: int
    context: str
    added: int = 0
    removed: int = 0
    defines: str = ""


class ChangedFile(Struct):
    """One changed file."""

    at: int
    path: str
    state: str = ""
    hunks: list[Hunk] = []

    @property
    def added(self) -> int:
        """Return the number of added lines."""
        return sum(hunk.added for hunk in self.hunks)

    @property
    def removed(self) -> int:
        """Return the number of removed lines."""
        return sum(hunk.removed for hunk in self.hunks)


def outline_diff(reading: TextReading, lines: int, width: int) -> Sketch:
    """Show the files with their counts, then the largest hunks."""
    files = list(_files(reading.rows))
    details = list(_commit_details(reading.rows))
    if len(files) + len(details) > lines:
        names = pack_names(map(_file_line, files), width)
        details += [Detail(1, at, row) for at, row in enumerate(names)]
    else:
        for file in files:
            details.append(Detail(0, file.at * 2, _file_line(file)))
            details += [_hunk_detail(hunk) for hunk in file.hunks]
    added, removed = sum(file.added for file in files), sum(file.removed for file in files)
    read = " in the parts read" if reading.partial else ""
    summary = f"diff: {with_noun(len(files), 'file')}, +{added:,} −{removed:,}{read}"
    return Sketch(summary, best_lines(details, lines))


def _files(rows: Sequence[str]) -> Iterator[ChangedFile]:
    file: ChangedFile | None = None
    hunk: Hunk | None = None
    for at, row in enumerate(rows):
        start = _path_at(rows, at)
        if start:
            if file:
                yield file
            file, hunk = ChangedFile(at, start), None
        elif match := HUNK.match(row):
            file = file or ChangedFile(at, "(file not named)")
            hunk = Hunk(at, int(match[1][:9]), match[2].strip())
            file.hunks.append(hunk)
        elif hunk:
            _count_row(hunk, row)
        elif file:
            file.state = next(
                (state for mark, state in FILE_STATES if row.startswith(mark)), file.state
            )
    if file:
        yield file


def _path_at(rows: Sequence[str], at: int) -> str:
    """Return the path if the part of a file starts at this row; else an empty text."""
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


def _count_row(hunk: Hunk, row: str) -> None:
    if row.startswith("+"):
        hunk.added += 1
        if not hunk.defines:
            hunk.defines = _definition_line(row[1:])
    elif row.startswith("-"):
        hunk.removed += 1


def _definition_line(row: str) -> str:
    """Return the line if it defines a function or a type; else an empty text."""
    if not row or row[:5].isspace():
        return ""
    for language in DEFINING_LANGUAGES:
        match = find_definition(row, language)
        if match and match[0] == 0:
            return row.strip().rstrip(" {")
    return ""


def _commit_details(rows: Sequence[str]) -> Iterator[Detail]:
    """Yield the commits of `git show` and `git log -p`, each with its subject."""
    for at, row in enumerate(rows):
        if row.startswith("commit ") and len(row.split()[-1]) >= 7 and " " not in row[7:20].strip():
            subject = next(
                (line.strip() for line in rows[at : at + 12] if line.startswith("    ")), ""
            )
            yield Detail(0, at * 2, f"{row[:17]} {subject}")


def _file_line(file: ChangedFile) -> str:
    state = f" ({file.state})" if file.state else ""
    return f"{file.path}{state} +{file.added} −{file.removed}"


def _hunk_detail(hunk: Hunk) -> Detail:
    size = hunk.added + hunk.removed
    rank = 1 if size >= 20 or hunk.defines else 2 if size >= 5 else 3
    what = f"+ {hunk.defines}" if hunk.defines else hunk.context
    return Detail(rank, hunk.at * 2 + 1, f"  @{hunk.line} +{hunk.added} −{hunk.removed} {what}")
