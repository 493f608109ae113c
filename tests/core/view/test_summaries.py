import pytest

from holdfast.core.ledger.entry import Compressed, Said, Step
from holdfast.core.ledger.summary import Constraint, Decision, Error, File, Summary
from holdfast.core.ledger.window import apply
from holdfast.core.view.report import Share
from holdfast.core.view.summaries import render_summarized, rows_of, summarized
from tests.core.building import answer, ask, back, bash, items, lines, named, words

SHOWN = items(ask("Look."), bash("a", "show"), back("a", lines(50)), answer("I see."), ask("And?"))
COUNTS = {item.entry.seq: words(str(item.body)) for item in SHOWN}
ROWS = Summary(
    constraints=(Constraint("Keep it.", "a"), Constraint("Gone.", "a", lifted="b")),
    files=(File("a.py", "created"), File("b.py", "read")),
    decisions=(Decision("x", "a"),),
    errors=(Error("no", "a"), Error("no", "a", resolved="b")),
)
MADE = Compressed(
    (
        Step(
            (named(1), named(2), named(3)),
            "old",
            Said("user", "summary", by="holdfast"),
            tier=3,
            before=100,
            after=40,
            kind="summary",
        ),
        Step((named(4),), "recent", answer("…"), tier=2, before=2, after=1, kind="mask"),
    ),
    0,
    9,
    summary=ROWS,
    quality={"accuracy": 3.0, "continuity": 5.0},
    mark="below_target",
)


@pytest.mark.seed("R063", "R065")
def test_what_left_and_what_stays_are_counted_by_kind() -> None:
    made = summarized(SHOWN, MADE, COUNTS)
    assert made is not None
    assert [(one.what, one.count) for one in made.leaves] == [
        ("Bash results", 1),
        ("Bash calls", 1),
        ("user", 1),
    ]
    assert made.stays == (Share("user", 1, COUNTS[5]), Share("assistant", 1, 1))
    assert (made.tokens, made.mark) == (40, "below_target")


def test_a_compression_without_a_summary_tells_of_none() -> None:
    assert summarized(SHOWN, None, COUNTS) is None
    assert summarized(SHOWN, Compressed(MADE.steps, 0, 9), COUNTS) is None


def test_an_older_summary_neither_leaves_nor_stays() -> None:
    first = summarized(SHOWN, MADE, COUNTS)
    assert first is not None
    after = apply(MADE.steps[:1], SHOWN)
    again = Step((named(1), named(2), named(3), named(4)), "old", MADE.steps[0].stand_in, tier=3)
    made = summarized(after, Compressed((again,), 1, 9, summary=ROWS), COUNTS)
    assert made is not None
    assert [one.what for one in made.leaves] == ["assistant"]
    assert [one.what for one in made.stays] == ["user"]


def test_sections_are_counted_by_what_they_tell() -> None:
    assert {what: count for what, count in rows_of(ROWS).items() if count} == {
        "constraints": 1,
        "files changed": 1,
        "files read": 1,
        "decisions": 1,
        "errors open": 1,
        "errors resolved": 1,
    }


def test_scores_below_their_target_say_so() -> None:
    made = summarized(SHOWN, MADE, COUNTS)
    assert made is not None
    told = render_summarized(made)
    assert told[-2:] == [
        "quality: accuracy 3.0 (below 4.0), continuity 5.0",
        "mark: below_target; the window was made smaller all the same",
    ]
    assert told[0].startswith("leaves: 3 entries, ")
