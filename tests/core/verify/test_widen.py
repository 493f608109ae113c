import pytest
from msgspec.structs import replace

from holdfast.core.ledger.summary import Decision, Intent, Next, Quote, Summary
from holdfast.core.shrink.summary.cut import Cut
from holdfast.core.shrink.summary.fit import SummaryRoom, fit_summary
from holdfast.core.verify.widen import fit_with_probes
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
ROOM = SummaryRoom(1_500, words, session="s")


@pytest.mark.seed("R324")
def test_a_probe_that_fails_gives_its_own_section_more_room_and_no_other() -> None:
    narrow = fit_summary(KNOWN, ROOM).summary
    widened, score = fit_with_probes(KNOWN, NOTHING_STAYS, ROOM)
    assert narrow.decisions == DECISIONS[-4:]
    assert widened.summary.decisions == DECISIONS[-8:]
    assert replace(widened.summary, decisions=()) == replace(narrow, decisions=())
    assert widened.tokens <= ROOM.tokens
    assert score.meets_targets


def test_where_every_probe_is_answered_the_summary_stays_as_it_was_fitted() -> None:
    few = replace(KNOWN, decisions=DECISIONS[-4:])
    made, score = fit_with_probes(few, NOTHING_STAYS, ROOM)
    assert (made, score.meets_targets) == (fit_summary(few, ROOM), True)
