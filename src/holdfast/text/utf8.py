"""Convert text to UTF-8 bytes and back, including lone surrogates.

A truncated transcript or the output of a tool may contain half of a surrogate pair. Plain UTF-8
refuses it; these functions keep it.
"""


def to_bytes(text: str) -> bytes:
    """Encode a text; a lone surrogate is encoded as if it were a character."""
    return text.encode("utf-8", "surrogatepass")


def from_bytes(raw: bytes) -> str:
    """Decode bytes that `to_bytes` returned."""
    return raw.decode("utf-8", "surrogatepass")
