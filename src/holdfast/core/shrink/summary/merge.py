"""How a summary is extended: one rule for each section, and no row lost except by its own rule.

A summary is never written anew. What a span that has just been hidden adds is merged into what was
known before it: requests, constraints, words, decisions and findings are appended, files and facts
are kept once each, errors are resolved where they stand, and the state of the work is replaced:
what comes next always, also by nothing, and how far it is wherever the span tells it.
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
from holdfast.core.observe.files.trail import joined
from holdfast.core.observe.requests.overrides import retired
from holdfast.core.shrink.summary.quoting import name_of

Row = TypeVar("Row")


def merge(known: Summary, new: Summary) -> Summary:
    """What is known, and what a newer span adds to it."""
    return Summary(
        intent=merge_intent(known.intent, new.intent),
        constraints=merge_constraints(known.constraints, new.constraints, _unheard(known, new)),
        words=merge_words(known, new),
        files=merge_files(known.files, new.files),
        decisions=once((*known.decisions, *new.decisions), _same_decision),
        findings=once((*known.findings, *new.findings), _same_quote),
        facts=once((*known.facts, *new.facts), _same_fact),
        errors=merge_errors(known.errors, new.errors),
        progress=new.progress if new.progress != Progress() else known.progress,
        next=new.next,
        questions=new.questions,
        refs=once((*known.refs, *new.refs), _same_ref),
        revision=max(known.revision, new.revision),
        hidden=known.hidden + new.hidden,
        saved=max(known.saved, new.saved),
        at=max(known.at, new.at),
        by=new.by or known.by,
    )


def add(summary: Summary, rows: Summary) -> Summary:
    """A summary with the checked rows of a model: nothing that the record shows is changed.

    Decisions are appended, files get what they were read for, and how the work stands is the
    model's word only where the record says nothing.
    """
    if not rows.by:
        return summary
    purposes = {file.path: file.why for file in rows.files}
    return replace(
        summary,
        files=tuple(
            replace(file, why=file.why or purposes.get(file.path, "")) for file in summary.files
        ),
        decisions=once((*summary.decisions, *rows.decisions), _same_decision),
        progress=_with_phase(summary.progress, rows.progress),
        next=summary.next or rows.next,
        questions=summary.questions or rows.questions,
        by=rows.by,
    )


def _with_phase(known: Progress, told: Progress) -> Progress:
    if known.phase or not told.phase:
        return known
    return replace(known, phase=told.phase, entry=known.entry or told.entry)


def once(rows: Iterable[Row], same: Callable[[Row], Hashable]) -> tuple[Row, ...]:
    """Every row once, where it first stood."""
    kept: dict[Hashable, Row] = {}
    for row in rows:
        kept.setdefault(same(row), row)
    return tuple(kept.values())


def _same_quote(quote: Quote) -> Hashable:
    return quote.text, name_of(quote.entry)


def _same_decision(decision: Decision) -> Hashable:
    return decision.choice, name_of(decision.entry)


def _same_fact(fact: Fact) -> Hashable:
    return fact.text, fact.source, name_of(fact.entry)


def _same_ref(ref: Ref) -> Hashable:
    return name_of(ref.entry), ref.what


def _either_intent(known: Intent, new: Intent) -> Intent:
    """The newer intent if it has a request."""
    return new if new.original.text else known


@rule_or(_either_intent)
def merge_intent(known: Intent, new: Intent) -> Intent:
    """The first request stays for good; the newest is the current one; changes are appended."""
    original = known.original if known.original.text else new.original
    current = new.current if new.current.text else known.current
    return Intent(
        original,
        current,
        once((*known.changes, *new.changes), _same_quote),
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
    """All that the user said, oldest first; a request that is no longer the current one too."""
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
    return once(rows, _same_quote)


def merge_constraints(
    known: tuple[Constraint, ...], new: tuple[Constraint, ...], changes: tuple[Quote, ...]
) -> tuple[Constraint, ...]:
    """Appended; what newer words of the user take back is marked as lifted, and never dropped."""
    held_already = set(map(_same_constraint, known))
    fresh = [row for row in new if _same_constraint(row) not in held_already]
    held = retired(fresh, changes, known) if fresh or changes else known
    lifted = {_same_constraint(row): row.lifted for row in new if row.lifted}
    marked = (
        replace(row, lifted=row.lifted or lifted.get(_same_constraint(row), "")) for row in held
    )
    return once((*marked, *new), _same_constraint)


def _same_constraint(row: Constraint) -> Hashable:
    return row.text, name_of(row.entry)


def _all_files(known: tuple[File, ...], new: tuple[File, ...]) -> tuple[File, ...]:
    """The rows of both."""
    return (*known, *new)


@rule_or(_all_files)
def merge_files(known: tuple[File, ...], new: tuple[File, ...]) -> tuple[File, ...]:
    """One row for each path, where it first stood; a later write moves a row that was read."""
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
    """What an older row and a newer one of the same file come to.

    A row that names its call was read off the record that the newer one is read off, as a whole;
    one that came back in a text tells of what was before that record.
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
    lines = () if whole else joined((*known.lines, *new.lines))
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
    """Appended; the same error told again takes the newer status, where it stood."""
    told: Mapping[Hashable, Error] = {_same_error(error): error for error in new}
    kept = (
        replace(error, resolved=told[_same_error(error)].resolved or error.resolved)
        if _same_error(error) in told
        else error
        for error in known
    )
    return once((*kept, *new), _same_error)


def _same_error(error: Error) -> Hashable:
    return error.what, error.text


@rule_keeping(0)
def resolve(errors: tuple[Error, ...], passed: Mapping[str, str]) -> tuple[Error, ...]:
    """Errors, those marked as resolved whose command has gone well since."""
    return tuple(
        replace(error, resolved=passed[error.what])
        if not error.resolved and error.what in passed
        else error
        for error in errors
    )
