"""The names and values of a text: what an agent has to spell right to go on working.

Paths, identifiers, ids and numbers; plain words are left out. This is the measuring side: it shares
nothing with the product's own idea of what is worth keeping, so that the two can disagree.

A text is cut into chunks of the characters that names are made of, and each different chunk is
judged once. Every pattern is linear.
"""

import re
from functools import lru_cache

_CHUNK = re.compile(r"[A-Za-z0-9_~/.@-]{3,}")
_LONGEST = 200
"""Longer chunks are encoded data, which nobody spells."""

_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\d{3,}",
        r"v?\d+(?:\.\d+)+(?:-[A-Za-z0-9.]+)?",  # decimals, versions
        r"\d{4}-\d\d-\d\d(?:T\d+)?",
        r"(?:0x)?(?=[0-9a-f]*\d)(?=[0-9]*[a-f])[0-9a-f]{7,}",
        r"(?=[^_]*_)(?=[^A-Za-z]*[A-Za-z])\w{4,}",  # snake_case, ALL_CAPS, _private
        r"[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*",  # camelCase, PascalCase
        r"[A-Z]{2,}[a-z]{2}[A-Za-z0-9]*",  # HTTPServer
        r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)+",  # kebab-case with digits, UUIDs
        r"(?=.{5})(?=.*\w{3})\w[\w-]*(?:\.[A-Za-z_][\w-]*)+",  # dotted names, file names
    )
)


def entities(text: str) -> set[str]:
    """The paths, identifiers, ids and numbers that stand in a text."""
    return {name for chunk in set(_CHUNK.findall(text)) if (name := _judged(chunk))}


@lru_cache(maxsize=1_000_000)
def _judged(chunk: str) -> str:
    """The name in a chunk; empty when it is a plain word or nothing."""
    name = chunk.rstrip("./-@~").lstrip("-@")
    if "/" not in name:
        name = name.lstrip(".")
    elif name.startswith("//"):
        name = name.lstrip("/")  # what is left of an address behind its colon
    if not 3 <= len(name) <= _LONGEST:
        return ""
    if "/" in name:
        return name if _is_path(name) else ""
    return name if any(pattern.fullmatch(name) for pattern in _PATTERNS) else ""


def _is_path(name: str) -> bool:
    """Whether slashes part folders: not `and/or`, not `</div>`, not `1/2`."""
    parts = [part for part in name.split("/") if part.strip(".~")]
    if len(parts) < 2 or not any(len(part) > 1 and part[:1].isalpha() for part in parts):
        return name.startswith(("./", "../", "~/")) and bool(parts)
    return len(parts) > 2 or name[0] in "/~." or any(not part.isalpha() for part in parts)
