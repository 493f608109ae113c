"""Retention removes what was left long ago, and nothing young whatever the clock says:
catalogue D11 and S04."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.plan.policy import Policy, Retention
from holdfast.engine.purge.retention import DAY_SECONDS, is_due, retain
from holdfast.errors import Erased
from holdfast.session.open import open as open_session
from holdfast.session.open import open_store
from holdfast.session.resume import resume
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from holdfast.stores.store import Store
from tests.contracts.test_erasing import called, returned
from tests.examples import examples

NOW = 1_800_000_000
YEARS = 10 * 365 * DAY_SECONDS
TEN = Policy(retention=Retention(days=10))
AT = "2027-01-15T08:00:00Z"


@pytest.fixture
def store() -> Iterator[Store]:
    with MemoryStore() as made:
        yield made


def say(store: Store, name: str, text: str = "hello") -> None:
    Session(name, store, owns_store=False).append({"role": "user", "content": text})


def names(store: Store) -> list[str]:
    return sorted(listed.name for listed in store.sessions())


def look(store: Store, now: int, policy: Policy = TEN) -> list[str]:
    return [one.session for one in retain(store, policy, "", now, at=AT)]


def test_a_session_that_was_left_for_so_many_days_is_removed_and_a_newer_one_stays(
    store: Store,
) -> None:
    say(store, "old")
    gone: dict[int, list[str]] = {}
    for day in range(14):
        say(store, "new", f"day {day}")
        gone[day] = look(store, NOW + day * DAY_SECONDS)
    assert {day: found for day, found in gone.items() if found} == {10: ["old"]}
    assert names(store) == ["new"]


def test_a_session_stays_as_long_as_one_that_goes_on_from_it(store: Store) -> None:
    say(store, "old", "Build the importer.")
    say(store, "other")
    with Session("old", store, owns_store=False) as old:
        resume(old, as_="next").close()
    gone: dict[int, list[str]] = {}
    for day in range(24):
        if day < 10:
            say(store, "next", f"day {day}")
        say(store, "new", f"day {day}")
        gone[day] = look(store, NOW + day * DAY_SECONDS)
    found = {day: names for day, names in gone.items() if names}
    assert found == {10: ["other"], 19: ["old", "next"]}


def test_the_newest_session_is_never_removed(store: Store) -> None:
    say(store, "only")
    for day in range(40):
        assert look(store, NOW + day * DAY_SECONDS) == []


@pytest.mark.parametrize("jump", [YEARS, -400 * DAY_SECONDS, -3600, -YEARS])
def test_a_clock_that_jumps_removes_nothing_young(store: Store, jump: int) -> None:
    say(store, "young")
    say(store, "newer")
    gone = [look(store, NOW), look(store, NOW + jump), look(store, NOW + jump + DAY_SECONDS)]
    gone += [look(store, NOW + 2 * DAY_SECONDS), look(store, NOW + 3 * DAY_SECONDS)]
    assert gone == [[], [], [], [], []]
    assert names(store) == ["newer", "young"]


def test_times_that_entries_were_given_do_not_matter(store: Store) -> None:
    for name, at in (("past", "1999-01-01T00:00:00Z"), ("future", "2099-01-01T00:00:00Z")):
        session = Session(name, store, clock=lambda at=at: at, owns_store=False)
        session.append({"role": "user", "content": "hello"})
    say(store, "newest")
    assert [look(store, NOW + day * DAY_SECONDS) for day in range(9)] == [[]] * 9


def test_a_session_that_is_taken_up_again_begins_to_age_anew(store: Store) -> None:
    say(store, "old")
    say(store, "other")
    for day in range(8):
        look(store, NOW + day * DAY_SECONDS)
    say(store, "old", "again")
    say(store, "newest")
    gone = {day: look(store, NOW + day * DAY_SECONDS) for day in range(8, 20)}
    assert {day: found for day, found in gone.items() if found} == {10: ["other"], 18: ["old"]}


@settings(max_examples=examples(60))
@given(st.lists(st.integers(-YEARS, YEARS), min_size=1, max_size=9))
def test_no_nine_looks_with_any_clock_remove_what_is_younger_than_ten_days(
    clocks: list[int],
) -> None:
    store = MemoryStore()
    say(store, "young")
    say(store, "newest")
    for clock in clocks:
        assert look(store, NOW + clock) == []


def test_a_look_is_due_once_a_day_and_only_where_something_is_to_expire(store: Store) -> None:
    say(store, "s")
    rules = TEN.retention
    assert (is_due(store, Retention(), NOW), is_due(store, rules, NOW)) == (False, True)
    look(store, NOW)
    assert not is_due(store, rules, NOW + DAY_SECONDS - 1)
    assert is_due(store, rules, NOW + DAY_SECONDS)
    # Set back: were it not noted, nothing would age until the clock has caught up.
    assert is_due(store, rules, NOW - 60)


def test_a_ledger_that_is_too_large_loses_the_sessions_left_longest(store: Store) -> None:
    for name in "abcd":
        say(store, name, Random(name).randbytes(330_000).hex())  # as it stands, not packed
    small = Policy(retention=Retention(megabytes=1))
    assert look(store, NOW, small) == []
    assert look(store, NOW + DAY_SECONDS, small) == ["a", "b"]
    assert (names(store), store.size() <= 1_000_000) == (["c", "d"], True)


def test_what_is_in_use_stays_however_large_the_ledger_is(store: Store) -> None:
    small = Policy(retention=Retention(megabytes=1))
    for day in range(5):
        for name in "abc":
            say(store, name, f"{name}{day}" * 200_000)
        assert look(store, NOW + day * DAY_SECONDS, small) == []


def test_a_look_without_consequences_changes_nothing(store: Store) -> None:
    say(store, "old")
    say(store, "new")
    for day in range(10):
        look(store, NOW + day * DAY_SECONDS)
    looks = store.retention_checks()
    found = retain(store, TEN, "", NOW + 10 * DAY_SECONDS, at=AT, dry=True)
    assert [one.session for one in found] == ["old"]
    assert (names(store), store.retention_checks()) == (["new", "old"], looks)


READ = """
import sys, holdfast
with holdfast.open("s", root=sys.argv[1]) as session:
    print(session.read(sys.argv[2]), end="")
"""


def test_a_reference_resolves_until_it_expires_and_then_names_the_call(tmp_path: Path) -> None:
    """Restart, another process, thirty days later; after retention, what to run again."""
    token = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    text = "first line\nsecond line"
    with open_session("s", root=tmp_path) as session:
        session.extend(
            [
                {"role": "user", "content": "Look."},
                called("c1", f"curl -H 'Authorization: Bearer {token}' https://api.test/log"),
                returned("c1", text),
                {"role": "assistant", "content": "Seen."},
            ]
        )
        ref = session.ledger.path()[2].id[:12]
    ran = [sys.executable, "-c", READ, str(tmp_path), ref]
    assert subprocess.run(ran, check=True, capture_output=True, text=True).stdout == text
    with open_store(tmp_path) as store:
        say(store, "newer")
        late = Session("s", store, clock=lambda: "2027-02-15T08:00:00Z", owns_store=False)
        assert late.read(ref) == text
        gone = [look(store, NOW + day * DAY_SECONDS) for day in range(11)]
        assert gone[-1] == ["s"]
        with pytest.raises(Erased) as caught:
            Session("newer", store, owns_store=False).read(ref)
    told = caught.value
    assert (told.reason, told.size, told.at) == ("expired", len(text), AT)
    assert told.again.startswith("Bash `curl -H 'Authorization: Bearer [redacted:")
    assert token not in str(told)
    assert str(told).startswith(
        f"entry '{ref}' expired on 2027-01-15 (22 bytes); re-run Bash `curl"
    )
