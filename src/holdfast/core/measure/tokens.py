"""Counting: what a body costs in a vocabulary, and what can be said without one.

A byte-level vocabulary never makes more tokens than a text has bytes. That bound is free, needs
no tokenizer, and is enough for a hook to know that nothing has to be done.
"""

from collections.abc import Callable
from typing import TypeAlias

from holdfast.core.ledger.entry import Attached, Media, Source, ToolReturned, text_of
from holdfast.core.ledger.head import byte_size

CountTokens: TypeAlias = Callable[[str], int]

BYTES_PER_TOKEN = 3.5
"""For text nobody has counted: right for code and JSON, high for prose, low for hashes."""

PATCH = 28
"""Side of the square of pixels that counts as one token of a picture."""
LARGEST_PICTURE = 1568
"""Tokens; providers scale larger pictures down."""
UNKNOWN_PICTURE = 1600
"""Tokens assumed for a picture whose size cannot be read."""
BYTES_PER_DOCUMENT_TOKEN = 20
"""A page of a document is about 50 kB and 2,500 tokens."""


def count_body(body: Source, count: CountTokens) -> int:
    """Raw tokens of a body: its words in a vocabulary, its pictures by formula."""
    text = text_of(body)
    words = count(text) if text else 0
    match body:
        case Attached():
            return words + media_tokens(body.media)
        case ToolReturned():
            return words + sum(media_tokens(item) for item in body.media)
        case _:
            return words


def media_tokens(media: Media) -> int:
    """Tokens of a picture by its size, of a document by its bytes."""
    if media.kind == "image":
        if not media.width or not media.height:
            return UNKNOWN_PICTURE
        patches = -(-media.width // PATCH) * -(-media.height // PATCH)
        return min(patches, LARGEST_PICTURE)
    return media.size // BYTES_PER_DOCUMENT_TOKEN


def guess(size: int) -> int:
    """Tokens of a text of so many bytes, when nobody has counted."""
    return round(size / BYTES_PER_TOKEN)


def most_tokens(body: Source) -> int:
    """A bound that needs no tokenizer: no body has more tokens than this."""
    match body:
        case Attached():
            return byte_size(body) + media_tokens(body.media)
        case ToolReturned():
            return byte_size(body) + sum(media_tokens(item) for item in body.media)
        case _:
            return byte_size(body)
