from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.core.ledger.summary import (
    Constraint,
    Decision,
    Error,
    Fact,
    File,
    Intent,
    Next,
    Quote,
    Summary,
)
from holdfast.core.observe.moments.moment import Moment
from holdfast.core.shrink.summary.choose import Choices
from holdfast.core.shrink.summary.fit import SummaryRoom, fit_summary, min_tokens
from holdfast.core.shrink.summary.text import read_summary, write_summary
from tests.core.building import named, words


def many(count: int) -> Summary:
    """A summary with so many rows in every section."""
    each = range(count)
    first = Quote("Build the importer.", named(1))
    return Summary(
        intent=Intent(first, Quote("Now the docs.", named(2)), (Quote("No, use B.", named(3)),)),
        constraints=(Constraint("Never touch the tests.", named(1), negative=True),),
        words=tuple(Quote(f"And part {at}?", named(10 + at)) for at in each),
        files=tuple(File(f"src/f{at}.py", "modified", change=f"run_{at}(); +{at}") for at in each),
        decisions=tuple(Decision(f"Use tool {at}", named(at), f"reason {at}") for at in each),
        facts=tuple(Fact(f"value id_{at} is set", named(at), "log", at) for at in each),
        next=tuple(Next(f"step {at}", named(at)) for at in each),
        revision=1,
    )


def shown_words(made: Summary) -> list[Quote]:
    """Return the words that are shown; the others only say where facts belong."""
    return [quote for quote in made.words if quote.text]


def room(tokens: int) -> SummaryRoom:
    return SummaryRoom(tokens, words)


@pytest.mark.seed("R003", "R068")
@given(st.integers(0, 30), st.integers(0, 2_000))
def test_what_is_shown_fits_and_what_the_user_wants_is_always_shown(
    count: int, tokens: int
) -> None:
    summary = many(count)
    made = fit_summary(summary, room(tokens))
    assert made.tokens == words(made.text)
    assert made.text in (write_summary(made.summary), write_summary(made.summary, frame="brief"))
    assert made.tokens <= max(tokens, min_tokens(summary, room(tokens)))
    back = read_summary(made.text)
    assert back is not None
    for quote in (summary.intent.original, summary.intent.current, *summary.intent.changes):
        assert quote.text in made.text
    assert [row.text for row in back.constraints] == ["Never touch the tests."]


def in_order(kept: Sequence[object], whole: Sequence[object]) -> bool:
    """Whether some things are among others, in the same order."""
    rest = iter(whole)
    return all(row in rest for row in kept)


@given(st.integers(0, 30), st.integers(0, 2_000))
def test_what_is_shown_is_what_there_was_in_its_order(count: int, tokens: int) -> None:
    summary = many(count)
    made = fit_summary(summary, room(tokens)).summary
    for kept, whole in (
        (shown_words(made), summary.words),
        ([file.path for file in made.files], [file.path for file in summary.files]),
        (made.decisions, summary.decisions),
        (made.next, summary.next),
    ):
        assert in_order(kept, whole)
    assert {fact.text for fact in made.facts} <= {fact.text for fact in summary.facts}
    assert {replace(file, change="") for file in made.files} <= {
        replace(file, change="") for file in summary.files
    }


def test_files_without_room_for_what_changed_are_named() -> None:
    summary = many(60)
    made = fit_summary(summary, room(2_500))
    described = [file for file in made.summary.files if file.change]
    named_only = [file for file in made.summary.files if not file.change]
    assert described
    assert named_only
    assert f"- also modified: {', '.join(file.path for file in named_only)}" in made.text.split(
        "\n"
    )


def test_a_short_summary_names_the_changed_files_and_describes_none() -> None:
    made = fit_summary(many(60), room(500))
    assert made.summary.files
    assert "| Path |" not in made.text
    assert not any(file.change for file in made.summary.files)


def test_with_room_for_all_nothing_is_left_out() -> None:
    summary = many(5)
    made = fit_summary(summary, room(10_000)).summary
    assert (made.words, made.files, made.decisions) == (
        summary.words,
        summary.files,
        summary.decisions,
    )
    assert len(made.facts) == 5


def test_sections_that_come_to_more_than_the_room_are_shown_with_fewer_rows() -> None:
    # Every section has rows that cost more than they are reckoned at, so that all are too much.
    wide: dict[str, float] = dict.fromkeys(("changed", "decisions", "words", "next"), 3.0)
    made = fit_summary(many(30), SummaryRoom(300, words, wider=wide))
    assert made.tokens <= 300
    assert all((made.summary.files, made.summary.decisions, made.summary.next))


def test_a_section_that_a_probe_found_too_small_gets_more() -> None:
    summary = many(30)
    plain = fit_summary(summary, room(400)).summary
    wider = fit_summary(summary, SummaryRoom(400, words, wider={"decisions": 3.0})).summary
    assert len(wider.decisions) > len(plain.decisions)


def test_words_that_were_said_twice_or_changed_the_scope_are_told_once() -> None:
    said = [Quote(text, named(at)) for at, text in enumerate(("Why?", "No, use B.", "Why?", "So."))]
    made = fit_summary(replace(many(1), words=tuple(said)), room(1_500))
    assert shown_words(made.summary) == [said[2], said[3]]
    assert (made.text.count("Why?"), made.text.count("No, use B.")) == (1, 1)
    assert not made.summary.refs


def test_facts_of_messages_that_are_not_shown_keep_their_place_among_those_that_are() -> None:
    said = [Quote(f"{'Go on with it now. ' * 90}{at}", named(10 + at)) for at in range(3)]
    brief = Quote("And the tests?", named(14))
    facts = tuple(
        Fact(f"value id_{at} is set", named(30 + at), turn=named(10 + at)) for at in (2, 4)
    )
    told = replace(many(0), words=(*said, brief), facts=facts)
    made = fit_summary(told, room(150))
    lines = made.text.split("\n")
    assert shown_words(made.summary) == [brief]
    turn = named(12)[:8]
    assert lines.index(f"[{turn}]") < lines.index(f"[{named(14)[:8]}] USER: And the tests?")


def test_a_change_of_scope_that_is_not_shown_by_itself_stays_among_the_words() -> None:
    change, now = Quote("No, use B.", named(3)), Quote("No, use B. And the docs.", named(2))
    said = replace(many(1), intent=Intent(Quote("Go.", named(1)), now, (change,)), words=(change,))
    shown = [fit_summary(said, room(tokens)).summary for tokens in range(0, 400, 4)]
    assert any(change in made.words for made in shown if change not in made.intent.changes)
    assert all((change in made.words) + (change in made.intent.changes) < 2 for made in shown)


def test_words_that_are_not_shown_are_named_where_they_are() -> None:
    summary = many(60)
    made = fit_summary(summary, room(3_000)).summary
    gone = {quote.entry for quote in summary.words} - {quote.entry for quote in shown_words(made)}
    assert gone
    assert {ref.entry for ref in made.refs} <= gone
    assert made.refs


def test_constraints_of_the_system_are_left_out_before_those_of_the_user() -> None:
    told = tuple(Constraint(f"Never touch part {at} of it.", named(at)) for at in range(4))
    system = tuple(
        Constraint(f"Always show part {at}.", named(50 + at), "system") for at in range(60)
    )
    whole = replace(many(0), constraints=(*told, *system))
    shown = fit_summary(whole, replace(room(300), firm=True)).summary.constraints
    assert shown
    assert in_order(shown, told)


def test_constraints_that_the_rest_of_the_window_has_are_not_repeated() -> None:
    rule = Constraint("Ask before you book.", named(0), "system")
    summary = replace(many(1), constraints=(*many(1).constraints, rule))
    assert "Ask before you book." in fit_summary(summary, room(600)).text
    system = replace(room(600), rest="You are an agent. Ask before you book.")
    made = fit_summary(summary, system)
    assert "Ask before you book." not in made.text
    assert "Never touch the tests." in made.text


def test_a_small_summary_leaves_out_what_a_reader_can_do_without() -> None:
    ended = Error("no rule", named(5), "Bash make", named(6))
    read = File("src/read.py", "read")
    summary = replace(many(2), errors=(ended,), files=(*many(2).files, read))
    small, large = fit_summary(summary, room(1_500)).text, fit_summary(summary, room(6_000)).text
    assert "no rule" not in small
    assert "src/read.py" not in small
    assert "no rule" in large
    assert "src/read.py" in large


def test_a_large_summary_names_what_was_read_and_a_small_one_does_not() -> None:
    pool = [
        Moment("said", "The plans are cached in the store.", named(40), 1.0, named(40)),
        Moment("named", "plans.py names plan_cache, first_row", named(41), 1.0, named(40)),
    ]
    choices = Choices(pool, words)
    large = fit_summary(many(1), replace(room(6_000), choices=choices)).text
    assert "plans.py names first_row, plan_cache" in large
    assert "plan_cache" not in fit_summary(many(1), replace(room(2_000), choices=choices)).text


def test_a_line_is_shown_with_its_heading_where_that_is_another_than_before() -> None:
    said = [
        ("The store has rows.", "Gap 1 › What exists"),
        ("The index has plans.", "Gap 1 › What exists"),
        ("Write the parser in week 1.", "Gap 1 › Plan"),
        ("Write the docs in week 2.", "Gap 2"),
        ("All of it is tested.", ""),
    ]
    pool = [Moment("said", text, named(40), 1.0, named(40), under) for text, under in said]
    made = fit_summary(many(1), replace(room(6_000), choices=Choices(pool, words)))
    assert [fact.text for fact in made.summary.facts] == [
        "Gap 1 › What exists: The store has rows.",
        "The index has plans.",
        "Plan: Write the parser in week 1.",
        "Gap 2: Write the docs in week 2.",
        "All of it is tested.",
    ]


def test_a_small_summary_names_no_entries_in_the_state() -> None:
    summary = replace(many(1), state=(Quote("git branch: main", named(7)),))
    small, large = fit_summary(summary, room(1_500)).text, fit_summary(summary, room(6_000)).text
    assert "- git branch: main" in small
    assert f"[{named(7)[:8]}] git branch: main" in large


def test_a_row_that_the_tail_has_is_shown_if_a_probe_missed_it() -> None:
    summary = replace(many(1), state=(Quote("git branch: main", named(7)),))
    seen = replace(room(6_000), shown=frozenset({"git", "branch", "main"}))
    assert "git branch: main" not in fit_summary(summary, seen).text
    missed = replace(seen, wider={"state": 1.3})
    assert "git branch: main" in fit_summary(summary, missed).text


def test_files_that_were_read_get_the_room_of_changed_ones_if_a_probe_missed_them() -> None:
    files = tuple(File(f"src/read_{at}.py", "read") for at in range(12))
    summary = replace(many(1), files=files)
    shown = fit_summary(summary, replace(room(2_000), wider={"read": 1.3})).summary.files
    assert shown == files
    changed = replace(summary, files=(*files, File("src/a.py", "modified", change="run(); +1")))
    fewer = fit_summary(changed, replace(room(2_000), wider={"read": 1.3})).summary.files
    assert 0 < len(fewer) < len(files)
