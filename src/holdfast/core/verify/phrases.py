"""Lines as they read, and the part of one that tells most."""

import re

PHRASE = 60
"""Characters of a row that have to stand there, when it need not stand there whole."""
OPENING = 120
"""Characters of a line among which the phrase is looked for: a row may be cut behind them."""
_MARKER = re.compile(r"(?:(?:[>|*+-]|#{1,6}|\d{1,3}[.)]|\[[ xX]\]) ){1,6}")
_SIGN = re.compile(r"[0-9_/=]|\w[.:-]\w|[a-z][A-Z]|[A-Z]{2}")
# A row may be spelled as a JSON string or stand in a table: both sides are read without that.
_QUOTED = re.compile(r"""\\{1,8}(["|])""")
_ESCAPED = re.compile(r"\\{1,8}[nrt]?")


def is_alone(part: str) -> bool:
    """Whether this is a single word; what is written without spaces is not taken for one."""
    return " " not in part and part.isascii()


def phrase_of(text: str) -> str:
    """The part of a text that tells most, short enough to be left when the rest is cut."""
    line = opening_of(max(map(plain_line, text.splitlines()), key=_signs, default=""), OPENING)
    starts = [0, *(at + 1 for at, char in enumerate(line) if char == " ")]
    last = next((at for at in starts if len(line) - at <= PHRASE), starts[-1])
    spans = (opening_of(line[at:], PHRASE) for at in starts if at <= last)
    phrase = max(spans, key=_signs)
    # A phrase of punctuation alone cannot be searched for by its words.
    return phrase if any(map(str.isalnum, phrase)) else ""


def _signs(line: str) -> int:
    """How many words of a line look like names, ids or values."""
    return sum(1 for word in line[:OPENING].split(" ") if _SIGN.search(word))


def opening_of(line: str, most: int) -> str:
    """The opening of a line, never cut inside a word: rather too long than to lose a long word."""
    if len(line) <= most:
        return line
    end = line.rfind(" ", most // 2, most + 1)
    if end < 0:
        places = (*range(most, most // 2, -1), *range(most + 1, len(line) + 1))
        end = next(at for at in places if not goes_through(line, at))
    return line[:end].rstrip()


def goes_through(text: str, at: int) -> bool:
    """Whether a word goes on across a place."""
    return _in_word(text[at - 1 : at]) and _in_word(text[at : at + 1])


def _in_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


def plain_line(line: str) -> str:
    """A line as it reads, without marks of lists, quotes and tables; empty when it says nothing."""
    line = line.replace("`", "")
    if "\\" in line:
        line = _ESCAPED.sub(" ", _QUOTED.sub(r"\1", line))
    line = " ".join(line.split())
    found = _MARKER.match(line)
    line = line[found.end() :] if found else line
    return line if any(map(str.isalnum, line)) else ""
