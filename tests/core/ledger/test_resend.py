import pytest

from holdfast.core.ledger.append import Arrival, Draft, append_arrivals, derived_entry
from holdfast.core.ledger.chain import meaning
from holdfast.core.ledger.entry import (
    Compacted,
    Compressed,
    Said,
    Source,
    Step,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.resend import ResendMatch, match_resent, results_without_call
from holdfast.core.ledger.window import Window, fold

ASKED, DONE = Said("user", "go"), Said("assistant", "done")
CALLS = ToolCalled("c1", "f", "{}"), ToolCalled("c2", "f", "{}")
RESULTS = ToolReturned("c1", "one"), ToolReturned("c2", "two")
TALK: list[Source] = [ASKED, *CALLS, *RESULTS, DONE]
ENTRIES = append_arrivals(Head(), [Arrival(b"", tuple(Draft(body) for body in TALK))]).entries
IDS = [entry.id for entry in ENTRIES]


def laid(resent: list[Source], window: Window | None = None) -> ResendMatch:
    """How a resent history lies on the talk."""
    known = fold(ENTRIES) if window is None else window
    return match_resent(known, resent, [meaning(body) for body in resent])


def test_the_same_history_is_known_to_its_end() -> None:
    assert laid(TALK) == ResendMatch(6, (1, 2, 3, 4, 5, 6), IDS[5], 0)


def test_a_history_that_grew_is_known_up_to_its_tail() -> None:
    assert laid([*TALK, ASKED]) == ResendMatch(6, (1, 2, 3, 4, 5, 6), IDS[5], 0)


def test_a_shorter_history_leaves_the_rest_of_the_path() -> None:
    assert laid(TALK[:3]) == ResendMatch(3, (1, 2, 3), IDS[2], 3)


def test_a_history_that_goes_elsewhere_is_known_up_to_there() -> None:
    assert laid([ASKED, DONE]) == ResendMatch(1, (1,), IDS[0], 5)


def test_nothing_resent_is_nothing_known() -> None:
    assert laid([]) == ResendMatch(0, (), None, 6)
    assert laid([ASKED], Window()) == ResendMatch(0, (), None, 0)


def test_results_of_parallel_calls_are_known_in_any_order() -> None:
    turned: list[Source] = [ASKED, *CALLS, RESULTS[1], RESULTS[0], DONE]
    assert laid(turned) == ResendMatch(6, (1, 2, 3, 5, 4, 6), IDS[5], 0)


def test_a_result_that_reads_otherwise_was_replaced_by_the_host() -> None:
    shown = ToolReturned("c1", "[see file]")
    resent: list[Source] = [ASKED, *CALLS, shown, RESULTS[1], DONE]
    assert laid(resent) == ResendMatch(6, (1, 2, 3, 4, 5, 6), IDS[5], 0, ((ENTRIES[3], shown),))


def test_a_result_of_another_call_is_not_known() -> None:
    resent: list[Source] = [ASKED, *CALLS, ToolReturned("c9", "x")]
    assert laid(resent) == ResendMatch(3, (1, 2, 3), IDS[2], 3)


def test_a_run_of_results_that_breaks_off_counts_up_to_its_last() -> None:
    resent: list[Source] = [ASKED, *CALLS, RESULTS[1], ASKED]
    assert laid(resent) == ResendMatch(4, (1, 2, 3, 5), IDS[4], 1)


def hidden(*steps: Step) -> Window:
    body = Compressed(steps, 0, 6)
    return fold([*ENTRIES, derived_entry(7, body, parent=IDS[5])])


def test_our_own_stand_in_is_what_it_stands_for() -> None:
    stand_in = Said("user", "[both read]")
    window = hidden(Step(tuple(IDS[1:5]), "summary", stand_in))
    assert laid([ASKED, stand_in, DONE], window) == ResendMatch(3, (1, 0, 6), IDS[5], 0)


def test_a_client_may_still_have_what_we_hid() -> None:
    window = hidden(Step(tuple(IDS[1:5]), "summary", Said("user", "[both read]")))
    assert laid(TALK, window) == ResendMatch(6, (1, 2, 3, 4, 5, 6), IDS[5], 0)


def test_what_was_removed_may_be_missing() -> None:
    window = hidden(Step((IDS[0],), "old"))
    assert laid(TALK[1:], window) == ResendMatch(5, (2, 3, 4, 5, 6), IDS[5], 0)


def test_what_a_host_compacted_away_may_be_missing() -> None:
    window = fold([*ENTRIES, derived_entry(7, Compacted(), parent=IDS[5])])
    assert laid([], window) == ResendMatch(0, (), IDS[5], 0)


SAME: list[Source] = [Said("user", "start"), ASKED, DONE, ASKED, DONE]
TWICE = append_arrivals(Head(), [Arrival(b"", tuple(Draft(body) for body in SAME))]).entries


@pytest.mark.parametrize("stand_in", [Said("user", "[went on]"), None], ids=["summary", "removed"])
def test_words_that_were_hidden_and_said_again_are_taken_for_those_in_sight(
    stand_in: Said | None,
) -> None:
    hidden = tuple(entry.id for entry in TWICE[:3])
    hiding = Compressed((Step(hidden, "old", stand_in),), 0, 5)
    window = fold([*TWICE, derived_entry(6, hiding, parent=TWICE[4].id)])
    before = [stand_in] if stand_in else []
    resent: list[Source] = [*before, ASKED, DONE, Said("user", "and on")]
    firsts = (0, 4, 5) if stand_in else (4, 5)
    assert laid(resent, window) == ResendMatch(len(firsts), firsts, TWICE[4].id, 0)


def test_a_result_recorded_before_its_call_is_an_original() -> None:
    early: list[Source] = [RESULTS[0], CALLS[0], CALLS[1], RESULTS[1], DONE]
    entries = append_arrivals(Head(), [Arrival(b"", tuple(Draft(body) for body in early))]).entries
    assert results_without_call(entries) == {"c1": RESULTS[0]}
