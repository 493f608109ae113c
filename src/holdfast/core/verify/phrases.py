"""Strip markup from lines, and pick the most specific phrase of a text."""

from functools import lru_cache

from holdfast.text.patterns import Pattern

PHRASE_CHARS = 60
"""Characters of the phrase that represents a row which need not be quoted whole."""
OPENING_CHARS = 120
"""Characters at the start of a line in which the phrase is searched; rows may be cut after them."""
MAX_CACHED_CHARS, MAX_CACHED_TEXTS = 2_000, 1_024
"""Texts whose phrase is cached: each summary is probed for mostly the same rows."""
# Marks at the start of a line: "- ", "## ", "1. ", "> [x] "; not "-x".
_MARKER = Pattern(r"(?:(?:[>|*+-]|#{1,6}|\d{1,3}[.)]|\[[ xX]\]) ){1,6}")
_NAME_OR_VALUE = Pattern(r"[0-9_/=]|\w[.:-]\w|[a-z][A-Z]|[A-Z]{2}")
# A row may be written as a JSON string or in a table, so escapes are removed on both sides.
_QUOTED = Pattern(r"""\\{1,8}(["|])""")
_ESCAPED = Pattern(r"\\{1,8}[nrt]?")


def is_single_word(part: str) -> bool:
    """Whether a text is a single ASCII word; scripts without spaces do not count."""
    return " " not in part and part.isascii()


def phrase_of(text: str) -> str:
    """Return the most specific phrase of a text, short enough to survive when a row is cut."""
    return _cached_phrase(text) if len(text) <= MAX_CACHED_CHARS else _find_phrase(text)


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _cached_phrase(text: str) -> str:
    return _find_phrase(text)


def _find_phrase(text: str) -> str:
    line = opening_of(
        max(map(plain_line, text.splitlines()), key=_count_names, default=""), OPENING_CHARS
    )
    starts = [0, *(at + 1 for at, char in enumerate(line) if char == " ")]
    last = next((at for at in starts if len(line) - at <= PHRASE_CHARS), starts[-1])
    spans = (opening_of(line[at:], PHRASE_CHARS) for at in starts if at <= last)
    phrase = max(spans, key=_count_names)
    # A phrase of only punctuation has no words to search for.
    return phrase if any(map(str.isalnum, phrase)) else ""


def _count_names(line: str) -> int:
    """Count the words of a line that look like names, ids or values."""
    return sum(1 for word in line[:OPENING_CHARS].split(" ") if _NAME_OR_VALUE.search(word))


def opening_of(line: str, max_chars: int) -> str:
    """Return the start of a line, about `max_chars` long and never cut inside a word."""
    if len(line) <= max_chars:
        return line
    end = line.rfind(" ", max_chars // 2, max_chars + 1)
    if end < 0:
        places = (*range(max_chars, max_chars // 2, -1), *range(max_chars + 1, len(line) + 1))
        end = next(at for at in places if not splits_word(line, at))
    return line[:end].rstrip()


def splits_word(text: str, at: int) -> bool:
    """Whether a place is inside a word."""
    return _in_word(text[at - 1 : at]) and _in_word(text[at : at + 1])


def _in_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


def plain_line(line: str) -> str:
    """Return a line without marks of lists, quotes and tables; empty if it has no word."""
    line = line.replace("`", "")
    if "\\" in line:
        line = _ESCAPED.sub(" ", _QUOTED.sub(r"\1", line))
    line = " ".join(line.split())
    found = _MARKER.match(line)
    line = line[found.end() :] if found else line
    return line if any(map(str.isalnum, line)) else ""
