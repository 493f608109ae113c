"""Bound the tokens of a body without a tokenizer, and count pictures and documents by formula.

A byte-level vocabulary never makes more tokens than a text has bytes. So this bound is cheap.
"""

from holdfast.core.ledger.entry import Attached, Media, Source, Thought, ToolReturned, text_of

PATCH_PIXELS = 28
"""The side of the square of pixels that counts as one token of a picture."""
MAX_PICTURE_TOKENS = 1568
"""Providers scale larger pictures down."""
UNKNOWN_PICTURE_TOKENS = 1600
"""Assumed for a picture whose size cannot be read."""
BYTES_PER_DOCUMENT_TOKEN = 20
"""A page of a document is about 50 kB and 2,500 tokens."""


def byte_size(body: Source) -> int:
    """Return the number of UTF-8 bytes of a body's text."""
    text = text_of(body)
    return len(text) if text.isascii() else len(text.encode())


def media_tokens(media: Media) -> int:
    """Return the tokens of a picture by its size, of a document by its bytes."""
    if media.kind == "image":
        if not media.width or not media.height:
            return UNKNOWN_PICTURE_TOKENS
        patches = -(-media.width // PATCH_PIXELS) * -(-media.height // PATCH_PIXELS)
        return min(patches, MAX_PICTURE_TOKENS)
    return media.size // BYTES_PER_DOCUMENT_TOKEN


def media_of(body: Source) -> tuple[Media, ...]:
    """Return the pictures, documents and sounds in a body."""
    if isinstance(body, Attached):
        return (body.media,)
    return body.media if isinstance(body, ToolReturned) else ()


def is_unsent(body: Source) -> bool:
    """Whether a body is never sent to the provider, and so counts no tokens."""
    return isinstance(body, Thought) and body.unsent


def max_tokens(body: Source) -> int:
    """Return an upper bound of the tokens of a body."""
    if is_unsent(body):
        return 0
    return byte_size(body) + sum(media_tokens(item) for item in media_of(body))
