"""Merge the rows of a newly hidden span into the earlier summary, with one rule for each section.

Requests, constraints, words and decisions are appended. Files are kept once each. Errors keep
their place and are marked as resolved. Progress and next steps are replaced if the span has a plan,
questions if the user spoke, state row by row. `bounded` drops the oldest rows. Facts are chosen for
each text, and the extent of a summary is that of its window.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from msgspec.structs import replace

from holdfast.core.faults import rule_or
from holdfast.core.ledger.summary import (
    Action,
    Constraint,
    Decision,
    Error,
    File,
    Intent,
    Progress,
    Quote,
    Ref,
    Summary,
)
from holdfast.core.observe.files.trail import MADE_AND_DELETED, merge_spans
from holdfast.core.observe.moments.state import merge_state
from holdfast.core.observe.requests.constraints import users_first
from holdfast.core.observe.requests.intent import has_substance
from holdfast.core.observe.requests.overrides import apply_overrides
from holdfast.core.shrink.summary.quoting import short_name
from holdfast.text.paths import resolve_relative
from holdfast.text.patterns import Pattern

Row = TypeVar("Row")


def merge(known: Summary, new: Summary) -> Summary:
    """Merge the rows of a newer span into a summary."""
    files = merge_files(known.files, new.files)
    return Summary(
        intent=merge_intent(known.intent, new.intent),
        constraints=merge_constraints(known.constraints, new.constraints, _unheard(known, new)),
        words=merge_words(known, new),
        files=files,
        decisions=unique_rows((*known.decisions, *new.decisions), _same_decision),
        errors=merge_errors(known.errors, new.errors),
        progress=new.progress if new.progress != Progress() else known.progress,
        next=new.next if _plans(new) else known.next,
        questions=new.questions if _asks(new) or new.questions else known.questions,
        state=merge_state(known.state, new.state, gone=_names_gone(files)),
        root=new.root or known.root,
        refs=unique_rows((*known.refs, *new.refs), _same_ref),
        by=new.by or known.by,
    )


def _names_gone(files: Iterable[File]) -> frozenset[str]:
    """Return the names of files that were made and deleted again, if no other file has them."""
    gone, kept = set[str](), set[str]()
    for file in files:
        (gone if file.change == MADE_AND_DELETED else kept).add(file.path.rpartition("/")[2])
    return frozenset(gone - kept)


def with_model_rows(summary: Summary, known: Summary) -> Summary:
    """Return rows of the record with the decisions and purposes of an earlier summary's model."""
    if not known.by:
        return summary
    purposes = {file.path: file.why for file in known.files if file.why}
    decisions = unique_rows((*known.decisions, *summary.decisions), _same_decision)
    files = (replace(file, why=file.why or purposes.get(file.path, "")) for file in summary.files)
    return replace(summary, files=tuple(files), decisions=decisions, by=known.by)


def with_open_model_rows(summary: Summary, known: Summary) -> Summary:
    """Return rows with the phase, steps and questions that a model wrote for the window's summary.

    They hold until the user asks for something else.
    """
    if not known.by or summary.intent.current != known.intent.current:
        return summary
    phase = known.progress if known.progress.phase_entry else Progress()
    rows = Summary(
        progress=Progress(phase=phase.phase, entry=phase.phase_entry),
        next=tuple(row for row in known.next if row.step in known.open_by_model),
        questions=tuple(row for row in known.questions if row.text in known.open_by_model),
        by=known.by,
    )
    return add_model_rows(summary, rows)


def _plans(new: Summary) -> bool:
    return new.progress != Progress() or bool(new.next)


def _asks(new: Summary) -> bool:
    """Return whether the user spoke: that answers what the agent asked before."""
    return bool(new.intent.original.text or new.intent.current.text or new.words)


MAX_WORDS_CHARS, MAX_FILES, MAX_DECISIONS, MAX_ERRORS = 60_000, 400, 120, 60
"""Rows of a very long session that a story keeps; the ledger has all of them."""


def bounded(summary: Summary) -> Summary:
    """Return a summary without the oldest rows of sections that would grow with the session."""
    files = summary.files
    if len(files) > MAX_FILES:
        changed = [file for file in files if file.action != "read"]
        read = [file for file in files if file.action == "read"]
        kept = {file.path for file in [*read, *changed][-MAX_FILES:]}
        files = tuple(file for file in files if file.path in kept)
    return replace(
        summary,
        words=_newest_words(summary.words),
        files=files,
        decisions=summary.decisions[-MAX_DECISIONS:],
        errors=summary.errors[-MAX_ERRORS:],
    )


def _newest_words(words: tuple[Quote, ...]) -> tuple[Quote, ...]:
    left, first = MAX_WORDS_CHARS, len(words)
    while first and left >= len(words[first - 1].text):
        first -= 1
        left -= len(words[first].text)
    return words[first:]


def add_model_rows(summary: Summary, rows: Summary) -> Summary:
    """Add the checked rows of a model to a summary; rows of the record are not changed.

    Decisions are appended and files get their purpose. Phase, steps and questions are the model's
    only if the record has none.
    """
    if not rows.by:
        return summary
    purposes = {file.path: file.why for file in rows.files}
    steps = () if summary.next else rows.next
    questions = () if summary.questions else rows.questions
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
        open_by_model=(*(row.step for row in steps), *(row.text for row in questions)),
    )


def _with_phase(known: Progress, new: Progress) -> Progress:
    if known.phase or not new.phase:
        return known
    return replace(known, phase=new.phase, phase_entry=new.entry)


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


def _same_ref(ref: Ref) -> Hashable:
    return short_name(ref.entry), ref.what


def _either_intent(known: Intent, new: Intent) -> Intent:
    """The newer intent if it has a request."""
    return new if new.original.text else known


@rule_or(_either_intent)
def merge_intent(known: Intent, new: Intent) -> Intent:
    """Keep the first request, take the newest as the current one, and append the changes."""
    original = known.original if known.original.text else new.original
    current = new.current if _is_newer(known.current, new.current) else known.current
    return Intent(
        original,
        current,
        unique_rows((*known.changes, *new.changes), _same_quote),
        known.original_rest if known.original.text else new.original_rest,
        known.current_rest if current == known.current else new.current_rest,
    )


def _is_newer(known: Quote, new: Quote) -> bool:
    """Return whether words replace a request; "go on" does not."""
    return bool(new.text) and (not known.text or has_substance(new.text))


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
        new.intent.current,
        *new.intent.current_rest,
    )
    shown = set(map(_same_quote, intent.requests))
    rows = (quote for quote in said if quote.text and _same_quote(quote) not in shown)
    return unique_rows(rows, _same_quote)


def merge_constraints(
    known: tuple[Constraint, ...], new: tuple[Constraint, ...], changes: tuple[Quote, ...]
) -> tuple[Constraint, ...]:
    """Append constraints, the user's first; mark those that newer words of the user take back."""
    held_already = set(map(_same_constraint, known))
    fresh = [row for row in new if _same_constraint(row) not in held_already]
    held = apply_overrides(fresh, changes, known) if fresh or changes else known
    lifted = {_same_constraint(row): row.lifted for row in new if row.lifted}
    marked = (
        replace(row, lifted=row.lifted or lifted.get(_same_constraint(row), "")) for row in held
    )
    return users_first(unique_rows((*marked, *new), _same_constraint))


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


def with_full_paths(
    known: tuple[File, ...], new: tuple[File, ...]
) -> tuple[tuple[File, ...], tuple[File, ...]]:
    """Return the files of two parts of a session by the same paths: a part may not say its folder.

    A relative path becomes the absolute path that it is the end of, in the folder that most of the
    relative paths agree on.
    """
    homes = resolve_relative([file.path for file in (*known, *new)], ())

    def placed(files: tuple[File, ...]) -> tuple[File, ...]:
        rows = (
            replace(file, path=homes.get(file.path, file.path), was=homes.get(file.was, file.was))
            for file in files
        )
        return tuple(rows) if homes else files

    return merge_files((), placed(known)), placed(new)


def merge_file(known: File, new: File) -> File:
    """Merge an older and a newer row of the same file; a row without an entry is from a text."""
    is_same = new.entry != "" and (new.entry, new.path) == (known.entry, known.path)
    if is_same and known.action != "read" and new.action not in ("read", "deleted"):
        return known
    if new.action == "read":
        return _merge_read(known, new)
    action = _came_to(known, new)
    was = new.was or known.was
    if action == "deleted":
        was_made = known.action == "created" or known.change == MADE_AND_DELETED
        change = MADE_AND_DELETED if was_made else new.change
        return replace(new, action=action, change=change, was=was)
    change = _changes(known.change, new.change) if new.entry else known.change or new.change
    return replace(new, action=action, change=change, was=was)


def _merge_read(known: File, new: File) -> File:
    entry = new.entry or known.entry
    if known.action != "read":
        return replace(known, entry=entry)
    why = known.why or new.why
    whole = not known.lines or not new.lines
    lines = () if whole else merge_spans((*known.lines, *new.lines))
    return replace(known, entry=entry, lines=lines, why=why)


def _came_to(was: File, now: File) -> Action:
    match was.action, now.action:
        case _, "deleted":
            return "deleted"
        case "created", "modified" | "created" | "renamed":
            return "created"
        case "read" | "modified" | "renamed", "created":
            # It was there before: the newer part alone could not know.
            return "modified"
        case "renamed", "modified":
            return "renamed"
        case _, action:
            return action


# `+12 −3`, `+12` and `−3`; but not `main()` and `+12 lines`.
_SIZES = Pattern(r"(?=[+−])(?:\+(\d{1,9}))? ?(?:−(\d{1,9}))?")
MAX_CHANGE_CHARS = 160


def _changes(known: str, new: str) -> str:
    """Return two changes of a file as one: their names once each, and the sums of their lines."""
    if not known or not new:
        return new or known
    added = removed = 0
    names = dict[str, None]()
    for part in (*known.split("; "), *new.split("; ")):
        sizes = _SIZES.fullmatch(part)
        if sizes is None:
            names.update(dict.fromkeys(part.split(", ")))
        else:
            added, removed = added + int(sizes[1] or 0), removed + int(sizes[2] or 0)
    counts = " ".join([f"+{added}"] * bool(added) + [f"−{removed}"] * bool(removed))
    kept = list(names)
    while len(text := "; ".join(filter(None, (", ".join(kept), counts)))) > MAX_CHANGE_CHARS:
        kept.pop(0)
        if not kept:
            return counts
    return text


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
