"""Depths, layers, and how deep a task needs to go."""

import pytest

from holdfast.core.view.packet.layers import CAPS, depth_for, layers_for_depth, task_type_of


@pytest.mark.seed("R255", "R256", "R246", "R247", "R248", "R249")
def test_a_depth_stands_for_its_layers_and_its_cap() -> None:
    assert [layers_for_depth(depth) for depth in ("minimal", "standard", "deep")] == [
        (1,),
        (1, 2, 3),
        (1, 2, 3, 4),
    ]
    assert (layers_for_depth("simple"), layers_for_depth("complex")) == ((1,), (1, 2, 3, 4))
    assert CAPS == {"minimal": 100, "standard": 400, "deep": 800}


@pytest.mark.seed("R343", "R020", "R022")
@pytest.mark.parametrize(
    ("task", "depth"),
    [
        ("Fix a typo in the readme", "minimal"),
        ("Rename foo to bar", "minimal"),
        ("Add JWT auth", "standard"),
        ("Refactor the storage layer across all services", "deep"),
        ("Investigate the deadlock in the pool", "deep"),
        ("Add a button " * 40, "deep"),
        ("Füge die Anmeldung hinzu", "standard"),
        ("ログイン機能を追加する", "standard"),
    ],
)
def test_the_words_of_a_task_say_how_deep_it_goes(task: str, depth: str) -> None:
    assert depth_for(task)[0] == depth


def test_what_failed_and_is_open_asks_for_history_and_the_record_is_asked_first() -> None:
    assert depth_for("Add JWT auth", failures=2)[0] == "deep"
    assert depth_for("Add JWT auth", failures=2, known={"feature": "minimal"})[0] == "minimal"
    assert depth_for("Add JWT auth", known={"fix": "deep"})[0] == "standard"


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        ("Add JWT auth", "feature"),
        ("Fix the failing login test", "fix"),
        ("Write tests for the parser", "feature"),
        ("Tests for the parser", "test"),
        ("Update the README", "docs"),
        ("Refactor the pool", "refactor"),
        ("Why is it slow?", "research"),
        ("Review this pull request", "review"),
        ("ログイン", "other"),
    ],
)
def test_a_task_is_of_one_of_a_small_set_of_kinds(task: str, kind: str) -> None:
    assert task_type_of(task) == kind
