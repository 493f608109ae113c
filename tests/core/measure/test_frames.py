from holdfast.core.ledger.append import derived_entry
from holdfast.core.ledger.entry import Compacted, Derived, Entry, Used
from holdfast.core.measure.bill import RequestFrame
from holdfast.core.measure.frames import (
    Report,
    ReportedTotals,
    frame_of,
    reported_totals,
    reports_of,
)
from tests.core.building import answer, ask, entries

PATH = entries(ask("one"), answer("two"), ask("three"), answer("four"))
COUNTS = {entry.id: 100 for entry in PATH}


def note(body: Derived, at: int, seq: int = 50) -> Entry:
    """Something about the session up to the entry of the path with that number."""
    return derived_entry(seq, body, parent=PATH[at].id, lane="", at="")


def test_a_report_before_the_answer_and_one_behind_it_are_about_the_same_request() -> None:
    before, behind = note(Used(900, 900), 2), note(Used(950, 900), 3)
    expected = [Report(PATH[3].id, 900, raw=300)]
    assert reports_of(PATH, [before], COUNTS) == expected
    assert reports_of(PATH, [behind], COUNTS) == expected


def test_of_several_reports_on_one_answer_the_largest_is_its_size() -> None:
    notes = [note(Used(700, 700), 1), note(Used(900, 900), 1), note(Used(800, 800), 1)]
    assert [report.tokens for report in reports_of(PATH, notes, COUNTS)] == [900]


def test_what_the_agents_program_dropped_is_not_in_sight_of_later_requests() -> None:
    dropped = note(Compacted("auto", keeps=(PATH[0].id,)), 1)
    (report,) = reports_of(PATH, [dropped, note(Used(900, 900), 2, seq=51)], COUNTS)
    assert (report.raw, report.dropped) == (200, 100)


def test_reports_on_what_is_not_on_the_path_are_about_none_of_its_requests() -> None:
    elsewhere = derived_entry(50, Used(900, 900), parent="0" * 32, lane="", at="")
    assert reports_of(PATH, [elsewhere], COUNTS) == []
    assert reported_totals([elsewhere]) == ReportedTotals(1, 900)


def test_a_request_that_was_reported_twice_counts_once() -> None:
    first, again = Used(700, 700, request="r"), Used(900, 900, request="r")
    assert reported_totals([note(first, 1), note(again, 1, seq=51)]) == ReportedTotals(1, 900)
    assert reported_totals([note(Used(0), 1)]) == ReportedTotals()


def test_a_frame_is_what_the_provider_counted_beyond_the_entries_or_the_share_it_saw() -> None:
    assert frame_of(Report("r", 900), 300) == RequestFrame(600)
    assert frame_of(Report("r", 300), 600) == RequestFrame(0, 0.5)
    assert frame_of(Report("r", 0), 0) == RequestFrame(0)
