"""The tracker of the protocol, its records in the ledger, and recommendations that are applied."""

import json
from pathlib import Path

import pytest

from holdfast.core.ledger.packet import Feedback
from holdfast.core.ledger.packet_tuning import Recommendation, Tunings
from holdfast.core.view.packet_stats.recommend import recommend
from holdfast.engine.redact import Redactor
from holdfast.errors import BadSetting, NotWritten
from holdfast.packets.decisions import decisions_for
from holdfast.packets.feedback import record_feedback
from holdfast.packets.questions import ProjectDecisions
from holdfast.packets.stats import compare_around, efficiency_of, records_in
from holdfast.packets.tuning import (
    TUNING_FILE,
    apply_recommendation,
    read_tunings,
    tuning_for,
    undo_recommendation,
)
from holdfast.seeds import ContextEfficiencyTracker
from holdfast.session.open import open as open_session
from holdfast.session.session import Session
from holdfast.stores.memory import MemoryStore


@pytest.mark.seed("R265", "R269")
def test_the_tracker_takes_a_task_as_the_protocol_calls_it() -> None:
    tracker = ContextEfficiencyTracker()
    tracker.record_task(380, True, [])
    tracker.record_task(context_sent=380, worker_success=False, gaps=["testing approach"])
    assert tracker.report().split("\n") == [
        "Average context size: 380 tokens",
        "Worker success rate: 50%",
        "Top context gaps: testing approach (50%)",
    ]


@pytest.mark.seed("R266", "R267", "R268")
def test_the_tracker_learns_what_is_enough_what_is_idle_and_what_fails() -> None:
    tracker = ContextEfficiencyTracker()
    for _ in range(15):
        tracker.record_task(150, True, [], task_type="docs", unused=["pivots"], sections=["pivots"])
        tracker.record_task(390, True, [], task_type="docs")
    assert tracker.minimum_viable_context("docs") == 200
    assert tracker.minimum_viable_context("fix") is None
    assert tracker.usually_unused() == ["pivots"]
    assert tracker.failing_gaps() == []
    for _ in range(15):
        tracker.record_task(150, False, ["the API keys"], task_type="docs")
    assert tracker.failing_gaps() == ["api keys"]


def test_what_is_tracked_on_a_session_counts_for_the_whole_project(tmp_path: Path) -> None:
    with open_session("one", root=tmp_path) as session:
        session.append({"role": "user", "content": "Begin."})
        ContextEfficiencyTracker(session).record_task(300, True, ["keys"], tokens_used=70)
    with open_session("two", root=tmp_path) as session:
        session.append({"role": "user", "content": "Go on."})
        tracker = ContextEfficiencyTracker(session.ledger)
        tracker.record_task(100, False, [], explored=["a", "a", "b"])
        assert [(one.context_sent, one.outcome) for one in tracker.records] == [
            (300, "done"),
            (100, "failed"),
        ]
        assert [one.explored for one in tracker.records] == [0, 2]


@pytest.mark.seed("R264")
def test_records_of_packets_lead_to_a_recommendation(tmp_path: Path) -> None:
    with open_session("work", root=tmp_path) as session:
        session.append({"role": "user", "content": "Add login."})
        for number in range(24):
            pane = f"pane-{number}"
            session.packet("Add JWT auth to login", pane=pane)
            lacking = number % 2
            gaps = ("Needed: error handling",) if lacking else ()
            record_feedback(
                session.ledger, Feedback(gaps, (), "failed" if lacking else "done", pane)
            )
        records = records_in(session.store, Redactor(session.policy.redact))
        made = recommend(efficiency_of(records))
        assert {one.task_type for one in records} == {"feature"}
        assert made.depths == {"feature": "standard"}
        assert "error handling" in made.changes[0].why
        assert compare_around(records)[0].what == "older and newer half"


MADE = Recommendation(depths={"feature": "deep"}, budgets={"feature": 800}, tasks=40)


def test_a_recommendation_is_applied_as_the_next_version_and_taken_back(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert read_tunings(root) == Tunings()
    apply_recommendation(root, MADE, at="2026-01-01T00:00:00Z")
    apply_recommendation(
        root, Recommendation(depths={"feature": "minimal"}), at="2026-01-02T00:00:00Z"
    )
    assert tuning_for(root, "Add a button").depth == "minimal"
    assert [one.version for one in read_tunings(root).versions] == [1, 2]
    undo_recommendation(root)
    tuned = tuning_for(root, "Add a button")
    assert (tuned.task_type, tuned.depth, tuned.budget, tuned.version) == (
        "feature",
        "deep",
        800,
        1,
    )
    undo_recommendation(root)
    assert tuning_for(root, "Add a button").version == 0
    with pytest.raises(BadSetting):
        undo_recommendation(root)


def test_a_version_is_never_given_twice(tmp_path: Path) -> None:
    root = str(tmp_path)
    apply_recommendation(root, MADE)
    undo_recommendation(root)
    apply_recommendation(root, MADE)
    assert read_tunings(root).active == 2


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"schema": "something/1"}',
        json.dumps({"schema": "holdfast.tuning/1", "versions": [{"depths": {"fix": "abyss"}}]}),
        '{"active": "one"}',
    ],
)
def test_a_file_that_is_not_ours_is_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / TUNING_FILE
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadSetting):
        read_tunings(tmp_path)


def test_a_project_that_cannot_be_written_keeps_what_was_in_force(tmp_path: Path) -> None:
    (tmp_path / ".holdfast").write_text("in the way", encoding="utf-8")
    with pytest.raises(NotWritten):
        apply_recommendation(str(tmp_path), MADE)
    assert read_tunings(tmp_path) == Tunings()


@pytest.mark.seed("R355")
def test_a_later_session_finds_the_decisions_that_its_task_touches() -> None:
    store = MemoryStore()
    decided = (
        ("auth", "Use JWT instead of session cookies."),
        ("docs", "Let's go with Svelte for the admin dashboard."),
        ("gone", "Let's use Redis for the settings cache."),
        ("gone", "Switch to SQLite for the settings cache instead of Redis."),
    )
    for name, text in decided:
        Session(name, store, owns_store=False).extend(
            [{"role": "user", "content": "Begin."}, {"role": "user", "content": text}]
        )
    settled = ProjectDecisions(store)

    def found(task: str, apart: str = "") -> list[str]:
        return [one.text for one in decisions_for(task, settled, except_session=apart)]

    assert found("Send the JWT from the mobile client") == ["Use JWT instead of session cookies."]
    assert found("Send the JWT from the mobile client", apart="auth") == []
    assert found("Move the settings cache to another disk") == [decided[3][1]]
    assert found("Paint the fence green") == []
    assert store.head("gone") is not None
