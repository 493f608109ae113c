import pytest

from holdfast.core.measure.bill import Cost, Frame, Meter, Part
from holdfast.core.measure.models import Cache

CACHE = Cache(read=0.1, write=1.25)


def part(key: str, tokens: int, *names: str) -> Part:
    return Part(key, tokens, frozenset(names))


A, B, C = part("a", 100), part("b", 200), part("c", 400)


def metered(*requests: list[Part], prefix: int = 0, window: int = 1_000) -> Cost:
    meter = Meter(CACHE, prefix=prefix, window=window)
    for parts in requests:
        assert meter.request(parts) == prefix + sum(one.tokens for one in parts)
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
    meter = Meter(CACHE, prefix=5, window=1_000)
    assert meter.request([A], Frame(300)) == 400
    assert meter.request([A, B], Frame(500)) == 800
    assert meter.request([A, B], Frame(100)) == 400
    assert meter.request([A, B]) == 400
    written, read = 400 + (200 + 200), (100 + 300) + 400 + 400
    assert meter.cost().billed == pytest.approx(written * 1.25 + read * 0.1)


def test_parts_that_were_not_all_sent_are_billed_by_their_share() -> None:
    meter = Meter(CACHE, prefix=0, window=1_000)
    assert meter.request([A, B], Frame(0, 0.5)) == 150
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
    assert Meter(CACHE, prefix=9, window=9).cost() == Cost(0, 0.0, 0, 0, 0, 0, 0.0)


OLD = part("old", 300, "tax_rate", "net_total")
GONE = part("old*", 10)


def hidden() -> Meter:
    """A meter to which something came that is out of sight by now."""
    meter = Meter(CACHE, prefix=0, window=1_000)
    meter.arrived(OLD)
    meter.request([A, OLD])
    assert meter.used(["tax_rate"]) == 0
    meter.request([A, GONE])
    return meter


@pytest.mark.seed("R011", "R329")
def test_what_is_used_out_of_sight_is_fetched_once_and_paid_for() -> None:
    meter = hidden()
    before = meter.cost()
    assert meter.used(["tax_rate", "net_total", "never_seen"]) == 1
    found = meter.cost()
    assert (found.fetches, found.requests, meter.again) == (1, before.requests + 1, 300)
    assert found.fetched == pytest.approx(0.1 * 110 + 1.25 * 300)
    assert found.billed - before.billed == pytest.approx(found.fetched)
    assert meter.used(["tax_rate"]) == 0


def test_what_was_fetched_is_read_by_later_requests_until_something_changes() -> None:
    meter = hidden()
    meter.used(["tax_rate"])
    assert meter.request([A, GONE, B]) == 100 + 10 + 200 + 300
    assert meter.request([A, part("old**", 5), B]) == 305
    assert meter.again == 0


def test_what_never_stood_in_anything_is_not_missed() -> None:
    assert hidden().used(["brand_new"]) == 0


def test_a_name_that_stands_elsewhere_too_is_not_missed() -> None:
    meter = Meter(CACHE, prefix=0, window=1_000)
    meter.arrived(OLD)
    other = part("other", 50, "tax_rate")
    meter.request([OLD, other])
    meter.request([GONE, other])
    assert meter.used(["tax_rate"]) == 0
    assert meter.used(["net_total"]) == 1


def test_what_the_agent_itself_just_wrote_is_not_missed() -> None:
    meter = Meter(CACHE, prefix=0, window=1_000)
    meter.request([A])
    # Its own answer has come, but no request has held it yet.
    meter.arrived(part("own", 20, "new_name"))
    assert meter.used(["new_name"]) == 0
    assert meter.cost().fetches == 0


def test_what_was_fetched_leaves_with_the_next_break_and_has_to_be_fetched_again() -> None:
    meter = hidden()
    assert meter.used(["tax_rate"]) == 1
    assert meter.used(["tax_rate"]) == 0
    meter.request([A, part("old**", 5), B])
    assert meter.used(["tax_rate"]) == 1


def test_a_name_is_seen_while_it_stands_in_the_last_request() -> None:
    meter = Meter(CACHE, prefix=0, window=1_000)
    one, other = part("x", 1, "name", "shared"), part("y", 1, "shared")
    assert not meter.sees("name")
    meter.request([one, other])
    assert (meter.sees("name"), meter.sees("shared"), meter.sees("else")) == (True, True, False)
    meter.request([other])
    assert (meter.sees("name"), meter.sees("shared")) == (False, True)
