"""Whether a window of Gemini CLI is so full that it will be compressed before the next request.

Nobody is told of that, and nothing can be said once it has happened. So what must not be lost goes
along with whatever is sent next: the user's words, or what a tool answered.
"""

import os
import re

from holdfast.project.regular_files import SETTINGS, end_of, read_regular

REPORTED = re.compile(rb'"tokens"\s*:\s*\{\s*"input"\s*:\s*(\d+)\s*,\s*"output"\s*:\s*(\d+)')
MODEL = re.compile(rb'"model"\s*:\s*"([^"\\]+)"')
TRANSCRIPT = re.compile(rb'"transcript_path"\s*:\s*"([^"\\]+)"')
BEHIND = 128 * 1024
"""Bytes at the end of a chat in which its last report stands."""
SMALLEST = 50_000
"""Tokens below which no window is full."""
FULL = 0.5
"""The part of a window from which on a chat is compressed, where nobody set another."""
SET = re.compile(rb'"compressionThreshold"\s*:\s*([0-9.]+)')


def is_filling(raw: bytes) -> bool:
    """Whether the chat that a document tells of may be full: looked up without reading it all."""
    found = TRANSCRIPT.search(raw)
    return found is not None and reported(os.fsdecode(found[1]))[0] >= SMALLEST


def reported(transcript: str) -> tuple[int, str]:
    """The tokens of the window at the last request, and the model that was asked."""
    try:
        end = end_of(transcript, BEHIND, links=True)
    except OSError:
        return 0, ""
    reports = list(REPORTED.finditer(end))
    if not reports:
        return 0, ""
    last = reports[-1]
    model = MODEL.search(end, last.end())
    return int(last[1]) + int(last[2]), model[1].decode() if model else ""


def full_from(*settings: str) -> float:
    """The part of a window from which on a chat is compressed: as the last of these files says."""
    part = FULL
    for path in settings:
        try:
            found = SET.search(read_regular(path, SETTINGS, links=True))
        except OSError:
            continue
        part = float(found[1]) if found else part
    return part
