import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.head import Lane
from holdfast.core.measure.usage import Usage
from holdfast.core.plan.due import Due, due, grown_enough
from holdfast.core.plan.policy import PROFILES, Policy, with_settings


def at(tokens: int, *, limit: int = 1_000, turns: int = 1, profile: str = "ctx-001") -> Due:
    policy = with_settings(Policy(), PROFILES[profile])
    return due(Usage(tokens, limit, "exact"), Lane(turns=turns), policy)


@pytest.mark.seed("R026", "R335")
@pytest.mark.parametrize(
    ("profile", "tokens", "called"),
    [
        ("ctx-001", 0, Due()),
        ("ctx-001", 499, Due()),
        ("ctx-001", 500, Due("weigh", "context at 50%, tiers 1 and 2 from 50%")),
        ("ctx-001", 749, Due("weigh", "context at 75%, tiers 1 and 2 from 50%")),
        ("ctx-001", 750, Due("weigh", "context at 75%, tier 3 from 75%")),
        ("ctx-001", 849, Due("weigh", "context at 85%, tier 3 from 75%")),
        ("ctx-001", 850, Due("force", "context at 85%, critical from 85%")),
        ("ctx-001", 5_000, Due("force", "context at 500%, critical from 85%")),
        ("anchored", 699, Due()),
        ("anchored", 700, Due("weigh", "context at 70%, tier 3 from 70%")),
        ("stress", 100, Due("weigh", "context at 10%, tiers 1 and 2 from 10%")),
        ("stress", 250, Due("weigh", "context at 25%, tier 3 from 25%")),
        ("off", 5_000, Due()),
    ],
)
def test_what_is_due_follows_from_how_full_the_window_is(
    profile: str, tokens: int, called: Due
) -> None:
    assert at(tokens, profile=profile) == called


@pytest.mark.seed("R100")
def test_more_than_twenty_turns_are_worth_weighing_in_the_anchored_profile() -> None:
    assert at(10, turns=20, profile="anchored") == Due()
    assert at(10, turns=21, profile="anchored") == Due("weigh", "21 turns, weighed above 20")
    assert at(10, turns=21) == Due()


@pytest.mark.seed("R101")
def test_so_many_tokens_are_too_many_whatever_part_of_the_window_they_are() -> None:
    assert at(189_999, limit=1_000_000, profile="claude-code") == Due()
    assert at(190_000, limit=1_000_000, profile="claude-code") == Due(
        "force", "190,000 tokens, limit 190,000"
    )


def test_a_window_without_room_is_full() -> None:
    assert at(1, limit=0).action == "force"


FULL, OVER = Usage(60, 100, "exact"), Usage(120, 100, "exact")


@pytest.mark.parametrize(
    ("lane", "usage", "enough"),
    [
        pytest.param(Lane(tokens=5), FULL, True, id="never weighed"),
        pytest.param(Lane(tokens=1_049, weighed=1_000), FULL, False, id="grown by 4.9 %"),
        pytest.param(Lane(tokens=1_050, weighed=1_000), FULL, True, id="grown by 5 %"),
        pytest.param(Lane(tokens=900, weighed=1_000), FULL, False, id="smaller"),
        pytest.param(
            Lane(tokens=1_499, weighed=1_000, reclaimed=500), FULL, False, id="not yet back"
        ),
        pytest.param(
            Lane(tokens=1_500, weighed=1_000, reclaimed=500), FULL, True, id="back where it was"
        ),
        pytest.param(
            Lane(tokens=1_199, weighed=1_000, reclaimed=50), FULL, False, id="a fifth at least"
        ),
        pytest.param(
            Lane(tokens=1_199, weighed=1_000, reclaimed=500), OVER, False, id="over, not a fifth"
        ),
        pytest.param(
            Lane(tokens=1_200, weighed=1_000, reclaimed=500), OVER, True, id="over, by a fifth"
        ),
        pytest.param(
            Lane(tokens=1_050, weighed=1_000, reclaimed=500, turns=2, weighed_turn=1),
            FULL,
            True,
            id="the user spoke again",
        ),
    ],
)
def test_a_window_is_weighed_again_once_enough_has_come(
    lane: Lane, usage: Usage, enough: bool
) -> None:
    assert grown_enough(lane, usage) is enough


@given(
    st.integers(1, 10_000),
    st.integers(0, 20_000),
    st.integers(0, 10_000),
    st.booleans(),
    st.booleans(),
    st.integers(1, 64),
)
def test_a_count_that_is_wrong_by_any_factor_changes_nothing(
    weighed: int, tokens: int, reclaimed: int, same_turn: bool, over: bool, factor: int
) -> None:
    usage, turn = OVER if over else FULL, 0 if same_turn else 1

    def lane(by: int) -> Lane:
        return Lane(tokens=tokens * by, weighed=weighed * by, reclaimed=reclaimed * by, turns=turn)

    assert grown_enough(lane(factor), usage) is grown_enough(lane(1), usage)
