"""A session that is over, gone through again: what it would have cost."""

import pytest
from msgspec.structs import replace

from holdfast.core.ledger.entry import Derived, Entry, Noted, role_of
from holdfast.core.ledger.window import fold
from holdfast.core.measure.models import Model, find_model
from holdfast.core.measure.tokens import count_body
from holdfast.core.plan.policy import PROFILES, Policy, with_settings
from holdfast.core.view.replay import ReplayCosts
from holdfast.engine.replay import Replay, replay
from holdfast.models.tokenizers import counter
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.transcripts.ingest import ingest
from tests.core.building import answer, ask, back, bash, entries, lines
from tests.input.making import LEDGERLY

SONNET = find_model("claude-sonnet-4-5")
SMALL = 60_000


@pytest.fixture(scope="module")
def bundled() -> list[Entry]:
    store = MemoryStore()
    return Session(ingest(LEDGERLY, store).session, store).ledger.path()


def replayed(
    of: list[Entry], profile: str = "ctx-001", limit: int = SMALL, model: Model = SONNET
) -> ReplayCosts:
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
    assert (came.none.breaks, came.none.fetches, came.none.fetched) == (0, 0, 0.0)
    assert list(came.none.sizes) == sorted(came.none.sizes)
    assert came.none.peak < 2_000 + sum(tokens)


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


@pytest.mark.seed("R062", "R182")
def test_a_window_that_only_a_summary_can_shrink_is_summarized_and_the_summary_scored() -> None:
    told: list[Entry] = entries(
        ask("Count the rows of every part."),
        *(
            body
            for at in range(120)
            for body in (
                answer(f"Part {at}: {' '.join(f'row_{at}_{n}' for n in range(20))}"),
                ask(f"And part {at + 1}?"),
            )
        ),
        answer("row_1_3 was the first that differed."),
        ask("Then fix row_119_7."),
        answer("row_119_7 is fixed."),
    )
    came = replayed(told, limit=20_000, model=replace(SONNET, exact=True))
    assert came.scores
    assert came.ours.peak < came.none.peak
    assert all(0 <= score <= 5 for one in came.scores for score in one.to_dict().values())
    assert 0 <= came.seen <= came.used


def test_a_name_that_left_and_is_used_again_is_counted_once_and_only_seen_if_in_sight() -> None:
    def rows(at: int) -> str:
        return "\n".join(["wanted_row", *(f"value_{at}_{n} = {n}" for n in range(250))])

    def session(*later: str) -> list[Entry]:
        read = [
            part
            for at in range(12)
            for part in (
                bash(f"c{at}", f"cat part_{at}.txt"),
                back(f"c{at}", rows(at)),
            )
        ]
        said = [part for words in later for part in (answer(words), ask("Go on."))]
        return entries(ask("Find wanted_row."), *read, answer("I see."), ask("Well?"), *said)

    def counted(*later: str) -> tuple[int, int]:
        came = replayed(session(*later), limit=32_000, model=replace(SONNET, exact=True))
        assert came.compressions > 0
        return came.used, came.seen

    assert counted("Nothing.", "Nothing.") == (0, 0)
    assert counted("value_2_125 it is.", "value_2_125 again.") == (1, 0)
    assert counted("unheard_of_1 it is.") == (0, 0)
    assert counted("wanted_row it is.") == (1, 1)


def test_the_window_of_a_replay_is_the_one_that_its_ledger_folds_to(bundled: list[Entry]) -> None:
    turned = 0
    for profile in ("ctx-001", "stress"):
        policy = with_settings(Policy(), PROFILES[profile])
        running = Replay(policy, SONNET, SMALL, 2_000)
        for entry in bundled:
            running.add(entry)
        assert running.window == fold(running.window.ledger)
        turned += running.window.generation
    assert turned > 2
