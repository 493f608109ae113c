import msgspec
import pytest

from holdfast.core.plan.policy import (
    PROFILE_TEXTS,
    PROFILES,
    ROLES,
    BatchRules,
    DueAt,
    NeverStore,
    Offload,
    Policy,
    Tail,
    Truncate,
    for_model,
    with_settings,
)


@pytest.mark.seed("R040", "R223")
def test_the_defaults_are_those_of_the_protocol() -> None:
    assert Policy() == Policy(
        profile="ctx-001",
        at=DueAt(batch=50, summary=75, critical=85, tokens=0, turns=0),
        offload=Offload(above=15_000),
        truncate=Truncate(above=400),
        tail=Tail(percent=10, steps=3),
        batch=BatchRules(reclaim=20, requests=0, margin=25),
        never_store=NeverStore((), (), ()),
    )


@pytest.mark.parametrize("name", [*PROFILES, *ROLES])
def test_every_profile_and_role_is_a_policy(name: str) -> None:
    settings = PROFILES.get(name, ROLES.get(name, {}))
    made = with_settings(Policy(), settings)
    assert (made == Policy()) == (not settings)


def test_every_profile_says_what_it_is_for() -> None:
    assert list(PROFILE_TEXTS) == list(PROFILES)


@pytest.mark.seed("R097", "R098", "R100", "R101")
def test_the_other_documents_numbers_are_profiles() -> None:
    anchored = with_settings(Policy(), PROFILES["anchored"]).at
    assert (anchored.summary, anchored.critical, anchored.turns) == (70, 85, 20)
    assert with_settings(Policy(), PROFILES["claude-code"]).at.tokens == 190_000


def test_the_longest_name_that_a_model_begins_with_decides() -> None:
    policy = Policy(models={"gpt": {"window": 1}, "gpt-5": {"offload.above": 7}})
    assert for_model(policy, "openai/GPT-5-mini").offload.above == 7
    assert for_model(policy, "gpt-4o").window == 1
    assert for_model(policy, "claude-opus-5") is policy


def test_a_policy_is_read_by_name() -> None:
    given = {"model": "m", "window": 9, "never_store": {"tools": ["secret_*"]}}
    assert msgspec.convert(given, Policy) == Policy(
        model="m", window=9, never_store=NeverStore(tools=("secret_*",))
    )


@pytest.mark.parametrize("given", [{"modle": "m"}, {"never_store": {"tool": []}}, {"window": "9"}])
def test_a_policy_with_a_name_or_value_that_cannot_be_meant_is_refused(
    given: dict[str, object],
) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(given, Policy)
    assert caught.value.args != ()
