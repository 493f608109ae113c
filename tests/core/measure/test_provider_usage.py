import pytest

from holdfast.core.ledger.entry import Used
from holdfast.core.measure.provider_usage import limit_in_error, read_usage
from holdfast.text.jsontext import Json


@pytest.mark.parametrize(
    ("usage", "used"),
    [
        (
            {
                "input_tokens": 4,
                "cache_read_input_tokens": 200,
                "cache_creation_input_tokens": 30,
                "output_tokens": 9,
            },
            Used(234, 234, 9, 200, 30),
        ),
        ({"input_tokens": 4, "output_tokens": 9}, Used(4, 4, 9)),
        (
            {
                "prompt_tokens": 300,
                "completion_tokens": 7,
                "prompt_tokens_details": {"cached_tokens": 256},
            },
            Used(300, 300, 7, 256),
        ),
        ({"prompt_tokens": 300, "completion_tokens": 7}, Used(300, 300, 7)),
        (
            {
                "input_tokens": 300,
                "output_tokens": 7,
                "input_tokens_details": {"cached_tokens": 256, "cache_write_tokens": 20},
            },
            Used(300, 300, 7, 256, 20),
        ),
        ({}, Used(0)),
        ({"input_tokens": None, "output_tokens": "many"}, Used(0)),
    ],
    ids=["anthropic", "anthropic uncached", "chat", "chat plain", "responses", "empty", "odd"],
)
def test_usage_is_read_in_every_shape_providers_report_it(
    usage: dict[str, Json], used: Used
) -> None:
    assert read_usage(usage) == used


def test_a_window_that_already_holds_the_answer_counts_it() -> None:
    usage: dict[str, Json] = {"prompt_tokens": 300, "completion_tokens": 7}
    assert read_usage(usage, model="m", answered=True) == Used(307, 300, 7, model="m")


@pytest.mark.parametrize(
    ("error", "limit"),
    [
        ("prompt is too long: 205031 tokens > 200000 maximum", 200_000),
        (
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "message": "prompt is too long: 1200000 tokens > 1000000 maximum",
                },
            },
            1_000_000,
        ),
        (
            {"error": {"message": "This model's maximum context length is 128000 tokens. However"}},
            128_000,
        ),
        ({"message": "exceeds the context window of 32768 tokens"}, 32_768),
        (
            "The input token count (1200000) "
            "exceeds the maximum number of tokens allowed (1048576).",
            1_048_576,
        ),
        ("rate limited", 0),
        ({"error": "overloaded"}, 0),
        ({}, 0),
        (None, 0),
        ("x" * 20_000 + "5 tokens > 4 maximum", 0),
    ],
)
def test_the_limit_is_learned_from_a_refusal_that_tells_it(error: Json, limit: int) -> None:
    assert limit_in_error(error) == limit
