"""A session that is over, gone through again: what it would have cost."""

import pytest
from msgspec.structs import replace

from holdfast.core.ledger.entry import Derived, Entry, Noted, role_of
from holdfast.core.measure.models import Model, find
from holdfast.core.measure.tokens import count_body
from holdfast.core.plan.policy import Policy, with_settings
from holdfast.core.plan.profiles import PROFILES
from holdfast.ingesting import ingest
from holdfast.replaying import Replayed, replay
from holdfast.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.vocabularies import counter
from tests.core.building import answer, ask, back, bash, entries, lines
from tests.input.making import LEDGERLY

SONNET = find("claude-sonnet-4-5")
SMALL = 60_000


@pytest.fixture(scope="module")
def bundled() -> list[Entry]:
    store = MemoryStore()
    return Session(ingest(LEDGERLY, store).session, store).path()


def replayed(
    of: list[Entry], profile: str = "ctx-001", limit: int = SMALL, model: Model = SONNET
) -> Replayed:
    policy = with_settings(Policy(), PROFILES[profile])
    return replay("s", of, policy=policy, model=model, limit=limit, prefix=2_000)


def requests_of(of: list[Entry]) -> int:
    """How often the agent began to speak."""
    roles = ["" if isinstance(e.body, Derived) else role_of(e.body) for e in of]
    before = ["", *roles]
    return sum(now == "assistant" != last for last, now in zip(before, roles, strict=False))


def test_every_request_of_the_session_is_counted_on_both_sides(bundled: list[Entry]) -> None:
    came = replayed(bundled)
    requests = requests_of(bundled)
    assert requests > 40
    assert (len(came.none.sizes), len(came.ours.sizes)) == (requests, requests)
    assert (came.none.requests, came.ours.requests) == (requests, requests + came.ours.fetches)


def test_without_compression_the_whole_session_is_sent_and_nothing_breaks(
    bundled: list[Entry],
) -> None:
    came = replayed(bundled)
    count = counter(SONNET.vocabulary)
    tokens = [count_body(e.body, count) for e in bundled if not isinstance(e.body, Derived)]
    assert came.tokens == sum(tokens)
    assert (came.none.breaks, came.none.fetches, came.none.fetched) == (0, 0, 0.0)
    assert list(came.none.sizes) == sorted(came.none.sizes)
    assert came.none.peak < 2_000 + came.tokens


@pytest.mark.seed("R010", "R329")
def test_a_small_window_is_kept_small_and_the_task_costs_less(bundled: list[Entry]) -> None:
    came = replayed(bundled)
    assert came.compressions > 0
    assert came.ours.breaks <= came.compressions
    assert came.ours.peak < came.none.peak
    assert came.ratio == came.ours.billed / came.none.billed < 1


def test_the_same_session_comes_to_the_same_twice(bundled: list[Entry]) -> None:
    assert replayed(bundled) == replayed(bundled)


def test_under_the_profile_off_nothing_is_changed_and_nothing_saved(bundled: list[Entry]) -> None:
    came = replayed(bundled, "off")
    assert (came.ours, came.ratio) == (came.none, 1.0)
    assert (came.compressions, came.postponed) == (0, 0)


@pytest.mark.seed("R335")
def test_under_stress_there_are_more_compressions(bundled: list[Entry]) -> None:
    assert replayed(bundled, "stress").compressions > replayed(bundled).compressions


def test_what_was_derived_before_is_not_replayed(bundled: list[Entry]) -> None:
    noted = replace(bundled[-1], body=Noted("model", {"model": "x"}), seq=bundled[-1].seq + 1)
    assert replayed([*bundled, noted]) == replayed(bundled)


def test_progress_is_told_on_the_way(bundled: list[Entry]) -> None:
    told: list[int] = []
    replay("s", bundled, policy=Policy(), model=SONNET, limit=SMALL, progress=told.append)
    assert told == list(range(0, len(bundled), 50))


def test_a_session_in_which_no_agent_speaks_costs_nothing() -> None:
    came = replayed(entries(ask("Hello?")))
    assert (came.none.requests, came.ours.requests, came.ratio) == (0, 0, 1.0)


@pytest.mark.seed("R011", "R329")
def test_a_name_that_is_used_after_it_left_is_charged_and_one_in_sight_is_not() -> None:
    def session(later: str) -> list[Entry]:
        hidden = f"{lines(9_000)}\nvery_last_secret\n{lines(9_000, 'col')}"
        return entries(
            ask("Look."),
            bash("a", "show"),
            back("a", hidden),
            answer("I see."),
            ask("And?"),
            answer(later),
        )

    model = replace(SONNET, exact=True)
    plain = replayed(session("Nothing."), limit=1_000_000, model=model)
    assert (plain.compressions, plain.ours.fetches) == (1, 0)
    assert replayed(session("col it."), limit=1_000_000, model=model).ours.fetches == 0
    asked = replayed(session("very_last_secret it is."), limit=1_000_000, model=model)
    assert asked.ours.fetches == 1
    assert asked.none.fetches == 0
