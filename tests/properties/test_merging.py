"""Laws of extending a summary: whatever was known and whatever a span adds."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.core.ledger.summary import (
    Constraint,
    Decision,
    Error,
    File,
    Intent,
    Next,
    Progress,
    Quote,
    Ref,
    Summary,
)
from holdfast.core.observe.requests.constraints import users_first
from holdfast.core.observe.requests.intent import has_substance
from holdfast.core.shrink.summary.merge import (
    bounded,
    merge,
    merge_errors,
    merge_files,
    merge_spans,
)
from holdfast.core.shrink.summary.text import read_summary, write_summary

Row = TypeVar("Row")


def named(number: int) -> str:
    return f"{number:08x}".ljust(32, "0")


texts = st.sampled_from(
    (
        "Never touch the tests.",
        "Use port 8443.",
        "No, use port 9000 instead of port 8443.",
        "You may touch the tests now.",
        "Always write in English.",
        "Go on.",
        "Fix src/app.py.",
        "two\nlines",
    )
)
names = st.integers(1, 6).map(named)
"""Few enough that rows of two summaries meet."""
paths = st.sampled_from(("a.py", "b.py", "c.py", "docs/d.md"))
who = st.sampled_from(("user", "system"))
short = st.sampled_from(("", "+1", "+2 −1", "adds run()", "adds run(); then +1"))
spans = st.lists(st.tuples(st.integers(1, 20), st.integers(0, 5)), max_size=2).map(
    lambda drawn: merge_spans((first, first + more) for first, more in drawn)
)


def rows(of: st.SearchStrategy[Row], most: int = 3) -> st.SearchStrategy[tuple[Row, ...]]:
    return st.lists(of, max_size=most).map(tuple)


quotes = st.builds(Quote, texts, names)
maybe_quote = st.just(Quote()) | quotes


def want(
    original: Quote, current: Quote, changes: tuple[Quote, ...], rest: tuple[Quote, ...]
) -> Intent:
    """What is wanted; only a request that is there has further parts."""
    first, now = (rest if quote.text else () for quote in (original, current))
    return Intent(original, current, changes, first, now)


wants = st.builds(want, maybe_quote, maybe_quote, rows(quotes), rows(quotes))
constraints = st.builds(Constraint, texts, names, who, st.booleans(), st.just("") | names)
files = st.builds(
    File,
    paths,
    st.sampled_from(("created", "modified", "deleted", "read")),
    names,
    short,
    st.booleans(),
    spans,
    short,
)


def renamed(path: str, entry: str, was: str) -> File:
    return File(path, "renamed", entry, was=was)


renames = st.builds(renamed, paths, names, paths).filter(lambda file: file.path != file.was)
decisions = st.builds(Decision, texts, names, short)
errors = st.builds(Error, texts, names, short, st.just("") | names)
progress = st.builds(Progress, short, rows(short), rows(short), short, names)
steps = st.builds(Next, texts, names)
refs = st.builds(Ref, names, texts, st.integers(0, 9))


def table(of: st.SearchStrategy[File] = files) -> st.SearchStrategy[tuple[File, ...]]:
    """Rows as a table of files has them: one for each path."""
    return st.lists(of, max_size=4, unique_by=lambda file: file.path).map(tuple)


def each_once(
    of: st.SearchStrategy[Row], same: Callable[[Row], Hashable]
) -> st.SearchStrategy[tuple[Row, ...]]:
    return st.lists(of, max_size=3, unique_by=same).map(tuple)


summaries = st.builds(
    Summary,
    intent=wants,
    constraints=each_once(constraints, lambda row: (row.text, row.entry)),
    words=rows(quotes),
    files=table(),
    decisions=rows(decisions),
    errors=each_once(errors, lambda row: (row.what, row.text)),
    progress=st.just(Progress()) | progress,
    next=rows(steps),
    questions=rows(quotes),
    refs=rows(refs),
    by=st.sampled_from(("", "a-model")),
)


@pytest.mark.seed("R088")
@given(summaries, summaries)
def test_merging_again_what_is_known_changes_nothing(known: Summary, new: Summary) -> None:
    once = merge(known, new)
    assert merge(once, new) == once


@given(summaries)
def test_an_empty_summary_takes_all_that_comes(new: Summary) -> None:
    first = merge(Summary(), new)
    assert merge(first, first) == first
    assert said_in(first) >= said_in(new)


def elsewhere(summary: Summary, span: int) -> Summary:
    """A summary as a span has it: its rows from entries that no other span has.

    Whoever has said something has said something first.
    """

    def moved(entry: str) -> str:
        return f"{span}{entry[1:]}" if entry else ""

    def quoted(quote: Quote) -> Quote:
        return Quote(quote.text, moved(quote.entry))

    intent = summary.intent
    silent = not (intent.original.text and intent.current.text)
    changes = () if silent else tuple(map(quoted, intent.changes))
    return Summary(
        intent=Intent()
        if silent
        else Intent(quoted(intent.original), quoted(intent.current), changes),
        constraints=tuple(replace(row, entry=moved(row.entry)) for row in summary.constraints),
        words=() if silent else tuple(map(quoted, summary.words)),
        decisions=tuple(replace(row, entry=moved(row.entry)) for row in summary.decisions),
        refs=tuple(replace(row, entry=moved(row.entry)) for row in summary.refs),
    )


@pytest.mark.seed("R091")
@given(summaries, summaries, summaries)
def test_what_is_appended_comes_out_the_same_however_it_is_grouped(
    one: Summary, two: Summary, three: Summary
) -> None:
    one, two, three = elsewhere(one, 1), elsewhere(two, 2), elsewhere(three, 3)
    left, right = merge(merge(one, two), three), merge(one, merge(two, three))
    assert left.intent == right.intent
    # A request that was current for a while stands where it ceased to be.
    assert set(left.words) == set(right.words)
    assert len(left.words) == len(right.words)
    assert left.decisions == right.decisions
    assert left.refs == right.refs
    assert [(row.text, row.entry) for row in left.constraints] == [
        (row.text, row.entry) for row in right.constraints
    ]


@pytest.mark.seed("R089")
@given(summaries, summaries)
def test_the_first_request_is_set_once_and_the_newest_is_the_current_one(
    known: Summary, new: Summary
) -> None:
    intent = merge(known, new).intent
    assert intent.original == (
        known.intent.original if known.intent.original.text else new.intent.original
    )
    asked, before = new.intent.current, known.intent.current
    replaces = bool(asked.text) and (not before.text or has_substance(asked.text))
    assert intent.current == (asked if replaces else before)


def said_in(summary: Summary) -> set[tuple[str, str]]:
    """Every word of the user that a summary holds."""
    intent = summary.intent
    said = (*intent.requests, *intent.changes, *summary.words)
    return {(quote.text, quote.entry) for quote in said if quote.text}


@pytest.mark.seed("R003")
@given(summaries, summaries)
def test_no_word_of_the_user_is_lost_or_made_up(known: Summary, new: Summary) -> None:
    assert said_in(merge(known, new)) == said_in(known) | said_in(new)


@given(summaries, summaries)
def test_rows_that_are_appended_are_all_there_oldest_first(known: Summary, new: Summary) -> None:
    made = merge(known, new)
    assert in_order(
        [(row.choice, row.entry) for row in made.decisions],
        [(row.choice, row.entry) for row in (*known.decisions, *new.decisions)],
    )
    assert in_order(made.intent.changes, (*known.intent.changes, *new.intent.changes))
    assert in_order(
        [(row.entry, row.what) for row in made.refs],
        [(row.entry, row.what) for row in (*known.refs, *new.refs)],
    )


def in_order(made: Iterable[object], told: Iterable[object]) -> bool:
    """Whether each thing told is there once, in the order in which it was told first."""
    return list(made) == list(dict.fromkeys(told))


@given(summaries, summaries)
def test_a_constraint_is_never_dropped_and_never_comes_back_by_itself(
    known: Summary, new: Summary
) -> None:
    made = {(row.text, row.entry): row for row in merge(known, new).constraints}
    assert set(made) == {(row.text, row.entry) for row in (*known.constraints, *new.constraints)}
    for row in (*known.constraints, *new.constraints):
        assert made[row.text, row.entry].lifted or not row.lifted
        assert made[row.text, row.entry].by in ("user", "system")


@given(summaries, summaries)
def test_only_words_of_the_user_lift_a_constraint(known: Summary, new: Summary) -> None:
    silent = replace(new, constraints=(), intent=replace(new.intent, changes=()))
    assert merge(known, silent).constraints == users_first(known.constraints)
    spoken = {row.entry for row in new.constraints if row.by == "user"}
    spoken |= {quote.entry for quote in new.intent.changes} | {""}
    spoken |= {row.lifted for row in (*known.constraints, *new.constraints)}
    assert {row.lifted for row in merge(known, new).constraints} <= spoken


@pytest.mark.seed("R090")
@given(table(), table(files | renames))
def test_every_path_has_one_row_and_none_is_lost(
    known: tuple[File, ...], new: tuple[File, ...]
) -> None:
    made = [file.path for file in merge_files(known, new)]
    assert len(made) == len(set(made))
    left = {file.was for file in new if file.action == "renamed"}
    assert set(made) - left == {file.path for file in (*known, *new)} - left


@pytest.mark.seed("R090")
@given(table(), table())
def test_a_later_write_moves_a_row_that_was_read_and_reading_moves_none(
    known: tuple[File, ...], new: tuple[File, ...]
) -> None:
    was, now = by_path(known), by_path(new)
    for file in merge_files(known, new):
        old, new_one = was.get(file.path), now.get(file.path)
        done = [one.action for one in (old, new_one) if one is not None]
        changed = [action for action in done if action != "read"]
        assert (file.action == "read") == (not changed)
        if done == ["created", "modified"]:
            assert file.action == "created"
        if done[-1] == "deleted":
            assert file.action == "deleted"


def by_path(rows: Iterable[File]) -> dict[str, File]:
    return {file.path: file for file in rows}


@pytest.mark.seed("R090")
@given(table(), table(files | renames))
def test_files_merged_again_are_as_they_were(
    known: tuple[File, ...], new: tuple[File, ...]
) -> None:
    once = merge_files(known, new)
    assert merge_files(once, new) == once


@pytest.mark.seed("R094")
@given(summaries, summaries)
def test_an_error_is_told_once_and_stays_resolved(known: Summary, new: Summary) -> None:
    made = merge_errors(known.errors, new.errors)
    keys = [(row.what, row.text) for row in made]
    assert in_order(keys, [(row.what, row.text) for row in (*known.errors, *new.errors)])
    gone = {(row.what, row.text) for row in new.errors if row.resolved}
    assert all(row.resolved for row in made if (row.what, row.text) in gone)


@pytest.mark.seed("R092", "R093")
@given(summaries, summaries)
def test_a_plan_replaces_the_plan_and_the_user_answers_questions(
    known: Summary, new: Summary
) -> None:
    made = merge(known, new)
    silent = new.progress == Progress()
    assert made.progress == (known.progress if silent else new.progress)
    assert made.next == (known.next if silent and not new.next else new.next)
    spoke = any((new.intent.original.text, new.intent.current.text, new.words))
    assert made.questions == (new.questions if spoke or new.questions else known.questions)


@given(summaries, summaries)
def test_what_is_bounded_stays_bounded_and_keeps_what_the_user_asked_for(
    known: Summary, new: Summary
) -> None:
    made = bounded(merge(known, new))
    assert bounded(made) == made
    assert (made.intent, made.constraints) == (
        merge(known, new).intent,
        merge(known, new).constraints,
    )


@given(summaries)
def test_what_a_client_sent_back_is_merged_as_what_was_kept(known: Summary) -> None:
    """A summary read from a window has short names: the same rows are known again all the same."""
    held = replace(known, constraints=tuple(replace(r, lifted="") for r in known.constraints))
    back = read_summary(write_summary(merge(Summary(), held)))
    assert back is not None
    again = merge(back, held)
    for kept, told in (
        (again.decisions, back.decisions),
        (again.facts, back.facts),
        (again.constraints, back.constraints),
        (again.intent.changes, back.intent.changes),
        (again.refs, back.refs),
    ):
        assert len(kept) == len(told)
