import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.measure.bill import BilledPart, BillingMeter
from holdfast.core.measure.models import Cache
from holdfast.core.plan.gain import Bill, refetch_cost, weigh

CACHE = Cache(read=0.1, write=1.25)
caches = st.builds(Cache, st.sampled_from((0.025, 0.1, 0.5)), st.sampled_from((1.0, 1.25, 2.0)))
parts = st.lists(st.integers(1, 5_000), min_size=1, max_size=8)


def as_parts(sizes: list[int], changed: dict[int, int]) -> list[BilledPart]:
    return [
        BilledPart(f"{at}{'*' if at in changed else ''}", changed.get(at, size), frozenset())
        for at, size in enumerate(sizes)
    ]


@pytest.mark.seed("R010")
@given(caches, parts, st.integers(0, 8), st.integers(0, 40), st.booleans(), st.data())
def test_a_bill_is_the_difference_of_two_runs_that_were_metered(
    cache: Cache, sizes: list[int], sent: int, requests: int, warm: bool, data: st.DataObject
) -> None:
    sent = min(sent, len(sizes))
    places = data.draw(st.sets(st.integers(0, len(sizes) - 1), min_size=1))
    changed = {at: data.draw(st.integers(0, sizes[at])) for at in sorted(places)}
    removed = sum(sizes[at] - size for at, size in changed.items())
    bill = weigh(
        removed=removed,
        behind=sum(sizes[min(places) : sent]),
        requests=requests,
        cache=cache,
        warm=warm,
    )
    runs = [BillingMeter(cache, prefix=0, window=1_000_000) for _ in range(2)]
    at_once = 0.0
    for meter, now in zip(runs, (as_parts(sizes, {}), as_parts(sizes, changed)), strict=True):
        if warm:
            meter.bill_request(as_parts(sizes[:sent], {}))
        meter.bill_request(now)
        at_once = meter.cost().billed - at_once
        for _ in range(requests):
            meter.bill_request(now)
    without, ours = (meter.cost().billed for meter in runs)
    assert (bill.cost, bill.gain) == pytest.approx((at_once, without - ours), abs=1e-6)


def test_what_was_never_sent_leaves_at_no_cost() -> None:
    bill = weigh(removed=1_000, behind=0, requests=10, cache=CACHE)
    assert bill == Bill(cost=-1_250.0, gain=2_250.0)


def test_a_small_saving_far_in_front_costs_more_than_it_wins() -> None:
    bill = weigh(removed=1_000, behind=100_000, requests=10, cache=CACHE)
    assert (bill.cost, bill.gain) == pytest.approx((113_750.0, -112_750.0))


def test_a_cold_cache_makes_every_saving_win() -> None:
    bill = weigh(removed=1_000, behind=100_000, requests=10, cache=CACHE, warm=False)
    assert bill == Bill(cost=-1_250.0, gain=2_250.0)


@pytest.mark.seed("R011", "R329")
def test_fetching_something_again_costs_a_request_and_its_tokens() -> None:
    assert refetch_cost(1_000, 50_000, CACHE, 10) == pytest.approx(5_000 + 1_250 + 1_000)
