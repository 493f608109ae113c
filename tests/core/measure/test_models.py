import pytest

from holdfast.core.measure.models import MODELS, UNKNOWN_MODEL, find_model


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("claude-opus-4-5", "claude-opus-4-5"),
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("Claude-Sonnet-4-6", "claude-sonnet-4-6"),
        ("claude-3-5-sonnet-latest", "claude-3"),
        ("claude-something-new", "claude"),
        ("anthropic/claude-opus-5-5", "claude-opus-5-5"),
        ("openrouter/anthropic/claude-sonnet-4", "claude-sonnet-4"),
        ("anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4"),
        ("eu.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4"),
        ("apac.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4"),
        ("global.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
        ("bedrock/us.anthropic.claude-haiku-4-5-v1:0", "claude-haiku-4-5"),
        ("vertex_ai/claude-sonnet-4@20250514", "claude-sonnet-4"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o"),
        ("gpt-4.1-nano", "gpt-4.1"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-4-turbo-2024-04-09", "gpt-4-turbo"),
        ("gpt-5.6-codex", "gpt-5.6"),
        ("gpt-5.5", "gpt-5"),
        ("azure/gpt-4o", "gpt-4o"),
        ("o3-mini", "o3"),
        ("openai/gpt-oss-120b", "gpt-oss"),
        ("models/gemini-2.5-pro", "gemini"),
    ],
)
def test_a_model_is_found_by_its_dated_regional_and_vendor_names(name: str, known: str) -> None:
    assert find_model(name).id == known


@pytest.mark.parametrize("name", ["", "my-own-model", "<synthetic>", "ollama/tinyllm"])
def test_a_model_nobody_knows_gets_the_cautious_row(name: str) -> None:
    assert find_model(name) is UNKNOWN_MODEL
    assert (UNKNOWN_MODEL.known, UNKNOWN_MODEL.window) == (False, 128_000)


def test_every_model_has_a_name_of_its_own_and_room_beside_its_answer() -> None:
    ids = [model.id for model in MODELS]
    assert len(set(ids)) == len(ids)
    assert [model.id for model in MODELS if model.reserve >= model.window] == []
    assert [find_model(model.id) for model in MODELS] == list(MODELS)


def test_only_models_with_a_vocabulary_of_ours_count_exactly() -> None:
    assert {model.id for model in MODELS if model.exact and model.factor != 1.0} == set()
    exact = {model.id.split("-")[0] for model in MODELS if model.exact}
    assert exact == {"gpt", "o1", "o3", "o4"}
