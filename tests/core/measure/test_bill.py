import pytest

from holdfast.core.measure.bill import BilledPart, BillingMeter, Cost, RequestFrame
from holdfast.core.measure.models import Cache

CACHE = Cache(read=0.1, write=1.25)


def part(key: str, tokens: int, *names: str) -> BilledPart:
    return BilledPart(key, tokens, frozenset(names))


A, B, C = part("a", 100), part("b", 200), part("c", 400)


def metered(*requests: list[BilledPart], prefix: int = 0, window: int = 1_000) -> Cost:
    meter = BillingMeter(CACHE, prefix=prefix, window=window)
    for parts in requests:
        assert meter.bill_request(parts) == prefix + sum(one.tokens for one in parts)
    return meter.cost()


@pytest.mark.seed("R329")
def test_a_prefix_that_stands_as_it_stood_is_read_and_the_rest_is_written() -> None:
    found = metered([A], [A, B], [A, B, C])
    assert found.billed == pytest.approx(125 + (10 + 250) + (30 + 500))
    assert found == Cost(
        requests=3,
        billed=found.billed,
        peak=700,
        over=0,
        breaks=0,
        fetches=0,
        fetched=0.0,
        sizes=(100, 300, 700),
    )


def test_what_stands_before_the_messages_is_written_once_and_read_from_then_on() -> None:
    found = metered([A], [A], prefix=1_000)
    assert found.billed == pytest.approx(1_100 * 1.25 + 1_100 * 0.1)
    assert found.over == 2


def test_a_frame_that_grew_is_read_as_far_as_it_stood_and_written_beyond() -> None:
    meter = BillingMeter(CACHE, prefix=5, window=1_000)
    assert meter.bill_request([A], RequestFrame(300)) == 400
    assert meter.bill_request([A, B], RequestFrame(500)) == 800
    assert meter.bill_request([A, B], RequestFrame(100)) == 400
    assert meter.bill_request([A, B]) == 400
    written, read = 400 + (200 + 200), (100 + 300) + 400 + 400
    assert meter.cost().billed == pytest.approx(written * 1.25 + read * 0.1)


def test_parts_that_were_not_all_sent_are_billed_by_their_share() -> None:
    meter = BillingMeter(CACHE, prefix=0, window=1_000)
    assert meter.bill_request([A, B], RequestFrame(0, 0.5)) == 150
    assert meter.cost().billed == pytest.approx(150 * 1.25)


def test_a_change_writes_all_that_stands_behind_it_again() -> None:
    found = metered([A, B, C], [A, part("b*", 20), C])
    assert (found.breaks, found.sizes) == (1, (700, 520))
    assert found.billed == pytest.approx(700 * 1.25 + 100 * 0.1 + 420 * 1.25)


def test_a_window_that_only_lost_its_end_is_broken_too() -> None:
    assert metered([A, B], [A]).breaks == 1


def test_the_same_request_again_is_no_break() -> None:
    assert metered([A, B], [A, part("b", 200)]).breaks == 0


def test_a_meter_that_saw_nothing_comes_to_nothing() -> None:
    assert BillingMeter(CACHE, prefix=9, window=9).cost() == Cost(0, 0.0, 0, 0, 0, 0, 0.0)


OLD = part("old", 300, "tax_rate", "net_total")
GONE = part("old*", 10)


def hidden() -> BillingMeter:
    """A meter to which something came that is out of sight by now."""
    meter = BillingMeter(CACHE, prefix=0, window=1_000)
    meter.add_arrival(OLD)
    meter.bill_request([A, OLD])
    assert meter.charge_fetches(["tax_rate"]) == 0
    meter.bill_request([A, GONE])
    return meter


@pytest.mark.seed("R011", "R329")
def test_what_is_used_out_of_sight_is_fetched_once_and_paid_for() -> None:
    meter = hidden()
    before = meter.cost()
    assert meter.charge_fetches(["tax_rate", "net_total", "never_seen"]) == 1
    found = meter.cost()
    assert (found.fetches, found.requests, meter.fetched_tokens) == (1, before.requests + 1, 300)
    assert found.fetched == pytest.approx(0.1 * 110 + 1.25 * 300)
    assert found.billed - before.billed == pytest.approx(found.fetched)
    assert meter.charge_fetches(["tax_rate"]) == 0


def test_what_was_fetched_is_read_by_later_requests_until_something_changes() -> None:
    meter = hidden()
    meter.charge_fetches(["tax_rate"])
    assert meter.bill_request([A, GONE, B]) == 100 + 10 + 200 + 300
    assert meter.bill_request([A, part("old**", 5), B]) == 305
    assert meter.fetched_tokens == 0


def test_what_never_stood_in_anything_is_not_missed() -> None:
    assert hidden().charge_fetches(["brand_new"]) == 0


def test_a_name_that_stands_elsewhere_too_is_not_missed() -> None:
    meter = BillingMeter(CACHE, prefix=0, window=1_000)
    meter.add_arrival(OLD)
    other = part("other", 50, "tax_rate")
    meter.bill_request([OLD, other])
    meter.bill_request([GONE, other])
    assert meter.charge_fetches(["tax_rate"]) == 0
    assert meter.charge_fetches(["net_total"]) == 1


def test_what_the_agent_itself_just_wrote_is_not_missed() -> None:
    meter = BillingMeter(CACHE, prefix=0, window=1_000)
    meter.bill_request([A])
    # Its own answer has come, but no request has held it yet.
    meter.add_arrival(part("own", 20, "new_name"))
    assert meter.charge_fetches(["new_name"]) == 0
    assert meter.cost().fetches == 0


def test_what_was_fetched_leaves_with_the_next_break_and_has_to_be_fetched_again() -> None:
    meter = hidden()
    assert meter.charge_fetches(["tax_rate"]) == 1
    assert meter.charge_fetches(["tax_rate"]) == 0
    meter.bill_request([A, part("old**", 5), B])
    assert meter.charge_fetches(["tax_rate"]) == 1


def test_a_name_is_seen_while_it_stands_in_the_last_request() -> None:
    meter = BillingMeter(CACHE, prefix=0, window=1_000)
    one, other = part("x", 1, "name", "shared"), part("y", 1, "shared")
    assert not meter.is_visible("name")
    meter.bill_request([one, other])
    assert (meter.is_visible("name"), meter.is_visible("shared"), meter.is_visible("else")) == (
        True,
        True,
        False,
    )
    meter.bill_request([other])
    assert (meter.is_visible("name"), meter.is_visible("shared")) == (False, True)
