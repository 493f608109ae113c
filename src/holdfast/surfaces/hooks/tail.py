"""The end of a transcript: what its program last reported, found without reading the rest."""

import os

from holdfast.core.ledger.jsontext import NotJson, as_count, as_object, as_text, parse

LOOKED_AT = (64 * 1024, 1024 * 1024)
"""Bytes from the end that are looked at, and how many when they tell nothing."""


def last_usage(path: str) -> tuple[int, str] | None:
    """Tokens of the window at the last request of the main agent, and its model."""
    for size in LOOKED_AT:
        for line in reversed(_end_of(path, size).split(b"\n")):
            if b'"usage"' in line:
                found = _usage(line)
                if found is not None:
                    return found
    return None


def _end_of(path: str, size: int) -> bytes:
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(file.tell() - size, 0))
            return file.read()
    except OSError:
        return b""


def _usage(raw: bytes) -> tuple[int, str] | None:
    try:
        line = as_object(parse(raw)[0])
    except NotJson:  # the first of them is cut
        return None
    message = as_object(line.get("message"))
    usage = as_object(message.get("usage"))
    parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    tokens = sum(as_count(usage.get(part)) for part in parts)
    if not tokens or line.get("isSidechain") is True:
        return None
    return tokens + as_count(usage.get("output_tokens")), as_text(message.get("model"))
