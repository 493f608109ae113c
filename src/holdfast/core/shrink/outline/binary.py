"""Bytes that came as text: their size and a guess at what they are, never the bytes."""

import re

from holdfast.core.shrink.outline.fit import Sketch
from holdfast.core.shrink.outline.reading import Reading

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
ENCODED: tuple[tuple[str, str], ...] = (
    ("iVBORw0KGgo", "PNG image"),
    ("/9j/", "JPEG image"),
    ("R0lGOD", "GIF image"),
    ("JVBERi", "PDF document"),
    ("UEsDB", "zip archive"),
    ("H4sI", "gzip archive"),
    ("UklGR", "RIFF media"),
    ("PHN2Zy", "SVG image"),
)
"""How the same files begin in base64."""

BASE64 = re.compile(r"^(?:data:[\w./+-]{1,60};base64,)?[A-Za-z0-9+/=_-]{400}")
CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufffd\udc80-\udcff]")
SEEN = 4_096


def is_blob(text: str) -> bool:
    """Whether this is bytes: many characters that no writer uses, or base64 with no space in it."""
    head = text[:SEEN]
    middle = text[len(text) // 2 :][:SEEN]
    odd = max(_odd(head), _odd(middle))
    return odd > 0.1 or (odd > 0 and _magic(head) != "") or _encoded(text)


def _odd(part: str) -> float:
    return len(CONTROL.findall(part)) / len(part) if part else 0.0


def _encoded(text: str) -> bool:
    head = text[:SEEN].lstrip()
    if not BASE64.match(head):
        return False
    # A run of one letter is no encoding, and neither is a rule of dashes.
    return len(set(head[:400])) > 16


def _magic(head: str) -> str:
    start = head[:16]
    return next((name for mark, name in MAGIC if mark in start), "")


def outline_blob(reading: Reading, _lines: int, _width: int) -> Sketch:
    """The size and the guessed type."""
    text = reading.whole
    size = f"{len(text):,} characters"
    if not _encoded(text):
        return Sketch(f"binary: {_magic(text) or 'unknown type'}, {size}", ())
    body = text.lstrip().partition("base64,")[2] or text.lstrip()
    what = next((name for mark, name in ENCODED if body.startswith(mark)), "unknown type")
    return Sketch(f"binary in base64: {what}, {size}, about {len(body) * 3 // 4:,} bytes", ())
