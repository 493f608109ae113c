import pytest

from holdfast.core.ledger.entry import Compressed, Said, Step
from holdfast.core.ledger.summary import Constraint, Decision, Error, File, Summary
from holdfast.core.ledger.window import apply_steps
from holdfast.core.measure.sizes import SizedWindow
from holdfast.core.measure.usage import Usage
from holdfast.core.view.status import WindowShare
from holdfast.core.view.summary import count_rows, render_summary_effect, summary_effect
from tests.core.building import answer, ask, back, bash, items, lines, named, words

SHOWN = items(ask("Look."), bash("a", "show"), back("a", lines(50)), answer("I see."), ask("And?"))
RAWS = tuple(words(str(item.body)) for item in SHOWN)
NOW = SizedWindow(Usage(sum(RAWS), 900, "exact"), tuple(SHOWN), RAWS, RAWS)
AFTER = Usage(RAWS[4] + 1 + 40 + 7, 900, "exact", overhead=7)
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
    made = summary_effect(NOW, MADE, AFTER)
    assert made is not None
    assert [(one.what, one.count) for one in made.leaves] == [
        ("Bash results", 1),
        ("Bash calls", 1),
        ("user", 1),
    ]
    assert made.stays == (WindowShare("user", 1, RAWS[4]), WindowShare("assistant", 1, 1))
    assert (made.tokens, made.mark) == (40, "below_target")
    assert sum(one.tokens for one in made.stays) + made.tokens + made.overhead == AFTER.tokens


def test_a_compression_without_a_summary_tells_of_none() -> None:
    assert summary_effect(NOW, None, AFTER) is None
    assert summary_effect(NOW, Compressed(MADE.steps, 0, 9), AFTER) is None


def test_an_older_summary_neither_leaves_nor_stays() -> None:
    after = tuple(apply_steps(MADE.steps[:1], SHOWN))
    again = Step(
        (named(1), named(2), named(3), named(4)), "old", MADE.steps[0].stand_in, tier=3, after=30
    )
    now = SizedWindow(Usage(55, 900, "exact"), after, (40, 5, 10), (40, 5, 10))
    body = Compressed((again,), 1, 9, summary=ROWS)
    made = summary_effect(now, body, Usage(40, 900, "exact"))
    assert made is not None
    assert made.older == 40
    assert [one.what for one in made.leaves] == ["assistant"]
    assert [one.what for one in made.stays] == ["user"]


def test_sections_are_counted_by_what_they_tell() -> None:
    assert {what: count for what, count in count_rows(ROWS).items() if count} == {
        "constraints": 1,
        "files changed": 1,
        "files read": 1,
        "decisions": 1,
        "errors open": 1,
        "errors resolved": 1,
    }


def test_scores_below_their_target_say_so() -> None:
    made = summary_effect(NOW, MADE, AFTER)
    assert made is not None
    told = render_summary_effect(made)
    assert told[-2:] == [
        "quality: accuracy 3.0 (below 4.0), continuity 5.0",
        "mark: below_target; the window was made smaller all the same",
    ]
    assert told[0].startswith("leaves: 3 entries, ")
