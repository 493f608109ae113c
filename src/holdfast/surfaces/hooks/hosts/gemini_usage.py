"""Check whether Gemini CLI will compress its window before the next request.

It reports the compression to no hook, and accepts no context after it. So the context that must not
be lost is added before: to the prompt or to a tool's output.
"""

import os

from holdfast.project.regular_files import (
    MAX_SETTINGS_BYTES,
    read_end,
    read_regular,
)
from holdfast.text.patterns import Pattern

TOKENS_FIELD = Pattern(rb'"tokens"\s*:\s*\{\s*"input"\s*:\s*(\d+)\s*,\s*"output"\s*:\s*(\d+)')
MODEL_FIELD = Pattern(rb'"model"\s*:\s*"([^"\\]+)"')
TRANSCRIPT_FIELD = Pattern(rb'"transcript_path"\s*:\s*"([^"\\]+)"')
READ_BYTES = 128 * 1024
"""Bytes at the end of a chat to search for its last report."""
MIN_FULL_TOKENS = 50_000
"""A window with fewer tokens is never full."""
DEFAULT_THRESHOLD = 0.5
"""Fraction of the window at which a chat is compressed, if no setting changes it."""
THRESHOLD_FIELD = Pattern(rb'"compressionThreshold"\s*:\s*([0-9.]+)')


def may_be_full(raw: bytes) -> bool:
    """Whether the chat of a document may be full, from the end of its transcript."""
    found = TRANSCRIPT_FIELD.search(raw)
    return found is not None and last_usage(os.fsdecode(found[1]))[0] >= MIN_FULL_TOKENS


def last_usage(transcript: str) -> tuple[int, str]:
    """Return the tokens of the window at the last request, and its model."""
    try:
        end = read_end(transcript, READ_BYTES, links=True)
    except OSError:
        return 0, ""
    reports = list(TOKENS_FIELD.finditer(end))
    if not reports:
        return 0, ""
    last = reports[-1]
    model = MODEL_FIELD.search(end, last.end())
    return int(last[1]) + int(last[2]), model[1].decode() if model else ""


def compression_threshold(*settings: str) -> float:
    """Return the fraction at which a chat is compressed; the last file that sets it decides."""
    threshold = DEFAULT_THRESHOLD
    for path in settings:
        try:
            found = THRESHOLD_FIELD.search(read_regular(path, MAX_SETTINGS_BYTES, links=True))
        except OSError:
            continue
        threshold = float(found[1]) if found else threshold
    return threshold
