from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.core.measure.models import Cache
from holdfast.core.observe.worth import Worth
from holdfast.core.plan.choose import (
    EMPTY_SELECTION,
    Pricing,
    Selection,
    choose,
    choose_all_profitable,
    choose_enough,
    price,
    value_of,
)
from holdfast.core.plan.gain import Bill
from holdfast.core.plan.proposals import GENTLEST_FIRST, Proposal

CACHE = Cache(read=0.1, write=1.25)


def one(at: int, before: int, guess: int, *, kind: str = "mask", risk: float = 0.0) -> Proposal:
    return Proposal(kind, at, str(at), "Bash", before, guess, "old", risk=risk)


@st.composite
def drawn(draw: st.DrawFn) -> tuple[list[Proposal], Pricing]:
    """Some proposals, in order, and what they are weighed with."""
    sizes = draw(st.lists(st.integers(1, 20_000), min_size=1, max_size=7))
    proposals = [
        one(
            at,
            size,
            draw(st.integers(0, size)),
            kind=draw(st.sampled_from(GENTLEST_FIRST)),
            risk=draw(st.sampled_from((0.0, 0.05, 0.4, 1.0))),
        )
        for at, size in enumerate(sizes)
        if draw(st.booleans())
    ]
    scale = Pricing(
        tokens=sizes,
        sent=draw(st.integers(0, len(sizes))),
        window=sum(sizes),
        requests=draw(st.integers(0, 60)),
        cache=draw(st.sampled_from((CACHE, Cache(read=0.5, write=1.0)))),
        warm=draw(st.booleans()),
    )
    return proposals, scale


@pytest.mark.seed("R010", "R011")
@given(drawn())
def test_no_set_of_proposals_wins_more_than_the_one_that_is_chosen(
    given_: tuple[list[Proposal], Pricing],
) -> None:
    proposals, scale = given_
    best = max(
        price(some, scale).bill.gain
        for count in range(len(proposals) + 1)
        for some in combinations(proposals, count)
    )
    chosen = choose(proposals, scale)
    assert chosen.bill.gain == pytest.approx(best, abs=1e-6)
    assert chosen == price(chosen.proposals, scale)


@given(drawn())
def test_what_is_chosen_is_all_that_wins_behind_some_place(
    given_: tuple[list[Proposal], Pricing],
) -> None:
    proposals, scale = given_
    wins = [one for one in proposals if value_of(one, scale) > 0]
    chosen = choose(proposals, scale).proposals
    assert chosen in [tuple(wins[start:]) for start in range(len(wins) + 1)]


SCALE = Pricing(tokens=[1_000] * 10, sent=10, window=10_000, requests=20, cache=CACHE)


def test_nothing_is_chosen_where_nothing_wins() -> None:
    assert choose([one(0, 1_000, 900)], SCALE) == EMPTY_SELECTION == choose([], SCALE)


def test_a_place_further_in_front_is_not_taken_when_it_does_not_pay_for_the_cache() -> None:
    early, late = one(0, 1_000, 900), one(8, 1_000, 10)
    assert choose([early, late], SCALE).proposals == (late,)
    # Once the cache has gone cold, both win.
    assert choose([early, late], replace(SCALE, warm=False)).proposals == (early, late)


@pytest.mark.seed("R011", "R329")
def test_what_will_probably_be_fetched_again_stays() -> None:
    wanted, forgotten = one(8, 1_000, 100, risk=0.9), one(9, 1_000, 100)
    assert choose([wanted, forgotten], SCALE).proposals == (forgotten,)


def test_all_that_wins_by_itself_goes_when_the_cache_goes_in_any_case() -> None:
    some = [one(0, 1_000, 900), one(3, 1_000, 10, risk=1.0), one(8, 1_000, 10)]
    assert choose_all_profitable(some, SCALE).proposals == (some[0], some[2])


def test_a_choice_is_priced_from_its_first_change_on() -> None:
    some = (one(8, 1_000, 100), one(9, 1_000, 400))
    made = price(some, SCALE)
    assert made.proposals == some
    assert (made.saves, made.bill.cost, made.bill.gain) == (
        1_500,
        pytest.approx(2_000 * 1.15 - 1_875),
        pytest.approx(1_500 * 3.25 - 2_300),
    )


def test_what_is_missed_is_taken_off_what_is_won() -> None:
    some = (one(9, 1_000, 0, risk=0.5),)
    fetch = 0.1 * 10_000 + 1_000 * (1.25 + 0.1 * 20)
    assert price(some, SCALE).bill.gain == pytest.approx(3_250 - 1_150 - 0.5 * fetch)
    assert price((), SCALE) == Selection((), Bill(0.0, 0.0))


@pytest.mark.seed("R005")
def test_what_is_surely_not_needed_leaves_first_and_of_a_kind_the_oldest() -> None:
    kinds = ("mask", "offload", "truncate", "truncate", "debug", "read")
    some = [one(at, 1_000, 0, kind=kind) for at, kind in enumerate(kinds)]
    order = [
        [taken.at for taken in choose_enough(some, need, EMPTY_SELECTION, SCALE).proposals]
        for need in range(1_000, 7_000, 1_000)
    ]
    assert order == [[5], [4, 5], [2, 4, 5], [2, 3, 4, 5], [1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]]


@pytest.mark.seed("R005")
def test_of_a_kind_what_is_missed_least_for_its_tokens_leaves_first() -> None:
    some = [one(0, 1_000, 0, risk=0.4), one(1, 1_000, 0, risk=0.1), one(2, 4_000, 0, risk=0.2)]
    assert [taken.at for taken in choose_enough(some, 1, EMPTY_SELECTION, SCALE).proposals] == [2]
    assert [taken.at for taken in choose_enough(some, 4_001, EMPTY_SELECTION, SCALE).proposals] == [
        1,
        2,
    ]


@pytest.mark.seed("R056")
def test_of_inputs_the_oldest_leave_first_then_the_largest_then_those_on_disk() -> None:
    def written(at: int, age: int, size: int, persisted: str = "") -> Proposal:
        made = one(at, size, 90, kind="truncate", risk=0.9 if age == 7 else 0.1)
        return replace(made, worth=Worth(age=age), persisted=persisted)

    some = [
        written(0, 7, 500),
        written(1, 7, 900),
        written(2, 7, 900, "seen"),
        written(3, 2, 9_000, "seen"),
        written(4, 2, 400, "seen"),
    ]
    order: list[int] = []
    for need in range(1, 11_300, 300):
        taken = [each.at for each in choose_enough(some, need, EMPTY_SELECTION, SCALE).proposals]
        order += sorted(set(taken) - set(order))
    assert order == [2, 1, 0, 3, 4]


def test_no_more_is_taken_than_is_needed_on_top_of_what_is_taken_already() -> None:
    some = [one(at, 1_000, 0) for at in range(4)]
    base = price(some[3:], SCALE)
    assert choose_enough(some, 1_000, base, SCALE) == base
    assert [taken.at for taken in choose_enough(some, 1_001, base, SCALE).proposals] == [0, 3]
    assert [taken.at for taken in choose_enough(some, 99_999, base, SCALE).proposals] == [
        0,
        1,
        2,
        3,
    ]


def test_thinking_without_words_comes_last_of_its_kind() -> None:
    some = [one(0, 0, 0, kind="thinking"), one(1, 9, 0, kind="thinking")]
    assert [taken.at for taken in choose_enough(some, 9, EMPTY_SELECTION, SCALE).proposals] == [1]
