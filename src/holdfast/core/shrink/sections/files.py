"""The sections of files: those that were changed, and those that were only read."""

from typing import cast

from msgspec.structs import replace

from holdfast.core.ledger.summary import (
    Action,
    File,
    Summary,
)
from holdfast.core.shrink.spelling import (
    Lines,
    cells_of,
    field,
    need,
    row_of,
    split_field,
    whole_field,
)

FILES = ["Path", "Action", "What changed", "Status"]
RULE = f"|{'---|' * len(FILES)}"
COMPLETE, PARTIAL = "Complete", "Partial"
WHY, SPAN = " — ", " lines "
CHANGED: tuple[Action, ...] = ("created", "modified", "deleted", "renamed")


def write_artifacts(summary: Summary) -> list[str]:
    """A table of the files that were changed; nothing when none was."""
    rows = [
        row_of([file.path, _done(file), file.change, PARTIAL if file.partial else COMPLETE])
        for file in summary.files
        if file.action != "read"
    ]
    return [row_of(FILES), RULE, *rows] if rows else []


def _done(file: File) -> str:
    return f"{file.action} from {file.was}" if file.was else file.action


def read_artifacts(lines: Lines, known: Summary) -> Summary:
    """Read the table of changed files."""
    need(lines.take() == row_of(FILES) and lines.take() == RULE)
    files = list[File]()
    while lines.more():
        path, done, change, status = cells_of(lines.take(), len(FILES))
        action, _, was = done.partition(" from ")
        need(action in CHANGED and status in {COMPLETE, PARTIAL})
        partial = status == PARTIAL
        files.append(File(path, cast(Action, action), change=change, partial=partial, was=was))
    return replace(known, files=tuple(files))


def write_files_read(summary: Summary) -> list[str]:
    """One row for each file that was only read."""
    return [f"- {_looked_at(file)}" for file in summary.files if file.action == "read"]


def _looked_at(file: File) -> str:
    path = field(file.path, SPAN.rstrip(), WHY.rstrip())
    span = ", ".join(f"{first}–{last}" for first, last in file.lines)
    why = f"{WHY}{field(file.why)}" if file.why else ""
    return f"{path}{SPAN}{span}{why}" if span else f"{path}{why}"


def read_files_read(lines: Lines, known: Summary) -> Summary:
    """Read the files that were only read; they come after the changed ones."""
    files = list(known.files)
    while lines.more():
        path, rest = split_field(lines.take("- "), SPAN, WHY)
        spans, rest = (
            split_field(rest.removeprefix(SPAN), WHY) if rest.startswith(SPAN) else ("", rest)
        )
        need(rest == "" or rest.startswith(WHY))
        why = whole_field(rest.removeprefix(WHY))
        files.append(File(path, "read", lines=_spans(spans), why=why))
    return replace(known, files=tuple(files))


def _spans(text: str) -> tuple[tuple[int, int], ...]:
    pairs = (span.split("–") for span in text.split(", ")) if text else ()
    return tuple((int(first), int(last)) for first, last in pairs)
