"""How large a body can be, found without a tokenizer.

A byte-level vocabulary never makes more tokens than a text has bytes; pictures and documents count
by formula. So there is a bound that costs nothing.
"""

from holdfast.core.ledger.entry import Attached, Media, Source, Thought, ToolReturned, text_of

PATCH = 28
"""Side of the square of pixels that counts as one token of a picture."""
LARGEST_PICTURE = 1568
"""Tokens; providers scale larger pictures down."""
UNKNOWN_PICTURE = 1600
"""Tokens assumed for a picture whose size cannot be read."""
BYTES_PER_DOCUMENT_TOKEN = 20
"""A page of a document is about 50 kB and 2,500 tokens."""


def byte_size(body: Source) -> int:
    """UTF-8 bytes of a body's words."""
    text = text_of(body)
    return len(text) if text.isascii() else len(text.encode())


def media_tokens(media: Media) -> int:
    """Tokens of a picture by its size, of a document by its bytes."""
    if media.kind == "image":
        if not media.width or not media.height:
            return UNKNOWN_PICTURE
        patches = -(-media.width // PATCH) * -(-media.height // PATCH)
        return min(patches, LARGEST_PICTURE)
    return media.size // BYTES_PER_DOCUMENT_TOKEN


def media_of(body: Source) -> tuple[Media, ...]:
    """The pictures, documents and sounds in a body."""
    if isinstance(body, Attached):
        return (body.media,)
    return body.media if isinstance(body, ToolReturned) else ()


def is_unsent(body: Source) -> bool:
    """Whether a body is never sent to the provider, and so takes no room in its window."""
    return isinstance(body, Thought) and body.unsent


def most_tokens(body: Source) -> int:
    """A bound: no body has more tokens than this."""
    if is_unsent(body):
        return 0
    return byte_size(body) + sum(media_tokens(item) for item in media_of(body))
