import pytest

from holdfast.core.ledger.append import derived_entry
from holdfast.core.ledger.entry import Noted, Used
from holdfast.core.ledger.head import Head, advance_head
from holdfast.core.measure.limits import Limit, largest_accepted, limit_of
from holdfast.core.measure.models import find_model

OPUS = "claude-opus-4-6"


@pytest.mark.parametrize(
    ("head", "named", "limit"),
    [
        (Head(), OPUS, Limit(168_000, "model")),
        (Head(), "", Limit(112_000, "assumed")),
        (Head(accepted={OPUS: 90_000}), OPUS, Limit(168_000, "model", 90_000)),
        (Head(accepted={OPUS: 534_859}), OPUS, Limit(534_859, "learned", 534_859)),
        (Head(limit=100_000), OPUS, Limit(68_000, "learned")),
        (Head(limit=100_000, accepted={OPUS: 99_000}), OPUS, Limit(99_000, "learned", 99_000)),
        (Head(accepted={"gpt-5": 300_000}), OPUS, Limit(168_000, "model")),
        (Head(accepted={"": 300_000}), OPUS, Limit(300_000, "learned", 300_000)),
    ],
    ids=[
        "the table",
        "a model nobody knows",
        "less was accepted",
        "more was accepted",
        "more was refused",
        "refused and accepted",
        "another model accepted it",
        "a model that was not named accepted it",
    ],
)
def test_a_limit_is_what_the_table_says_unless_the_provider_disproved_it(
    head: Head, named: str, limit: Limit
) -> None:
    assert limit_of(head, find_model(named), named) == limit


def test_a_window_that_the_user_set_holds_against_what_was_accepted() -> None:
    head = Head(accepted={OPUS: 534_859})
    told = limit_of(head, find_model(OPUS), OPUS, window=100_000, reserve=10_000)
    assert told == Limit(90_000, "set", 534_859)


def test_dated_and_regional_names_of_a_model_share_what_it_accepted() -> None:
    head = Head(accepted={"us.anthropic.claude-opus-4-6-20260101": 300_000})
    assert (largest_accepted(head, OPUS), largest_accepted(head, "gpt-5")) == (300_000, 0)


def test_a_head_keeps_the_largest_request_of_each_model_with_its_answer() -> None:
    bodies = [
        Noted("model", {"model": "a"}),
        Used(500, 500, 40),
        Used(900, 900, 50, model="b"),
        Used(300, 300, 10, model="b"),
        Used(1_000, 400, 20, model="a"),
    ]
    head = Head()
    for number, body in enumerate(bodies, 1):
        head = advance_head(head, derived_entry(number, body, parent=None))
    assert head.accepted == {"a": 1_000, "b": 950}
