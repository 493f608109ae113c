"""Find the token usage that a program last reported, at the end of its transcript."""

from collections.abc import Mapping

from holdfast.project.regular_files import read_end
from holdfast.text.jsontext import Json, NotJson, as_count, as_object, as_text, parse

READ_SIZES = (64 * 1024, 1024 * 1024)
"""Bytes to read from the end; the larger number if the first part has no report."""
USAGE_KEYS = (b'"usage"', b'"last_token_usage"', b'"tokens"')
"""Keys of a line that reports usage: in Claude Code, Codex, Gemini CLI."""


def last_usage(path: str) -> tuple[int, str] | None:
    """Return the tokens in the window at the main agent's last request, and the model."""
    for size in READ_SIZES:
        for line in reversed(_read_end(path, size).split(b"\n")):
            if any(word in line for word in USAGE_KEYS):
                usage = _read_usage(line)
                if usage is not None:
                    return usage
    return None


def _read_end(path: str, size: int) -> bytes:
    try:
        return read_end(path, size, links=True)
    except OSError:
        return b""


def _read_usage(raw: bytes) -> tuple[int, str] | None:
    try:
        line = as_object(parse(raw)[0])
    except NotJson:  # the first line is cut
        return None
    if line.get("isSidechain") is True:
        return None
    for read in (_claude_code_usage, _codex_usage, _gemini_usage):
        tokens, model = read(line)
        if tokens:
            return tokens, model
    return None


def _claude_code_usage(line: Mapping[str, Json]) -> tuple[int, str]:
    message = as_object(line.get("message"))
    usage = as_object(message.get("usage"))
    parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    tokens = sum(as_count(usage.get(part)) for part in parts)
    written = as_count(usage.get("output_tokens")) if tokens else 0
    return tokens + written, as_text(message.get("model"))


def _codex_usage(line: Mapping[str, Json]) -> tuple[int, str]:
    info = as_object(as_object(line.get("payload")).get("info"))
    usage = as_object(info.get("last_token_usage"))
    return as_count(usage.get("total_tokens")), ""


def _gemini_usage(line: Mapping[str, Json]) -> tuple[int, str]:
    tokens = as_object(line.get("tokens"))
    return as_count(tokens.get("input")) + as_count(tokens.get("output")), as_text(
        line.get("model")
    )
