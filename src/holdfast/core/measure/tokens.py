"""Counting: what a body costs in a vocabulary, and what can be said without one."""

from collections.abc import Callable
from typing import TypeAlias

from holdfast.core.ledger.entry import Source, text_of
from holdfast.core.ledger.size import media_of, media_tokens

CountTokens: TypeAlias = Callable[[str], int]

BYTES_PER_TOKEN = 3.5
"""For text nobody has counted: right for code and JSON, high for prose, low for hashes."""


def count_body(body: Source, count: CountTokens) -> int:
    """Raw tokens of a body: its words in a vocabulary, its pictures by formula."""
    text = text_of(body)
    words = count(text) if text else 0
    return words + sum(media_tokens(item) for item in media_of(body))


def guess(size: int) -> int:
    """Tokens of a text of so many bytes, when nobody has counted."""
    return round(size / BYTES_PER_TOKEN)
