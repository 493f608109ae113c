"""How often and how much a model may be asked, across processes."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.asking import Answer, Failed
from holdfast.models.limits import (
    DAY_SECONDS,
    Guard,
    Limits,
    Spending,
    max_cost,
    read_spending,
    write_spending,
)
from tests.models.asks import ASK

NOW = 20_000.0 * DAY_SECONDS + 100
PAUSED = Limits(failures=3, pause=300)
COST = max_cost(ASK)
FINE, BAD = Answer("x", input=10, output=5), Failed("bad")


class Clock:
    """A clock that a test sets."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def guard(path: Path, clock: Clock, limits: Limits = PAUSED) -> Guard:
    """A new one each time, as each hook has."""
    return Guard(limits, str(path / "models.json"), clock)


def fail(path: Path, clock: Clock, times: int) -> None:
    for _ in range(times):
        model_guard = guard(path, clock)
        assert model_guard.hold(ASK) is None
        assert model_guard.settle(ASK, BAD) == BAD


def test_three_failures_in_a_row_leave_a_model_alone_for_five_minutes(tmp_path: Path) -> None:
    clock = Clock()
    fail(tmp_path, clock, 3)
    assert isinstance(guard(tmp_path, clock).hold(ASK), Failed)
    clock.now += 299
    assert isinstance(guard(tmp_path, clock).hold(ASK), Failed)
    clock.now += 1
    assert guard(tmp_path, clock).hold(ASK) is None


def test_after_the_pause_one_more_failure_is_enough_and_one_answer_forgives(
    tmp_path: Path,
) -> None:
    clock = Clock()
    fail(tmp_path, clock, 3)
    clock.now += 300
    fail(tmp_path, clock, 1)
    assert isinstance(guard(tmp_path, clock).hold(ASK), Failed)
    clock.now += 300
    guard(tmp_path, clock).settle(ASK, FINE)
    fail(tmp_path, clock, 2)
    assert guard(tmp_path, clock).hold(ASK) is None


def test_an_answer_of_no_use_counts_as_a_failure(tmp_path: Path) -> None:
    clock = Clock()
    for _ in range(3):
        guard(tmp_path, clock).strike()
    assert isinstance(guard(tmp_path, clock).hold(ASK), Failed)


def test_a_clock_set_back_does_not_make_the_pause_longer(tmp_path: Path) -> None:
    clock = Clock()
    fail(tmp_path, clock, 3)
    clock.now -= 10 * DAY_SECONDS
    assert guard(tmp_path, clock).hold(ASK) is None


def test_a_days_tokens_are_booked_before_and_settled_after(tmp_path: Path) -> None:
    clock, path = Clock(), str(tmp_path / "models.json")
    limits = Limits(tokens=1_000)
    model_guard = guard(tmp_path, clock, limits)
    assert model_guard.hold(ASK) is None
    assert read_spending(path).tokens == COST
    model_guard.settle(ASK, FINE)
    assert read_spending(path).tokens == 15


def test_a_day_never_costs_more_than_its_budget_and_the_next_starts_anew(tmp_path: Path) -> None:
    clock = Clock()
    limits = Limits(tokens=COST * 3)
    dear = Answer("x", input=COST, output=0)
    for _ in range(3):
        model_guard = guard(tmp_path, clock, limits)
        assert model_guard.hold(ASK) is None
        model_guard.settle(ASK, dear)
    assert isinstance(guard(tmp_path, clock, limits).hold(ASK), Failed)
    clock.now += DAY_SECONDS
    assert guard(tmp_path, clock, limits).hold(ASK) is None


def test_a_crash_between_question_and_answer_costs_budget(tmp_path: Path) -> None:
    clock = Clock()
    limits = Limits(tokens=COST * 2 - 1)
    assert guard(tmp_path, clock, limits).hold(ASK) is None
    assert isinstance(guard(tmp_path, clock, limits).hold(ASK), Failed)


def test_an_answer_that_reports_nothing_is_guessed(tmp_path: Path) -> None:
    model_guard = guard(tmp_path, Clock(), Limits(tokens=10_000))
    model_guard.hold(ASK)
    model_guard.settle(ASK, Answer("y" * 350))
    assert read_spending(str(tmp_path / "models.json")).tokens == COST - ASK.limit + 100


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b'{"tokens": -5}', b'{"failures": "3"}', b"\xff\x00", b"x" * 100_000],
)
def test_a_damaged_file_counts_as_none(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "models.json").write_bytes(damage)
    model_guard = guard(tmp_path, Clock(), Limits(tokens=1_000))
    assert model_guard.hold(ASK) is None
    assert read_spending(str(tmp_path / "models.json")).tokens == COST


def test_a_pipe_or_a_link_in_its_place_is_neither_waited_for_nor_followed(tmp_path: Path) -> None:
    kept = tmp_path / "precious.json"
    kept.write_text('{"tokens": 7}')
    link = tmp_path / "models.json"
    link.symlink_to(kept)
    assert read_spending(str(link)) == Spending()
    assert write_spending(str(link), Spending(tokens=9))
    assert kept.read_text() == '{"tokens": 7}'
    link.unlink()
    os.mkfifo(link)
    assert read_spending(str(link)) == Spending()


def test_the_file_is_for_nobody_else_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    guard(tmp_path, Clock()).hold(ASK)
    (made,) = tmp_path.iterdir()
    assert made.stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_written_down_is_not_spent(tmp_path: Path) -> None:
    nowhere = tmp_path / "missing"
    assert isinstance(guard(nowhere, Clock(), Limits(tokens=10_000)).hold(ASK), Failed)
    assert guard(nowhere, Clock(), Limits()).hold(ASK) is None


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2 * COST), st.integers(0, DAY_SECONDS))))
def test_no_order_of_events_books_more_than_a_day_allows(
    events: list[tuple[bool, int, int]],
) -> None:
    clock = Clock()
    model_guard = Guard(Limits(tokens=5 * COST, failures=2), clock=clock)
    days: dict[int, int] = {}
    for fine, output, later in events:
        if model_guard.hold(ASK) is None:
            day = int(clock.now // DAY_SECONDS)
            days[day] = days.get(day, 0) + 1
            model_guard.settle(ASK, Answer("x", input=COST, output=output) if fine else BAD)
        clock.now += later
    # Each books at most its cost beforehand; only a model that says more than it may goes over.
    assert all(asked <= 5 * COST // (COST - ASK.limit) for asked in days.values())
