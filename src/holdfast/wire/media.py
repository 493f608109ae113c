"""Describe images, documents and audio in messages: type, size, digest and dimensions."""

import base64
import binascii
from collections.abc import Sequence
from hashlib import sha256

from holdfast.core.ledger.entry import Attached, Media, Opaque, Source, text_of
from holdfast.text.jsontext import Json, as_object, as_text, canonical, parse, stable_text
from holdfast.text.utf8 import to_bytes

PROBED_CHARS = 64 * 1024
"""Characters of base64 that are decoded to find the dimensions of an image."""


def read_media(kind: str, source: Json) -> Media:
    """Describe the image, document or audio of a source object or data URL."""
    if isinstance(source, str):
        return _from_url(kind, source)
    data = as_object(source)
    payload = as_text(data.get("data") or data.get("file_data"))
    if not payload:
        url = as_text(data.get("url"))
        return _from_url(kind, url) if url else Media(kind, digest=_digest(canonical(source)))
    return _from_base64(kind, as_text(data.get("media_type") or data.get("format")), payload)


def join_output(parts: Sequence[Source]) -> tuple[str, tuple[Media, ...]]:
    """Return the text and the media of a tool result that has several parts."""
    media = tuple(part.media for part in parts if isinstance(part, Attached))
    words = [
        stable_text(parse(part.json.encode())[0]) if isinstance(part, Opaque) else text_of(part)
        for part in parts
        if not isinstance(part, Attached)
    ]
    return "\n".join(words), media


def _from_url(kind: str, url: str) -> Media:
    head, comma, payload = url.partition(",")
    if head.startswith("data:") and comma:
        return _from_base64(kind, head[5:].partition(";")[0], payload)
    return Media(kind, digest=_digest(to_bytes(url)))


def _from_base64(kind: str, media_type: str, payload: str) -> Media:
    width, height = picture_size(_decode_start(payload)) if kind == "image" else (0, 0)
    return Media(
        kind=kind,
        type=media_type,
        digest=_digest(to_bytes(payload)),
        size=len(payload) * 3 // 4,
        width=width,
        height=height,
    )


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:32]


def _decode_start(payload: str) -> bytes:
    try:
        return base64.b64decode(payload[:PROBED_CHARS])
    except (binascii.Error, ValueError):
        return b""


def picture_size(data: bytes) -> tuple[int, int]:
    """Return width and height of a PNG, GIF, JPEG or WebP; zeros if they are not found."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    if data.startswith((b"GIF87a", b"GIF89a")) and len(data) >= 10:
        return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    if data.startswith(b"\xff\xd8"):
        return _jpeg_size(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp_size(data)
    return 0, 0


def _webp_size(data: bytes) -> tuple[int, int]:
    """Return width and height of an extended, lossless or lossy WebP."""
    match data[12:16]:
        case b"VP8X":
            width, height = data[24:27], data[27:30]
            return int.from_bytes(width, "little") + 1, int.from_bytes(height, "little") + 1
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = data[26:28], data[28:30]
            return (
                int.from_bytes(width, "little") & 0x3FFF,
                int.from_bytes(height, "little") & 0x3FFF,
            )
        case _:
            return 0, 0


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4])
        # Frame headers are C0–CF, except three markers with another meaning.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7])
        at += 2 + length
    return 0, 0
