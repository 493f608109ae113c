"""Find the sections of a Markdown text: their titles, and where each begins and ends.

A section extends from its heading to the next one of the same or a higher rank. A line in a fence
or in a comment is not a heading.
"""

from msgspec import Struct

from holdfast.text.patterns import Pattern

HEADING = Pattern(r"(#{1,6})[ \t]{1,8}(\S.{0,300})")
FENCE = Pattern(r"[ ]{0,3}(`{3,200}|~{3,200})")
COMMENT_START, COMMENT_END = "<!--", "-->"
LINE_STARTS = ("#", "`", "~", " ")
"""The first characters of lines that may be a heading or a fence."""


class Section(Struct, frozen=True):
    """A section with its positions in a text."""

    title: str
    rank: int
    start: int
    """The start of its heading."""
    body: int
    """The start of the line after its heading."""
    end: int


def sections_of(text: str) -> list[Section]:
    """Return the sections of a text, in the order of their headings."""
    heads = _headings(text)
    sections: list[Section] = []
    open_indexes: list[int] = []
    ends = [len(text)] * len(heads)
    for at, (rank, _, start, _) in enumerate(heads):
        while open_indexes and heads[open_indexes[-1]][0] >= rank:
            ends[open_indexes.pop()] = start
        open_indexes.append(at)
    for (rank, title, start, body), end in zip(heads, ends, strict=True):
        sections.append(Section(title, rank, start, body, end))
    return sections


def sections_titled(text: str, title: str) -> list[Section]:
    """Return the sections with a title, without regard to case and markup."""
    plain = _normal_title(title)
    return [section for section in sections_of(text) if _normal_title(section.title) == plain]


def _normal_title(title: str) -> str:
    return " ".join(title.strip(" \t#*_:").lower().split())


def _headings(text: str) -> list[tuple[int, str, int, int]]:
    """Return the rank, the title, the start, and the start of the next line of each heading."""
    headings: list[tuple[int, str, int, int]] = []
    fence, comment, at = "", False, 0
    for line in text.split("\n"):
        start, at = at, min(at + len(line) + 1, len(text))
        # Skip plain lines, which are the most, before any regular expression.
        if not fence and not comment and line[:1] not in LINE_STARTS and COMMENT_START not in line:
            continue
        if comment:
            comment = COMMENT_END not in line
            continue
        marks = FENCE.match(line)
        if fence:
            closing = marks is not None and marks[1][0] == fence[0] and len(marks[1]) >= len(fence)
            fence = "" if closing and not line.strip().strip(fence[0]) else fence
        elif marks is not None:
            fence = marks[1]
        elif heading := HEADING.match(line):
            headings.append((len(heading[1]), heading[2].strip(), start, at))
        else:
            comment_at = line.rfind(COMMENT_START)
            comment = comment_at >= 0 and COMMENT_END not in line[comment_at:]
    return headings


def newline_of(text: str) -> str:
    """Return the line ending of a text."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
