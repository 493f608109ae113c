"""Read token usage in the shape of each provider, and the limit in a provider's refusal."""

from collections.abc import Mapping
from typing import cast

from holdfast.core.ledger.entry import Used
from holdfast.text.jsontext import Json, as_count, as_object, as_text
from holdfast.text.patterns import Pattern

MAX_ERROR_CHARS = 10_000
LIMIT_PATTERNS = (
    Pattern(r"(?P<size>\d{1,12}) tokens > (?P<limit>\d{1,12}) maximum"),
    Pattern(r"maximum context length is (?P<limit>\d{1,12}) tokens"),
    Pattern(r"context window of (?P<limit>\d{1,12}) tokens"),
    Pattern(r"exceeds the maximum number of tokens allowed \((?P<limit>\d{1,12})\)"),
)


def read_usage(usage: object, *, model: str = "", answered: bool = False) -> Used:
    """Return the usage that a provider or a framework reported for one request, as a body.

    `usage` is a mapping or an object of an SDK: its members are read by name, without the SDK.
    `answered` says that the window already has the answer of that request.
    """
    prompt, cached, written = _prompt_tokens(usage)
    output = _count(usage, "output_tokens", "completion_tokens") or _gemini_output(usage)
    return Used(
        size=prompt + (output if answered else 0),
        input=prompt,
        output=output,
        cache_read=cached,
        cache_write=written,
        model=model,
    )


def usage_problem(usage: object) -> str:
    """Return why a usage does not have the size of one request; empty if it has."""
    kind = type(usage).__name__
    if not _prompt_tokens(usage)[0]:
        return f"a {kind} that counts no input tokens; pass the usage of the provider's response"
    requests = _count(usage, "requests")
    if requests > 1:
        return (
            f"this {kind} is the sum of {requests} requests, which is the size of none; pass the "
            "usage of the last response"
        )
    return ""


def _prompt_tokens(usage: object) -> tuple[int, int, int]:
    """Return all tokens of the prompt, those read from the cache, those written to it."""
    for shape in (_chat, _responses, _langchain, _pydantic_ai, _gemini):
        found = shape(usage)
        if found is not None:
            return found
    return _anthropic(usage)


def _chat(usage: object) -> tuple[int, int, int] | None:
    if _member(usage, "prompt_tokens") is None:
        return None
    details = _member(usage, "prompt_tokens_details")
    return _count(usage, "prompt_tokens"), _count(details, "cached_tokens"), 0


def _responses(usage: object) -> tuple[int, int, int] | None:
    details = _member(usage, "input_tokens_details")
    if not details:
        return None
    written = _count(details, "cache_write_tokens")
    return _count(usage, "input_tokens"), _count(details, "cached_tokens"), written


def _langchain(usage: object) -> tuple[int, int, int] | None:
    details = _member(usage, "input_token_details")
    if details is None:
        return None
    written = _count(details, "cache_creation")
    return _count(usage, "input_tokens"), _count(details, "cache_read"), written


def _pydantic_ai(usage: object) -> tuple[int, int, int] | None:
    if _member(usage, "cache_read_tokens") is None:
        return None
    read, written = _count(usage, "cache_read_tokens"), _count(usage, "cache_write_tokens")
    return _count(usage, "input_tokens"), read, written


def _gemini(usage: object) -> tuple[int, int, int] | None:
    prompt = _count(usage, "prompt_token_count", "promptTokenCount")
    if not prompt:
        return None
    tools = _count(usage, "tool_use_prompt_token_count", "toolUsePromptTokenCount")
    cached = _count(usage, "cached_content_token_count", "cachedContentTokenCount")
    return prompt + tools, cached, 0


def _gemini_output(usage: object) -> int:
    candidates = _count(usage, "candidates_token_count", "candidatesTokenCount")
    return candidates + _count(usage, "thoughts_token_count", "thoughtsTokenCount")


def _anthropic(usage: object) -> tuple[int, int, int]:
    read = _count(usage, "cache_read_input_tokens")
    written = _count(usage, "cache_creation_input_tokens")
    # Anthropic counts only the fresh part as input.
    return _count(usage, "input_tokens") + read + written, read, written


def _count(usage: object, *names: str) -> int:
    """Return the first of these members that is a number of tokens; 0 if none is."""
    return next((found for name in names if (found := as_count(_member(usage, name)))), 0)


def _member(value: object, name: str) -> object:
    """Return a member of a mapping or of an object; None if it has none of that name."""
    if isinstance(value, Mapping):
        return cast(Mapping[str, object], value).get(name)
    return getattr(value, name, None)


def limit_in_error(error: Json) -> int:
    """Return the largest prompt that a provider's refusal names; 0 if it names none."""
    text = error if isinstance(error, str) else as_text(_message(as_object(error)))
    for pattern in LIMIT_PATTERNS:
        found = pattern.search(text[:MAX_ERROR_CHARS])
        if found:
            return int(found["limit"])
    return 0


def _message(error: Mapping[str, Json]) -> Json:
    inner = error.get("error")
    return as_object(inner).get("message") if isinstance(inner, dict) else error.get("message")
