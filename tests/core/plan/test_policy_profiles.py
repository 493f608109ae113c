import pytest
from msgspec.structs import replace

from holdfast.core.ledger.head import Lane
from holdfast.core.measure.usage import Usage
from holdfast.core.plan.due import due
from holdfast.core.plan.policy import (
    LAYOUTS,
    NEVER_REACHED,
    PROFILE_TEXTS,
    PROFILES,
    ROLES,
    DueAt,
    Offload,
    Policy,
    with_settings,
)
from holdfast.project.settings import SETTINGS


def test_every_profile_is_told_of_and_sets_only_what_there_is_to_set() -> None:
    assert list(PROFILE_TEXTS) == list(PROFILES)
    named = {name for values in (*PROFILES.values(), *ROLES.values()) for name in values}
    assert named - set(SETTINGS) == set()


@pytest.mark.seed("R026", "R040", "R223")
def test_the_default_is_the_protocol() -> None:
    assert with_settings(Policy(), PROFILES["ctx-001"]) == Policy()
    assert (Policy().at, Policy().offload.above, Policy().offload.lines) == (
        DueAt(batch=50, summary=75, critical=85, tokens=0, turns=0, events=()),
        15_000,
        10,
    )


@pytest.mark.seed("R099", "R100", "R102", "R103")
def test_the_anchored_profile_has_the_triggers_of_its_document() -> None:
    assert with_settings(Policy(), PROFILES["anchored"]) == replace(
        Policy(),
        at=DueAt(
            batch=70,
            summary=70,
            critical=85,
            turns=20,
            events=("task_done", "phase_change", "session_end"),
        ),
    )


@pytest.mark.seed("R335")
def test_the_stress_profile_compresses_at_a_quarter() -> None:
    assert with_settings(Policy(), PROFILES["stress"]).at.summary == 25


def test_under_the_profile_off_nothing_is_ever_due() -> None:
    policy = with_settings(Policy(), PROFILES["off"])
    assert policy == replace(
        Policy(),
        at=DueAt(NEVER_REACHED, NEVER_REACHED, NEVER_REACHED),
        offload=Offload(above=NEVER_REACHED, share=0),
    )


@pytest.mark.seed("R294")
@pytest.mark.parametrize("role", [*ROLES, ""])
def test_no_role_changes_when_something_is_due_or_turns_anything_off(role: str) -> None:
    policy = with_settings(Policy(), ROLES.get(role, {}))
    assert policy.at == Policy().at
    assert policy.offload.above <= 15_000
    for percent in (49, 50, 75, 85):
        usage = Usage(percent, 100, "exact")
        assert due(usage, Lane(), policy) == due(usage, Lane(), Policy())


@pytest.mark.seed("R295")
def test_who_coordinates_sees_more_of_what_happened_and_who_reads_documents_outlines_sooner() -> (
    None
):
    plain = Policy()
    architect = with_settings(plain, ROLES["architect"])
    analyst = with_settings(plain, ROLES["document-analyst"])
    assert (architect.tail.percent, architect.tail.steps) > (plain.tail.percent, plain.tail.steps)
    assert architect.offload == plain.offload
    assert analyst.tail == plain.tail
    assert analyst.offload.above < plain.offload.above
    assert analyst.offload.sweep < plain.offload.sweep
    assert analyst.offload.outline > plain.offload.outline


def test_the_protocol_layout_is_the_shared_memory() -> None:
    assert LAYOUTS["ctx-001"] == "Memory/Shared/cache"
