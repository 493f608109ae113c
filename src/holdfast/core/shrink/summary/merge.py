"""Merge the rows of a newly hidden span into the earlier summary, with one rule for each section.

Requests, constraints, words, decisions and findings are appended. Files and facts are kept once
each. Errors keep their place and are marked as resolved. Next steps and questions are replaced,
also by nothing; progress is replaced if the span reports any. No other row is dropped.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from msgspec.structs import replace

from holdfast.core.faults import rule_keeping, rule_or
from holdfast.core.ledger.summary import (
    Action,
    Constraint,
    Decision,
    Error,
    Fact,
    File,
    Intent,
    Progress,
    Quote,
    Ref,
    Summary,
)
from holdfast.core.observe.files.trail import merge_spans
from holdfast.core.observe.requests.overrides import apply_overrides
from holdfast.core.shrink.summary.quoting import short_name

Row = TypeVar("Row")


def merge(known: Summary, new: Summary) -> Summary:
    """Merge the rows of a newer span into a summary."""
    return Summary(
        intent=merge_intent(known.intent, new.intent),
        constraints=merge_constraints(known.constraints, new.constraints, _unheard(known, new)),
        words=merge_words(known, new),
        files=merge_files(known.files, new.files),
        decisions=unique_rows((*known.decisions, *new.decisions), _same_decision),
        findings=unique_rows((*known.findings, *new.findings), _same_quote),
        facts=unique_rows((*known.facts, *new.facts), _same_fact),
        errors=merge_errors(known.errors, new.errors),
        progress=new.progress if new.progress != Progress() else known.progress,
        next=new.next,
        questions=new.questions,
        refs=unique_rows((*known.refs, *new.refs), _same_ref),
        revision=max(known.revision, new.revision),
        hidden=known.hidden + new.hidden,
        saved=max(known.saved, new.saved),
        at=max(known.at, new.at),
        by=new.by or known.by,
    )


def add_model_rows(summary: Summary, rows: Summary) -> Summary:
    """Add the checked rows of a model to a summary; rows of the record are not changed.

    Decisions are appended and files get their purpose. Progress, steps and questions are the
    model's only if the record has none.
    """
    if not rows.by:
        return summary
    purposes = {file.path: file.why for file in rows.files}
    return replace(
        summary,
        files=tuple(
            replace(file, why=file.why or purposes.get(file.path, "")) for file in summary.files
        ),
        decisions=unique_rows((*summary.decisions, *rows.decisions), _same_decision),
        progress=_with_phase(summary.progress, rows.progress),
        next=summary.next or rows.next,
        questions=summary.questions or rows.questions,
        by=rows.by,
    )


def _with_phase(known: Progress, told: Progress) -> Progress:
    if known.phase or not told.phase:
        return known
    return replace(known, phase=told.phase, entry=known.entry or told.entry)


def unique_rows(rows: Iterable[Row], same: Callable[[Row], Hashable]) -> tuple[Row, ...]:
    """Return each row once, at its first place."""
    kept: dict[Hashable, Row] = {}
    for row in rows:
        kept.setdefault(same(row), row)
    return tuple(kept.values())


def _same_quote(quote: Quote) -> Hashable:
    return quote.text, short_name(quote.entry)


def _same_decision(decision: Decision) -> Hashable:
    return decision.choice, short_name(decision.entry)


def _same_fact(fact: Fact) -> Hashable:
    return fact.text, fact.source, short_name(fact.entry)


def _same_ref(ref: Ref) -> Hashable:
    return short_name(ref.entry), ref.what


def _either_intent(known: Intent, new: Intent) -> Intent:
    """The newer intent if it has a request."""
    return new if new.original.text else known


@rule_or(_either_intent)
def merge_intent(known: Intent, new: Intent) -> Intent:
    """Keep the first request, take the newest as the current one, and append the changes."""
    original = known.original if known.original.text else new.original
    current = new.current if new.current.text else known.current
    return Intent(
        original,
        current,
        unique_rows((*known.changes, *new.changes), _same_quote),
        known.original_rest if known.original.text else new.original_rest,
        new.current_rest if new.current.text else known.current_rest,
    )


def _unheard(known: Summary, new: Summary) -> tuple[Quote, ...]:
    """Changes that are not known yet: what was heard once takes nothing back a second time."""
    heard = set(map(_same_quote, known.intent.changes))
    return tuple(quote for quote in new.intent.changes if _same_quote(quote) not in heard)


def _all_words(known: Summary, new: Summary) -> tuple[Quote, ...]:
    """The words of both."""
    return (*known.words, *new.words)


@rule_or(_all_words)
def merge_words(known: Summary, new: Summary) -> tuple[Quote, ...]:
    """Return all words of the user, oldest first, and requests that are not current any more."""
    intent = merge_intent(known.intent, new.intent)
    said = (
        *known.words,
        known.intent.current,
        *known.intent.current_rest,
        *((new.intent.original, *new.intent.original_rest) if known.intent.original.text else ()),
        *new.words,
    )
    shown = set(map(_same_quote, intent.requests))
    rows = (quote for quote in said if quote.text and _same_quote(quote) not in shown)
    return unique_rows(rows, _same_quote)


def merge_constraints(
    known: tuple[Constraint, ...], new: tuple[Constraint, ...], changes: tuple[Quote, ...]
) -> tuple[Constraint, ...]:
    """Append constraints; mark those as lifted that newer words of the user take back."""
    held_already = set(map(_same_constraint, known))
    fresh = [row for row in new if _same_constraint(row) not in held_already]
    held = apply_overrides(fresh, changes, known) if fresh or changes else known
    lifted = {_same_constraint(row): row.lifted for row in new if row.lifted}
    marked = (
        replace(row, lifted=row.lifted or lifted.get(_same_constraint(row), "")) for row in held
    )
    return unique_rows((*marked, *new), _same_constraint)


def _same_constraint(row: Constraint) -> Hashable:
    return row.text, short_name(row.entry)


def _all_files(known: tuple[File, ...], new: tuple[File, ...]) -> tuple[File, ...]:
    """The rows of both."""
    return (*known, *new)


@rule_or(_all_files)
def merge_files(known: tuple[File, ...], new: tuple[File, ...]) -> tuple[File, ...]:
    """Return one row for each path, at its first place; a rename moves its row."""
    rows = {file.path: file for file in known}
    # Where a file was renamed there may be another one by now: that row is its own.
    told = {file.path for file in new}
    for file in new:
        moves = file.action == "renamed" and file.was not in told
        moved = rows.pop(file.was, None) if moves else None
        old = rows.get(file.path) or moved
        rows[file.path] = merge_file(old, file) if old is not None else file
    return tuple(rows.values())


def merge_file(known: File, new: File) -> File:
    """Merge an older and a newer row of the same file.

    An older row with an entry was read from the record, which the newer one covers completely. One
    without came from the text of a summary, and covers the time before the record.
    """
    if new.action == "read":
        return _merge_read(known, new)
    action = _came_to(known, new)
    was = new.was or known.was
    if action == "deleted":
        return replace(new, action=action, was=was)
    change = new.change or known.change if known.entry else _changes(known.change, new.change)
    return replace(new, action=action, change=change, was=was)


def _merge_read(known: File, new: File) -> File:
    entry = new.entry or known.entry
    if known.action != "read":
        return replace(known, entry=entry)
    why = known.why or new.why
    if known.entry:
        return replace(new, entry=entry, why=why)
    whole = not known.lines or not new.lines
    lines = () if whole else merge_spans((*known.lines, *new.lines))
    return replace(known, entry=entry, lines=lines, why=why)


def _came_to(was: File, now: File) -> Action:
    match was.action, now.action:
        case _, "deleted":
            return "deleted"
        case "created", "modified" | "created" | "renamed":
            return "created"
        case "read" | "modified" | "renamed", "created" if not was.entry:
            # It was there before: the span alone could not know.
            return "modified"
        case "renamed", "modified":
            return "renamed"
        case _, action:
            return action


def _changes(known: str, new: str) -> str:
    if not known or not new or known == new:
        return new or known
    return new if known in new else known if new in known else f"{known}; then {new}"[:160]


def _all_errors(known: tuple[Error, ...], new: tuple[Error, ...]) -> tuple[Error, ...]:
    """The rows of both."""
    return (*known, *new)


@rule_or(_all_errors)
def merge_errors(known: tuple[Error, ...], new: tuple[Error, ...]) -> tuple[Error, ...]:
    """Append errors; an error that is known already keeps its place and gets the newer status."""
    told: Mapping[Hashable, Error] = {_same_error(error): error for error in new}
    kept = (
        replace(error, resolved=told[_same_error(error)].resolved or error.resolved)
        if _same_error(error) in told
        else error
        for error in known
    )
    return unique_rows((*kept, *new), _same_error)


def _same_error(error: Error) -> Hashable:
    return error.what, error.text


@rule_keeping(0)
def resolve_errors(errors: tuple[Error, ...], passed: Mapping[str, str]) -> tuple[Error, ...]:
    """Mark errors as resolved whose command has passed since."""
    return tuple(
        replace(error, resolved=passed[error.what])
        if not error.resolved and error.what in passed
        else error
        for error in errors
    )
