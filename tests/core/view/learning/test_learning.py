"""Records of tasks, what they add up to, and when they say nothing yet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.entry import Entry, PacketRead, PacketReported, PacketSent
from holdfast.core.ledger.packet import Choice, Feedback, Outcome, Packet
from holdfast.core.ledger.packet_tuning import Recommendation, Tunings
from holdfast.core.view.packet_stats.efficiency import (
    Efficiency,
    TaskShare,
    error_of_mean,
    mean,
    measure_efficiency,
    median,
    render_share,
)
from holdfast.core.view.packet_stats.measures import compare_measures, split_records
from holdfast.core.view.packet_stats.recommend import (
    is_same_recommendation,
    recommend,
    render_recommendation,
)
from holdfast.core.view.packet_stats.records import (
    TaskRecord,
    gap_label,
    group_gaps,
    names_section,
    says_no_gap,
    task_records,
)
from holdfast.core.view.packet_stats.report import headline_lines, render_stats, stats_document
from holdfast.engine.recover import stemmer
from tests.core.building import named

stems = stemmer()


def known(*records: TaskRecord) -> Efficiency:
    return measure_efficiency(records, stems=stems)


def tasks(
    count: int,
    *,
    sent: int = 400,
    outcome: Outcome = "done",
    gaps: tuple[str, ...] = (),
    unused: tuple[str, ...] = (),
    kind: str = "feature",
    tuning: int = 0,
    at: str = "",
    used: int = 0,
) -> list[TaskRecord]:
    one = TaskRecord(
        sent,
        outcome,
        gaps,
        unused,
        kind,
        used,
        sections=("decisions", "failed_attempts"),
        tuning=tuning,
        at=at,
    )
    return [one] * count


# How often, and how surely.


@given(st.integers(0, 200), st.integers(0, 200))
def test_a_share_lies_within_its_bounds_and_more_tasks_draw_them_closer(
    hits: int, more: int
) -> None:
    share = TaskShare(hits, hits + more)
    assert 0.0 <= share.low <= share.high <= 1.0
    if share.of:
        assert share.low - 1e-9 <= share.rate <= share.high + 1e-9
        wider = TaskShare(hits * 4, share.of * 4)
        assert wider.high - wider.low <= share.high - share.low + 1e-9


def test_wilson_bounds_are_those_of_the_books() -> None:
    share = TaskShare(8, 10)
    assert (round(share.low, 3), round(share.high, 3)) == (0.49, 0.943)
    assert render_share(share) == "80% (49%-94%, 8 of 10)"
    assert render_share(TaskShare(0, 0)) == "no task yet"


def test_nothing_seen_may_be_anything() -> None:
    assert (TaskShare(0, 0).low, TaskShare(0, 0).high) == (0.0, 1.0)
    assert not TaskShare(1, 1).surely_above(TaskShare(0, 1))
    assert TaskShare(30, 30).surely_above(TaskShare(0, 30))


def test_averages_of_few_values_are_off_by_anything() -> None:
    assert (mean([]), median([]), median([1, 3]), median([1, 2, 9])) == (0.0, 0.0, 2.0, 2)
    assert error_of_mean([1.0]) == float("inf")
    assert error_of_mean([2.0, 2.0]) == 0.0


# Gaps in other words.


WORDINGS = (
    "Needed: existing error handling patterns",
    "error handling",
    "how errors are handled",
    "Missing: testing approach (unit vs integration)",
    "the testing approach",
)


@given(st.permutations(WORDINGS))
def test_a_gap_in_other_words_is_the_same_gap_in_any_order(order: list[str]) -> None:
    gaps = group_gaps(order, stems)
    assert [gap.label for gap in gaps] == ["testing approach", "error handling"]
    assert sorted(len(gap.wordings) for gap in gaps) == [2, 3]


@pytest.mark.parametrize(
    "text", ["none", "N/A", "No gaps", "no context gaps.", "", " - ", "Needed:"]
)
def test_no_gap_is_not_counted(text: str) -> None:
    assert says_no_gap(text)
    assert group_gaps([text], stems) == ()


def test_different_things_are_different_gaps() -> None:
    gaps = group_gaps(["database schema", "deployment keys", "the database password"], stems)
    assert len(gaps) == 3


def test_words_that_say_nothing_are_a_gap_all_the_same() -> None:
    assert gap_label("more context") == "context"
    assert len(group_gaps(["more context"], stems)) == 1


# What records add up to.


@pytest.mark.seed("R269")
def test_the_report_has_the_protocols_three_lines() -> None:
    records = [
        *tasks(67, sent=380),
        *tasks(13, sent=380, outcome="failed"),
        *tasks(12, sent=380, gaps=("testing approach",)),
        *tasks(8, sent=380, gaps=("Needed: error handling",)),
    ]
    assert list(headline_lines(known(*records))) == [
        "Average context size: 380 tokens",
        "Worker success rate: 87%",
        "Top context gaps: testing approach (12%), error handling (8%)",
    ]


@pytest.mark.seed("R266")
def test_the_least_that_did_as_well_is_enough_for_its_kind_alone() -> None:
    records = [*tasks(20, sent=150), *tasks(20, sent=390), *tasks(3, sent=90, kind="docs")]
    kinds = {kind.task_type: kind.enough for kind in known(*records).kinds}
    assert kinds == {"feature": 200, "docs": 0}


def test_less_that_did_worse_is_not_enough() -> None:
    records = [*tasks(12, sent=90), *tasks(8, sent=90, outcome="failed"), *tasks(40, sent=390)]
    assert known(*records).kinds[0].enough == 400


def test_a_few_tasks_say_nothing_of_what_is_enough() -> None:
    assert known(*tasks(5, sent=90)).kinds[0].enough == 0
    assert known(*tasks(20, sent=90, outcome="failed")).kinds[0].enough == 0


@pytest.mark.seed("R267")
def test_what_nobody_needs_is_usually_unused_once_that_is_sure() -> None:
    idle = "Received: failed_attempts (didn't reference)"
    few, many = known(*tasks(3, unused=(idle,))), known(*tasks(12, unused=(idle,)))
    assert [(row.section, row.usual) for row in few.unused] == [("failed_attempts", False)]
    assert [(row.section, row.usual) for row in many.unused] == [("failed_attempts", True)]


@pytest.mark.parametrize(
    ("words", "section", "meant"),
    [
        ("failed attempts", "failed_attempts", True),
        ("the list of files", "relevant_files", True),
        ("decision about JWT", "decisions", True),
        ("patterns", "decisions", False),
    ],
)
def test_a_worker_names_a_part_in_its_own_words(words: str, section: str, meant: bool) -> None:
    assert names_section(words, section, stems) is meant


@pytest.mark.seed("R268")
def test_a_gap_goes_with_failures_when_tasks_with_it_surely_fail_more() -> None:
    found = known(
        *tasks(30), *tasks(10, gaps=("api keys",), outcome="failed"), *tasks(10, gaps=("wording",))
    )
    assert {row.gap.label: row.fails for row in found.gaps} == {"api keys": True, "wording": False}


def test_two_failures_prove_nothing() -> None:
    found = known(*tasks(2), *tasks(2, gaps=("api keys",), outcome="failed"))
    assert [row.fails for row in found.gaps] == [False]


# Records off the ledger.


def entry(number: int, body: PacketSent | PacketRead | PacketReported, at: str = "") -> Entry:
    return Entry(named(number), None, body, number, at=at)


def test_what_was_said_of_one_packet_is_one_task_with_its_last_outcome() -> None:
    packet = Packet(
        token_count=350,
        task_type="fix",
        depth="standard",
        edited=("goal",),
        decisions=(Choice("Use JWT"),),
    )
    told = [
        entry(1, PacketSent(packet)),
        entry(2, PacketRead(named(1), "pane-1")),
        entry(3, PacketReported(Feedback(("keys",), packet=named(1), outcome="blocked"))),
        entry(
            4,
            PacketReported(
                Feedback(("keys", "urls"), packet=named(1), outcome="done", tokens_used=9)
            ),
            at="2026-01-02",
        ),
    ]
    tunings = Tunings(active=2, versions=(Recommendation(1, at="2026-01-01"),))
    assert task_records(told, tunings) == (
        TaskRecord(
            350,
            "done",
            ("keys", "urls"),
            task_type="fix",
            tokens_used=9,
            edited=True,
            sections=("decisions",),
            depth="standard",
            at="2026-01-02",
            tuning=1,
        ),
    )


def test_reports_without_a_packet_are_tasks_of_their_own() -> None:
    told = [entry(1, PacketReported(Feedback())), entry(2, PacketReported(Feedback()))]
    assert task_records(told) == (TaskRecord(0), TaskRecord(0))
    assert TaskRecord(0).success is None


# Before and after.


@pytest.mark.seed("R330", "R331", "R332", "R333", "R334")
def test_five_measures_tell_whether_packets_helped() -> None:
    without = [
        TaskRecord(0, "failed", ("a", "b"), tokens_used=9_000 + number, explored=4 + number % 2)
        for number in range(20)
    ]
    with_one = [
        TaskRecord(380, "done", tokens_used=3_000 + number, explored=number % 2)
        for number in range(20)
    ]
    parted = split_records([*without, *with_one])
    assert parted.what == "without and with a packet"
    assert [(one.name, one.before, one.after, one.verdict) for one in compare_measures(parted)] == [
        ("worker success", 0.0, 1.0, "better"),
        ("tokens per task", 9009.5, 3009.5, "better"),
        ("looked up again", 4.5, 0.5, "better"),
        ("context gaps", 2.0, 0.0, "better"),
        ("written by hand", 1.0, 0.0, "better"),
    ]


def test_a_change_for_the_worse_is_told_and_no_change_too() -> None:
    records = [*tasks(20, at="1"), *tasks(20, outcome="failed", at="2")]
    verdicts = [one.verdict for one in compare_measures(split_records(records, since="2"))]
    assert verdicts[0] == "worse"
    assert verdicts[2] == "no difference to be seen"


def test_few_tasks_are_not_enough_yet() -> None:
    assert {one.verdict for one in compare_measures(split_records(tasks(6)))} == {"not enough yet"}


def test_records_are_parted_by_the_newest_tuning() -> None:
    parted = split_records([*tasks(3), *tasks(2, tuning=1), *tasks(4, tuning=2)])
    assert (parted.what, len(parted.before), len(parted.after)) == ("tuning 2", 5, 4)


def test_the_report_says_what_is_not_known_yet() -> None:
    records = tasks(2)
    parted = split_records(records)
    page = render_stats(known(*records), parted, compare_measures(parted))
    assert "how little is enough: not enough yet" in page
    assert "usually unused: nothing for sure yet" in page
    assert render_stats(known(), split_records([]), ()).startswith("No worker has reported")


def test_the_report_names_what_fails_and_what_is_idle() -> None:
    records = [
        *tasks(30, unused=("failed_attempts",), used=1_234),
        *tasks(10, gaps=("api keys",), outcome="failed"),
    ]
    parted = split_records(records)
    page = render_stats(known(*records), parted, compare_measures(parted))
    assert "gaps that go with failures: api keys" in page
    assert "usually unused: failed_attempts 75%" in page
    assert "tokens per task: 1,234 -> 1,234" in page
    document = stats_document(known(*records), parted, compare_measures(parted))
    assert document["tasks"] == 40


# Recommendations.


@pytest.mark.seed("R264", "R343")
def test_gaps_that_go_with_failures_ask_for_more_and_say_why() -> None:
    found = recommend(
        known(
            *tasks(20, sent=380), *tasks(16, sent=380, gaps=("error handling",), outcome="failed")
        )
    )
    assert (found.version, found.depths, found.budgets) == (
        1,
        {"feature": "deep"},
        {"feature": 800},
    )
    assert found.orders["feature"][0] == "patterns"
    assert all("error handling was missing for 44%" in change.why for change in found.changes)


def test_less_is_asked_for_where_less_was_enough() -> None:
    found = recommend(known(*tasks(12, sent=90), *tasks(30, sent=390)))
    assert (found.depths, found.budgets) == ({"feature": "minimal"}, {"feature": 100})
    assert "with up to 100 tokens" in found.changes[0].why


def test_what_is_usually_unused_comes_last() -> None:
    found = recommend(known(*tasks(20, unused=("decisions",))))
    assert found.orders["feature"][-1] == "decisions"
    assert found.budgets == {}


def test_too_few_tasks_recommend_nothing_and_keep_what_is_in_force() -> None:
    last = Recommendation(3, depths={"fix": "deep"}, budgets={"fix": 800})
    found = recommend(known(*tasks(5, outcome="failed", gaps=("a b",))), last)
    assert (found.version, found.changes, found.depths) == (4, (), {"fix": "deep"})
    assert is_same_recommendation(found, last)
    assert "nothing to change" in render_recommendation(found)


@given(
    st.permutations([*tasks(12, sent=90), *tasks(14, sent=390, gaps=("keys",), outcome="failed")])
)
def test_the_same_records_recommend_the_same_in_any_order(records: list[TaskRecord]) -> None:
    one, other = recommend(known(*records)), recommend(known(*sorted(records, key=str)))
    assert one == other
    assert len(one.digest) == 12
