"""The role texts, and how they get into a file of instructions and out of it again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.plan.policy import LAYOUTS
from holdfast.errors import NotRecorded, Unreadable
from holdfast.packets.feedback import feedback_file
from holdfast.project.layout import packet_path
from holdfast.surfaces.roles import (
    ROLES,
    RoleVariables,
    role_text,
    role_variables,
    task_text,
    with_block,
    without_block,
)

AGENTWIRE = RoleVariables(
    ".agentwire/context/pane-{N}.yaml", ".agentwire/feedback/pane-{N}.md", "agentwire_"
)


@pytest.mark.seed("R289", "R290")
def test_an_orchestrator_is_told_to_judge_generate_write_and_have_it_read() -> None:
    text = role_text("orchestrator", AGENTWIRE)
    steps = [
        "## Context Handoff\n",
        "1. Identify how complex the task is: simple, standard or complex.",
        "Simple, `minimal`: goal and constraints only",
        "Standard, `standard`: also decisions and codebase patterns",
        "Complex, `deep`: also failed attempts and history",
        '`agentwire_context_generate(task="...", depth="standard", pane=1)`',
        '"Read your context packet first: .agentwire/context/pane-1.yaml"',
    ]
    places = [text.index(step) for step in steps]
    assert places == sorted(places)


@pytest.mark.seed("R291", "R292")
def test_a_worker_is_told_to_read_to_keep_what_was_decided_and_to_report() -> None:
    text = role_text("worker", AGENTWIRE)
    steps = [
        "## Context Protocol\n",
        "1. Read your context packet: `.agentwire/context/pane-{N}.yaml`",
        "2. Note decisions already made (don't re-decide)",
        "3. Follow noted constraints exactly",
        "At task end, report gaps:",
        "- What context would have helped?",
        "- What context was provided but unused?",
        "`.agentwire/feedback/pane-{N}.md`",
    ]
    places = [text.index(step) for step in steps]
    assert places == sorted(places)


def test_a_worker_of_a_pane_gets_paths_that_it_can_open() -> None:
    text = role_text("worker", AGENTWIRE, 3)
    assert "{N}" not in text
    assert ".agentwire/context/pane-3.yaml" in text
    assert ".agentwire/feedback/pane-3.md" in text


@pytest.mark.seed("R345", "R346")
@pytest.mark.parametrize("packet", ["", "goal: add JWT auth"])
def test_a_task_begins_with_the_reading_and_may_bring_the_packet_along(packet: str) -> None:
    text = task_text("Add JWT auth.", AGENTWIRE, 1, packet)
    assert text.startswith("Read your context packet first: .agentwire/context/pane-1.yaml\n")
    assert packet in text.partition("Then do this task:")[0]
    assert "Add JWT auth." in text.partition("Then do this task:")[2]
    assert "context_feedback" in text


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_paths_in_a_text_are_where_things_are(layout: str) -> None:
    spelling = role_variables(layout)
    assert spelling.packet_path(3) == packet_path("pane-3", layout)
    assert spelling.feedback_path(3) == feedback_file("pane-3", layout)


def test_there_is_no_third_role() -> None:
    with pytest.raises(NotRecorded):
        role_text("spectator")


OTHERS = st.text(st.characters(codec="utf-8"), max_size=60).filter(lambda text: "<!--" not in text)


@given(OTHERS, st.permutations(ROLES))
def test_a_text_is_put_into_a_file_once_however_often_that_is_done(
    text: str, roles: list[str]
) -> None:
    made = text
    for role in roles:
        made = with_block(made, role, role_text(role))
    for role in ROLES:
        assert with_block(made, role, role_text(role)) == made
        assert made.count(role_text(role)) == 1
    assert made.startswith(text)
    for role in reversed(roles):
        made = without_block(made, role)
    assert made.removesuffix("\n") == text.removesuffix("\n")


def test_what_stands_around_a_block_is_left_alone_when_it_is_brought_up_to_date() -> None:
    before = with_block("# Rules\n", "worker", "an old text") + "\n## Mine\nkeep\n"
    after = with_block(before, "worker", "a new text")
    assert after == before.replace("an old text", "a new text")


def test_a_block_that_was_never_ended_is_not_guessed_at() -> None:
    with pytest.raises(Unreadable):
        with_block("<!-- holdfast: worker -->\nmine", "worker", "text")
