"""What providers report: usage in each of their shapes, and the limit in a refusal."""

import re
from collections.abc import Mapping

from holdfast.core.ledger.entry import Used
from holdfast.core.ledger.jsontext import Json, as_count, as_object, as_text

LONGEST_ERROR = 10_000
LIMITS = (
    re.compile(r"(?P<size>\d{1,12}) tokens > (?P<limit>\d{1,12}) maximum"),
    re.compile(r"maximum context length is (?P<limit>\d{1,12}) tokens"),
    re.compile(r"context window of (?P<limit>\d{1,12}) tokens"),
    re.compile(r"exceeds the maximum number of tokens allowed \((?P<limit>\d{1,12})\)"),
)


def read_usage(usage: Mapping[str, Json], *, model: str = "", answered: bool = False) -> Used:
    """A provider's usage block as a body.

    `answered` says that the window already holds the answer this usage is about.
    """
    prompt, cached, written = _prompt(usage)
    output = as_count(usage.get("output_tokens")) or as_count(usage.get("completion_tokens"))
    return Used(
        size=prompt + (output if answered else 0),
        input=prompt,
        output=output,
        cache_read=cached,
        cache_write=written,
        model=model,
    )


def _prompt(usage: Mapping[str, Json]) -> tuple[int, int, int]:
    """All tokens of the prompt, those read from cache, those written to it."""
    if "prompt_tokens" in usage:
        details = as_object(usage.get("prompt_tokens_details"))
        return as_count(usage["prompt_tokens"]), as_count(details.get("cached_tokens")), 0
    details = as_object(usage.get("input_tokens_details"))
    if details:
        written = as_count(details.get("cache_write_tokens"))
        return as_count(usage.get("input_tokens")), as_count(details.get("cached_tokens")), written
    read = as_count(usage.get("cache_read_input_tokens"))
    written = as_count(usage.get("cache_creation_input_tokens"))
    # Anthropic counts only the fresh part as input.
    return as_count(usage.get("input_tokens")) + read + written, read, written


def learned_limit(error: Json) -> int:
    """The largest prompt a provider takes, when its refusal says so; zero when it does not."""
    text = error if isinstance(error, str) else as_text(_message(as_object(error)))
    for pattern in LIMITS:
        found = pattern.search(text[:LONGEST_ERROR])
        if found:
            return int(found["limit"])
    return 0


def _message(error: Mapping[str, Json]) -> Json:
    inner = error.get("error")
    return as_object(inner).get("message") if isinstance(inner, dict) else error.get("message")
