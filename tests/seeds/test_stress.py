"""The four tests that the first document recommends, at a quarter and at a tenth of the window."""

import json

import pytest

from holdfast.core.ledger.entry import Compressed, Derived, text_of
from holdfast.core.plan.policy import Policy, with_settings
from holdfast.project.settings import PROFILES
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore
from tests.reliability.chains import CORRECTIONS, RULES, fact, turn

TURNS = 30
SHARES = (0.25, 0.10)


def worked(policy: Policy) -> Session:
    """A session of many turns, each sent as an agent would send it."""
    session = Session("s", MemoryStore(), policy=policy)
    for number in range(1, TURNS + 1):
        session.extend(turn(number))
        session.messages()
    return session


def compressed(share: float) -> Session:
    """The same, brought down to a share of what it was."""
    session = worked(Policy(model="gpt-5"))
    session.compact(int(session.status().tokens * share))
    return session


def made(session: Session) -> list[Compressed]:
    bodies = (entry.body for entry in session.store.read(session.name))
    return [body for body in bodies if isinstance(body, Compressed)]


@pytest.mark.seed("R335")
def test_a_session_under_stress_is_compressed_from_a_quarter_of_its_window_on() -> None:
    small = {"model": "gpt-5", "window": 24_000, "reserve": 2_000}
    stress = worked(with_settings(Policy(), {**PROFILES["stress"], **small}))
    calm = worked(with_settings(Policy(), small))
    assert len(made(stress)) > len(made(calm))
    first = next(body for body in made(stress) if body.summary is not None)
    assert 0.25 <= first.before / stress.ledger.limit() < 0.5
    assert not any(body.summary for body in made(calm)[:1])


@pytest.mark.seed("R336")
@pytest.mark.parametrize("share", SHARES)
def test_every_fact_can_be_recovered_after_a_compression(share: float) -> None:
    session = compressed(share)
    for number in range(1, TURNS + 1):
        found = session.recover(f"release id of part {number} {fact(number)}", limit=3)
        assert [hit for hit in found if fact(number) in hit.text] != []
    hidden = {name for body in made(session) for step in body.steps for name in step.hides}
    said = {e.id: text_of(e.body) for e in session.ledger.path() if not isinstance(e.body, Derived)}
    assert hidden
    assert [name for name in hidden if session.read(name) != said[name]] == []


@pytest.mark.seed("R337")
@pytest.mark.parametrize("share", SHARES)
def test_the_task_goes_on_after_a_compression(share: float) -> None:
    session = compressed(share)
    window = json.dumps(session.messages())
    first, latest = turn(1)[0]["content"], turn(TURNS)[0]["content"]
    held = [text for number, text in {**RULES, **CORRECTIONS}.items() if number <= TURNS]
    assert [text for text in (first, latest, *held) if json.dumps(text)[1:-1] not in window] == []
    intent = session.intent()
    assert (intent.original.text, intent.current.text) == (first, latest)
    assert [number for number in (1, 2, 3) if first[:40] not in session.level(number)] == []


@pytest.mark.seed("R338")
@pytest.mark.parametrize("share", SHARES)
def test_leaving_the_goal_is_noticed_and_going_on_is_not(share: float) -> None:
    session = compressed(share)
    on = f"Part {TURNS} is done; next I look at src/part_{TURNS % 20}.py again."
    off = "What would you like me to work on? I do not have any task at the moment."
    assert session.drift(on).status == "ALIGNED"
    assert session.drift(off).status == "DRIFT_DETECTED"
