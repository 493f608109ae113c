"""Sections of a Markdown text: where one begins and ends, to the character.

A section runs from its heading to the next of the same rank or a higher one. What stands in a
fence or in a comment is no heading.
"""

import re

from msgspec import Struct

HEADING = re.compile(r"(#{1,6})[ \t]{1,8}(\S.{0,300})")
FENCE = re.compile(r"[ ]{0,3}(`{3,200}|~{3,200})")
OPENS, CLOSES = "<!--", "-->"
MARKS = ("#", "`", "~", " ")
"""How a line begins that may be a heading or a fence."""


class Section(Struct, frozen=True):
    """A section by its places in a text."""

    title: str
    rank: int
    start: int
    """Where its heading begins."""
    body: int
    """Where the line after its heading begins."""
    end: int


def sections_of(text: str) -> list[Section]:
    """Every section of a text, in the order of their headings."""
    heads = _headings(text)
    found: list[Section] = []
    open_ones: list[int] = []
    ends = [len(text)] * len(heads)
    for at, (rank, _, start, _) in enumerate(heads):
        while open_ones and heads[open_ones[-1]][0] >= rank:
            ends[open_ones.pop()] = start
        open_ones.append(at)
    for (rank, title, start, body), end in zip(heads, ends, strict=True):
        found.append(Section(title, rank, start, body, end))
    return found


def titled(text: str, title: str) -> list[Section]:
    """The sections of that title."""
    plain = _plain(title)
    return [section for section in sections_of(text) if _plain(section.title) == plain]


def _plain(title: str) -> str:
    return " ".join(title.strip(" \t#*_:").lower().split())


def _headings(text: str) -> list[tuple[int, str, int, int]]:
    """Rank, title, and where the heading and the line after it begin."""
    found: list[tuple[int, str, int, int]] = []
    fence, comment, at = "", False, 0
    for line in text.split("\n"):
        start, at = at, min(at + len(line) + 1, len(text))
        # Most lines are plain words, of which nothing has to be known.
        if not fence and not comment and line[:1] not in MARKS and OPENS not in line:
            continue
        if comment:
            comment = CLOSES not in line
            continue
        marks = FENCE.match(line)
        if fence:
            closing = marks is not None and marks[1][0] == fence[0] and len(marks[1]) >= len(fence)
            fence = "" if closing and not line.strip().strip(fence[0]) else fence
        elif marks is not None:
            fence = marks[1]
        elif heading := HEADING.match(line):
            found.append((len(heading[1]), heading[2].strip(), start, at))
        else:
            begun = line.rfind(OPENS)
            comment = begun >= 0 and CLOSES not in line[begun:]
    return found


def newline_of(text: str) -> str:
    """How the lines of a text end."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
