"""Checkpoints as lists and as differences: what came, what changed and what went between two."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from holdfast.core.ledger.entry import Checkpointed, Entry
from holdfast.core.ledger.summary import Summary
from holdfast.core.shrink.summary.fit import standing
from holdfast.core.view.forms.parts import chosen, due, failed, in_a_line, looked_at

WIDTH = 160
"""Characters of a row that a difference shows."""


class Listed(Struct, frozen=True):
    """A checkpoint as a list shows it."""

    ref: str
    at: str
    trigger: str
    entries: int
    """Entries up to the last that it tells of."""
    tokens: int
    limit: int
    path: str
    run: str = ""


def listed(entry: Entry) -> Listed:
    """A checkpoint in a row."""
    body = entry.body
    assert isinstance(body, Checkpointed)
    return Listed(
        ref=entry.id[:12],
        at=entry.at,
        trigger=body.trigger,
        entries=body.upto,
        tokens=body.tokens,
        limit=body.limit,
        path=body.file,
        run=body.run,
    )


class Change(Struct, frozen=True):
    """What happened to one section between two checkpoints."""

    section: str
    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def changes(old: Summary, new: Summary) -> tuple[Change, ...]:
    """What is different in the newer of two summaries, section by section."""
    before, after = _told(old), _told(new)
    found = (_change(name, before[name], after[name]) for name in after)
    return tuple(one for one in found if one.added or one.gone)


def _change(section: str, old: Sequence[str], new: Sequence[str]) -> Change:
    had, has = set(old), set(new)
    return Change(
        section,
        added=tuple(dict.fromkeys(row for row in new if row not in had)),
        gone=tuple(dict.fromkeys(row for row in old if row not in has)),
    )


def _told(summary: Summary) -> dict[str, list[str]]:
    """Each section in rows that say all that can change."""
    intent, now = summary.intent, summary.progress
    return {
        "request": _some([intent.original.text]),
        "current request": _some([intent.current.text]),
        "scope changes": _some(quote.text for quote in intent.changes),
        "constraints": _some(one.text for one in summary.constraints if not one.lifted),
        "phase": _some([now.phase]),
        "completed": _some(now.completed),
        "remaining": _some(now.remaining),
        "tests": _some([now.tests]),
        "next steps": _some(due(one) for one in summary.next),
        "open questions": _some(quote.text for quote in summary.questions),
        "decisions": _some(chosen(one) for one in standing(summary)),
        "findings": _some(one.text for one in summary.findings),
        "files changed": _some(
            f"{file.path} ({file.action}{', partial' if file.partial else ''}) {file.change}"
            for file in summary.files
            if file.action != "read"
        ),
        "files read": _some(looked_at(file) for file in summary.files if file.action == "read"),
        "errors": _some(failed(error) for error in summary.errors),
        "user words": _some(quote.text for quote in summary.words),
    }


def _some(texts: Iterable[str]) -> list[str]:
    return [in_a_line(text).strip() for text in texts if text.strip()]


def render_changes(old: Listed, new: Listed, found: Sequence[Change]) -> str:
    """A difference as a person reads it."""
    grown = new.entries - old.entries
    lines = [
        f"## Checkpoint {old.ref} → {new.ref}",
        f"{grown:+,} entries, window {old.tokens:,} → {new.tokens:,} tokens",
    ]
    for one in found:
        lines += ["", f"### {one.section.capitalize()}"]
        lines += [*(f"- {_cut(row)}" for row in one.gone), *(f"+ {_cut(row)}" for row in one.added)]
    return "\n".join(lines if found else [*lines, "", "Nothing changed"])


def _cut(row: str) -> str:
    return row if len(row) <= WIDTH else f"{row[:WIDTH]}…"
