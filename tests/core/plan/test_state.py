import pytest
from msgspec.structs import replace

from holdfast.core.ledger.entry import Noted
from holdfast.core.ledger.head import Calibration
from holdfast.core.measure.models import Model
from holdfast.core.measure.usage import Usage
from holdfast.core.plan.choose import Pricing
from holdfast.core.plan.policy import BatchRules
from holdfast.core.plan.state import persisted_calls, pricing_of, survey, tokens_of, unsent_places
from tests.core.building import (
    NO_TAIL,
    PLAIN,
    answer,
    ask,
    back,
    bash,
    entries,
    items,
    lines,
    named,
    seen_on_disk,
    standing,
    state,
    words,
)

SHOWN = items(ask("Go on."), bash("a", "ls"), back("a", lines(10)), answer("Done."))
CLAUDE = Model("claude", 1_000, factor=1.5)


def test_a_window_is_as_full_as_its_tokens_and_what_stands_before_it() -> None:
    now = state(SHOWN, limit=100)
    assert (now.usage, now.usage_at(50)) == (Usage(25, 100, "exact"), Usage(50, 100, "exact"))
    assert replace(now, fixed_tokens=10).usage == Usage(35, 100, "exact", overhead=10)


def test_tokens_of_another_vocabulary_are_estimated() -> None:
    assert state(SHOWN, limit=100, model=CLAUDE).usage == Usage(38, 100, "estimated")


@pytest.mark.parametrize(
    ("model", "budget", "need"),
    [(PLAIN, 25, 0), (PLAIN, 30, 0), (PLAIN, 10, 15), (CLAUDE, 37, 1), (CLAUDE, 20, 12)],
)
def test_what_has_to_leave_is_told_in_raw_tokens(model: Model, budget: int, need: int) -> None:
    assert state(SHOWN, limit=100, model=model).raw_over(budget) == need


@pytest.mark.parametrize("model", [PLAIN, CLAUDE, replace(CLAUDE, factor=1.07)])
@pytest.mark.parametrize("known", [Calibration(), Calibration("m", 3, 900, 20, 500, 700)])
def test_when_so_much_has_left_the_window_is_within_its_budget(
    model: Model, known: Calibration
) -> None:
    now = state(SHOWN, limit=100, model=model)
    now = replace(now, lane=replace(now.lane, tokens=400, calibration=known))
    for budget in range(now.usage_at(0).tokens, now.usage.tokens + 5):
        assert now.usage_at(400 - now.raw_over(budget)).tokens <= budget


def test_stand_ins_are_counted_and_the_rest_is_known() -> None:
    shown = list(SHOWN)
    shown[2] = standing(shown[2], back("a", "one two three"))
    now = replace(state(shown), counts={1: 70, 3: 90, 4: 80})
    assert tokens_of(now, words) == [70, 2, 3, 80]


def test_a_scale_expects_as_many_requests_as_there_were() -> None:
    now = state(SHOWN, sent=2)
    tokens = [2, 2, 20, 1]
    assert pricing_of(now, tokens) == Pricing(tokens, 2, 25, 2, PLAIN.cache)
    told = replace(now, policy=replace(NO_TAIL, batch=BatchRules(requests=9)), warm=False)
    assert pricing_of(told, tokens) == Pricing(tokens, 2, 25, 9, PLAIN.cache, warm=False)


def test_what_was_seen_on_disk_is_read_from_the_notes() -> None:
    ledger = entries(ask("Go."))
    noted = [replace(ledger[0], body=body) for body in (seen_on_disk(7), Noted("model"))]
    assert persisted_calls([*ledger, *noted]) == {named(7): "5eed"}


def test_what_came_after_what_was_sent_is_fresh() -> None:
    assert unsent_places(state(SHOWN, sent=2)) == [2, 3]


def test_a_deep_look_leaves_only_the_last_step_alone() -> None:
    roomy = replace(NO_TAIL, tail=replace(NO_TAIL.tail, percent=50))
    now = state(SHOWN, policy=roomy, limit=100)
    assert (survey(now, words).tail, survey(now, words, deep=True).tail) == (0, 3)
