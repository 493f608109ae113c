import pytest
from msgspec.structs import replace

from holdfast.core.ledger.summary import Decision, Intent, Next, Quote, Summary
from holdfast.core.observe.scene import read_scene
from holdfast.core.observe.worth import Likely
from holdfast.core.shrink.summary.cut import Cut
from holdfast.core.shrink.summary.fit import Room, fit
from holdfast.core.verify.widen import probed
from tests.core.building import named, words

NOTHING_STAYS = Cut((), [], 0, 0)
PLACES = ("Paris", "Lima", "Oslo", "Quito", "Cairo", "Delhi", "Hanoi", "Minsk", "Tunis", "Accra")
DECISIONS = tuple(
    Decision(f"stay two nights in {place}", named(10 + at), f"the train to {place} is early")
    for at, place in enumerate(PLACES)
)
KNOWN = Summary(
    intent=Intent(Quote("Plan the trip.", named(1))),
    decisions=DECISIONS,
    next=(Next("book the hotels", named(30)), Next("print the tickets", named(30))),
)
ROOM = Room(600, words, Likely(read_scene([]), {}), session="s")


@pytest.mark.seed("R324")
def test_a_probe_that_fails_gives_its_own_section_more_room_and_no_other() -> None:
    narrow = fit(KNOWN, ROOM).summary
    widened, score = probed(KNOWN, NOTHING_STAYS, ROOM)
    assert narrow.decisions == DECISIONS[-3:]
    assert widened.summary.decisions == DECISIONS
    assert replace(widened.summary, decisions=()) == replace(narrow, decisions=())
    assert widened.tokens <= ROOM.tokens
    assert score.met


def test_where_every_probe_is_answered_the_summary_stays_as_it_was_fitted() -> None:
    few = replace(KNOWN, decisions=DECISIONS[-3:])
    made, score = probed(few, NOTHING_STAYS, ROOM)
    assert (made, score.met) == (fit(few, ROOM), True)
