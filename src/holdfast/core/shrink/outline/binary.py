"""Detect and outline binary data in a text: its size and probable type, never the bytes."""

from holdfast.core.shrink.outline.fit import Sketch
from holdfast.core.shrink.outline.reading import TextReading
from holdfast.text.patterns import Pattern

MAGIC: tuple[tuple[str, str], ...] = (
    ("PNG\r\n", "PNG image"),
    ("PNG\n\x1a", "PNG image"),
    ("\xff\xd8\xff", "JPEG image"),
    ("GIF8", "GIF image"),
    ("%PDF-", "PDF document"),
    ("PK\x03\x04", "zip archive"),
    ("\x7fELF", "ELF program"),
    ("\x1f\x8b", "gzip archive"),
    ("SQLite format 3\x00", "SQLite database"),
    ("RIFF", "RIFF media"),
    ("OggS", "Ogg media"),
    ("ID3", "MP3 audio"),
    ("\x00asm", "WebAssembly module"),
    ("BZh", "bzip2 archive"),
    ("wOFF", "web font"),
    ("MZ", "Windows program"),
)
BASE64_MAGIC: tuple[tuple[str, str], ...] = (
    ("iVBORw0KGgo", "PNG image"),
    ("/9j/", "JPEG image"),
    ("R0lGOD", "GIF image"),
    ("JVBERi", "PDF document"),
    ("UEsDB", "zip archive"),
    ("H4sI", "gzip archive"),
    ("UklGR", "RIFF media"),
    ("PHN2Zy", "SVG image"),
)
"""The first characters of such files in base64."""

BASE64 = Pattern(r"^(?:data:[\w./+-]{1,60};base64,)?[A-Za-z0-9+/=_-]{400}")
CONTROL = Pattern("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufffd\udc80-\udcff]")
SAMPLE_CHARS = 4_096


def is_blob(text: str) -> bool:
    """Return whether a text is binary: many control characters, or base64 without spaces."""
    head = text[:SAMPLE_CHARS]
    middle = text[len(text) // 2 :][:SAMPLE_CHARS]
    odd = max(_control_share(head), _control_share(middle))
    return odd > 0.1 or (odd > 0 and _type_by_magic(head) != "") or _is_base64(text)


def _control_share(part: str) -> float:
    return len(CONTROL.findall(part)) / len(part) if part else 0.0


def _is_base64(text: str) -> bool:
    head = text[:SAMPLE_CHARS].lstrip()
    if not BASE64.match(head):
        return False
    # A run of one letter or of dashes is not base64.
    return len(set(head[:400])) > 16


def _type_by_magic(head: str) -> str:
    start = head[:16]
    return next((name for mark, name in MAGIC if mark in start), "")


def outline_blob(reading: TextReading, _lines: int, _width: int) -> Sketch:
    """Show the size and the probable type."""
    text = reading.whole
    size = f"{len(text):,} characters"
    if not _is_base64(text):
        return Sketch(f"binary: {_type_by_magic(text) or 'unknown type'}, {size}", ())
    body = text.lstrip().partition("base64,")[2] or text.lstrip()
    what = next((name for mark, name in BASE64_MAGIC if body.startswith(mark)), "unknown type")
    return Sketch(f"binary in base64: {what}, {size}, about {len(body) * 3 // 4:,} bytes", ())
