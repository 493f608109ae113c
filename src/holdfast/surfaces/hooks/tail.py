"""The end of a transcript: what its program last reported, found without reading the rest."""

from collections.abc import Mapping

from holdfast.project.regular_files import end_of
from holdfast.text.jsontext import Json, NotJson, as_count, as_object, as_text, parse

LOOKED_AT = (64 * 1024, 1024 * 1024)
"""Bytes from the end that are looked at, and how many when they tell nothing."""
REPORTS = (b'"usage"', b'"last_token_usage"', b'"tokens"')
"""What stands in a line that reports: Claude Code's, Codex's, Gemini CLI's."""


def last_usage(path: str) -> tuple[int, str] | None:
    """Tokens of the window at the last request of the main agent, and its model."""
    for size in LOOKED_AT:
        for line in reversed(_end_of(path, size).split(b"\n")):
            if any(word in line for word in REPORTS):
                found = _usage(line)
                if found is not None:
                    return found
    return None


def _end_of(path: str, size: int) -> bytes:
    try:
        return end_of(path, size, links=True)
    except OSError:
        return b""


def _usage(raw: bytes) -> tuple[int, str] | None:
    try:
        line = as_object(parse(raw)[0])
    except NotJson:  # the first of them is cut
        return None
    if line.get("isSidechain") is True:
        return None
    for told in (_by_claude_code, _by_codex, _by_gemini):
        tokens, model = told(line)
        if tokens:
            return tokens, model
    return None


def _by_claude_code(line: Mapping[str, Json]) -> tuple[int, str]:
    message = as_object(line.get("message"))
    usage = as_object(message.get("usage"))
    parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    tokens = sum(as_count(usage.get(part)) for part in parts)
    written = as_count(usage.get("output_tokens")) if tokens else 0
    return tokens + written, as_text(message.get("model"))


def _by_codex(line: Mapping[str, Json]) -> tuple[int, str]:
    info = as_object(as_object(line.get("payload")).get("info"))
    usage = as_object(info.get("last_token_usage"))
    return as_count(usage.get("total_tokens")), ""


def _by_gemini(line: Mapping[str, Json]) -> tuple[int, str]:
    tokens = as_object(line.get("tokens"))
    return as_count(tokens.get("input")) + as_count(tokens.get("output")), as_text(
        line.get("model")
    )
