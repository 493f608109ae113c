"""The graph of a project's decisions: the same from the ledger and from what was kept."""

from pathlib import Path

import pytest

from holdfast.core.view.decisions.graph import build_graph, text_terms
from holdfast.engine.purge.purge import apply_purge, plan_message_purge
from holdfast.packets import questions
from holdfast.packets.decisions import EDGES_CACHE, decision_graph
from holdfast.packets.questions import (
    OWN_STATEMENTS_CACHE,
    STATEMENTS_CACHE,
    ProjectDecisions,
    keep_readings,
    project_decisions,
)
from holdfast.session.open import open as open_session

FIRST = (
    {"role": "user", "content": "Add login to the API."},
    {"role": "assistant", "content": "I decided to use Redis for the session cache."},
)
LATER = (
    {"role": "user", "content": "Look at the sessions."},
    {"role": "user", "content": "Switch the session cache to SQLite instead of Redis."},
    {"role": "user", "content": "Does Redis still hold the session cache?"},
)


def test_the_graph_is_the_same_from_what_was_kept_and_follows_every_change(tmp_path: Path) -> None:
    with open_session("a", root=tmp_path) as first, open_session("b", root=tmp_path) as later:
        first.extend(FIRST)
        for message in LATER:
            later.append(message)
            for _ in range(2):
                settled = project_decisions(later.ledger)
                assert decision_graph(settled) == build_graph(settled.all_statements())
        whole = decision_graph(project_decisions(later.ledger))
        assert {edge.kind for edge in whole.edges} == {"supersedes", "references"}
        kept = later.store.read_cache("b", EDGES_CACHE)
        assert kept is not None
        assert b"Redis" not in kept
        said = next(e.id for e in first.ledger.path() if "decided" in str(e.body))
        apply_purge(first.ledger, plan_message_purge(first.ledger, said), at="2031-04-02T09:15:00Z")
        assert "Redis" not in str(
            [n for n in decision_graph(project_decisions(later.ledger)).nodes if n.session == "a"]
        )


def test_half_a_letter_in_a_session_is_no_obstacle(tmp_path: Path) -> None:
    with open_session("a", root=tmp_path) as session:
        session.extend([*FIRST, {"role": "user", "content": "Use \ud800 instead of Redis."}])
        settled = project_decisions(session.ledger)
        assert decision_graph(settled) == build_graph(settled.all_statements())


def test_a_session_that_ended_is_not_read_again_for_questions_about_the_project(
    tmp_path: Path,
) -> None:
    with open_session("a", root=tmp_path) as first, open_session("b", root=tmp_path) as later:
        first.extend(FIRST)
        keep_readings(first.ledger)
        later.extend(LATER)
        assert project_decisions(later.ledger).has_read("a")
        assert not project_decisions(later.ledger).has_read("b")
        read = project_decisions(later.ledger).all_statements()
        assert read == ProjectDecisions(later.store).all_statements()
        first.append({"role": "user", "content": "Go on."})
        assert not project_decisions(later.ledger).has_read("a")


def test_what_was_kept_of_a_session_is_purged_with_it(tmp_path: Path) -> None:
    with open_session("a", root=tmp_path) as session:
        session.extend(FIRST)
        keep_readings(session.ledger)
        project_decisions(session.ledger).statements_of("a")
        said = next(e.id for e in session.ledger.path() if "decided" in str(e.body))
        apply_purge(
            session.ledger, plan_message_purge(session.ledger, said), at="2031-04-02T09:15:00Z"
        )
        names = (STATEMENTS_CACHE, OWN_STATEMENTS_CACHE)
        assert [session.store.read_cache("a", name) for name in names] == [None, None]


def test_the_terms_of_texts_are_the_same_from_the_session_and_from_the_cache(
    tmp_path: Path,
) -> None:
    with open_session("a", root=tmp_path) as session:
        session.extend([*FIRST, *LATER])
        for _ in range(2):
            settled = project_decisions(session.ledger)
            (read,) = settled.all_statements()
            assert settled.terms_of(read) == text_terms(read)


def test_a_very_long_session_is_read_only_for_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "MAX_KEPT_ENTRIES", len(FIRST) - 1)
    with open_session("a", root=tmp_path) as session:
        session.extend(FIRST)
        keep_readings(session.ledger)
        assert session.store.read_cache("a", STATEMENTS_CACHE) is None
