"""List checkpoints, and compare two of them section by section."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import Checkpointed, Entry
from holdfast.core.ledger.summary import Summary
from holdfast.core.shrink.summary.fit import valid_decisions
from holdfast.core.view.forms.parts import (
    describe_decision,
    describe_error,
    describe_next_step,
    describe_read_file,
    join_lines,
)
from holdfast.text.clip import clip_and_mark

MAX_ROW_CHARS = 160
"""Characters of a row that a difference shows."""


class CheckpointRow(Struct, frozen=True):
    """A checkpoint as a list shows it."""

    ref: str
    at: str
    trigger: str
    entries: int
    """Number of entries that the checkpoint covers."""
    tokens: int
    limit: int
    path: str
    run: str = ""


def checkpoint_row(entry: Entry) -> CheckpointRow:
    """Return the row of a checkpoint entry."""
    body = entry.body
    assert isinstance(body, Checkpointed)
    return CheckpointRow(
        ref=entry.id[:12],
        at=entry.at,
        trigger=body.trigger,
        entries=body.upto,
        tokens=body.tokens,
        limit=body.limit,
        path=body.file,
        run=body.run,
    )


class SectionChange(Struct, frozen=True):
    """Rows of one section that were added or removed between two checkpoints."""

    section: str
    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def section_changes(old: Summary, new: Summary) -> tuple[SectionChange, ...]:
    """Return the sections that differ between an older and a newer summary."""
    before, after = _rows_by_section(old), _rows_by_section(new)
    found = (_section_change(name, before[name], after[name]) for name in after)
    return tuple(change for change in found if change.added or change.gone)


def _section_change(section: str, old: Sequence[str], new: Sequence[str]) -> SectionChange:
    had, has = set(old), set(new)
    return SectionChange(
        section,
        added=tuple(dict.fromkeys(row for row in new if row not in had)),
        gone=tuple(dict.fromkeys(row for row in old if row not in has)),
    )


def _rows_by_section(summary: Summary) -> dict[str, list[str]]:
    """Return the rows of each section; a row contains every value that can change."""
    intent, now = summary.intent, summary.progress
    return {
        "request": _non_empty([intent.original.text]),
        "current request": _non_empty([intent.current.text]),
        "scope changes": _non_empty(quote.text for quote in intent.changes),
        "constraints": _non_empty(
            constraint.text for constraint in summary.constraints if not constraint.lifted
        ),
        "phase": _non_empty([now.phase]),
        "completed": _non_empty(now.completed),
        "remaining": _non_empty(now.remaining),
        "tests": _non_empty([now.tests]),
        "next steps": _non_empty(describe_next_step(step) for step in summary.next),
        "open questions": _non_empty(quote.text for quote in summary.questions),
        "decisions": _non_empty(
            describe_decision(decision) for decision in valid_decisions(summary)
        ),
        "state": _non_empty(quote.text for quote in summary.state),
        "files changed": _non_empty(
            f"{file.path} ({file.action}{', partial' if file.partial else ''}) {file.change}"
            for file in summary.files
            if file.action != "read"
        ),
        "files read": _non_empty(
            describe_read_file(file) for file in summary.files if file.action == "read"
        ),
        "errors": _non_empty(describe_error(error) for error in summary.errors),
        "user words": _non_empty(quote.text for quote in summary.words),
    }


def _non_empty(texts: Iterable[str]) -> list[str]:
    return [join_lines(text).strip() for text in texts if text.strip()]


def render_changes(old: CheckpointRow, new: CheckpointRow, found: Sequence[SectionChange]) -> str:
    """Render the difference of two checkpoints for a person."""
    added_entries = new.entries - old.entries
    lines = [
        f"## Checkpoint {old.ref} → {new.ref}",
        f"{added_entries:+,} entries, window {old.tokens:,} → {new.tokens:,} tokens",
    ]
    for change in found:
        lines += ["", f"### {change.section.capitalize()}"]
        lines += [f"- {clip_and_mark(row, MAX_ROW_CHARS)}" for row in change.gone]
        lines += [f"+ {clip_and_mark(row, MAX_ROW_CHARS)}" for row in change.added]
    return "\n".join(lines if found else [*lines, "", "Nothing changed"])
