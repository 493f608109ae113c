"""Find the sentences of prose in a text, and classify them: question, announcement, search.

Users paste code, logs and quotations between their sentences; those are skipped. A sentence is a
slice of the text, so it can be found there again.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, TypeAlias

from msgspec import Struct

from holdfast.text.patterns import Pattern

Kind: TypeAlias = Literal["plain", "item", "heading"]


class Sentence(Struct, frozen=True):
    """A sentence, an item of a list or a heading, and its position."""

    text: str
    start: int
    kind: Kind = "plain"

    @property
    def end(self) -> int:
        """Return the position of its end."""
        return self.start + len(self.text)


MAX_CACHED_CHARS = 40_000
"""The sentences of a text up to this length are cached."""
EDGE_CHARS = 16_000
"""Characters to read at each end of a longer text: its middle is pasted."""

FENCES = ("```", "~~~")
LIST_ITEM = Pattern(r"(?:[-*•–]|\d{1,3}[.)]|\([a-z0-9]\)|[a-z]\))[ \t]{1,8}(?:\[[ xX]\] )?")
PASTED_LINE_START = Pattern(
    r"[>|{}<+$%➜❯│┃⎿●✓✗✘─═=]|@@|\[[\w:./ -]{1,40}\](?!\()|\"[^\"\n]{0,80}\":"
    r"|'/|'[^' \n]{1,60}',?$|/\w{1,40}/"
    r"|\d{1,4}[-/:]\d{1,2}[-/:]\d{1,2}|\d{1,6}\s{0,4}[|:│]|at \S{1,200} ?\(|at <|File \""
    r"|\.{1,2}/|E {2,16}\S|Traceback\b|(?:[A-Z]\w{0,24})?(?:Error|Exception|Warning)\b ?[:\[(]"
    r"|(?:FAIL|WARN|WARNING|INFO|DEBUG|ERROR)(?:ED)?\b|---? (?:FAIL|PASS)|PASS$|ok[ \t]{2}"
    r"|(?:diff --git|(?:index|commit) [0-9a-f]{6}|Author:|Date:|remote:|fatal:|error:|warning:"
    r"|npm (?:ERR|WARN)|panic:)"
    r"|(?:import|from|const|let|var|func|return|if|for|while|else) .{0,200}[;{(]$"
    r"|(?:def|class|elif|try|except)\b.{0,200}:$"
)
"""The beginning of a line that was pasted: logs, traces, diffs, tables, code, markup."""

COMMENT_START, COMMENT_END = "<!--", "-->"
"""Marks of a comment, such as a hint in a form, which the user did not write."""
TEST_NAME_LINE = Pattern(r"\w{1,120} \([\w.]{1,200}\)$")
TEST_STATUS = Pattern(r"(?<=\.\.\. )(?:ok|FAIL|ERROR|skipped\b.{0,80}|expected failure)$")

SENTENCE_END = Pattern(r"[.!?…]{1,8}[\"'”’)\]*_`]{0,3}(?=\s)|[。！？]{1,8}")
ABBREVIATION = Pattern(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|mr|mrs|ms|dr|approx|resp|incl|fig)$|^\d{1,3}$",
    re.IGNORECASE,
)
MIN_WRAPPED_CHARS = 50
"""An editor may have wrapped a line that is at least this long."""
MAX_ITEM_CHARS = 300
"""An item of a list up to this length is one sentence."""


THOUGHT_LABEL = Pattern(r"^(?:THOUGHT|Thought|DISCUSSION): ?")
"""The label before an agent's thought, which is not part of the thought."""


def sentences_in(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of prose in a text, in order: no code, quotation or pasted output."""
    return _cached_sentences(text) if len(text) <= MAX_CACHED_CHARS else _find_sentences(text)


@lru_cache(maxsize=1_024)
def _cached_sentences(text: str) -> tuple[Sentence, ...]:
    return _find_sentences(text)


def _find_sentences(text: str) -> tuple[Sentence, ...]:
    if len(text) <= 2 * EDGE_CHARS:
        return tuple(_sentences_of(text, 0))
    tail = text.find("\n", len(text) - EDGE_CHARS)
    head = text[: text.rfind("\n", 0, EDGE_CHARS) + 1]
    return (*_sentences_of(head, 0), *(_sentences_of(text[tail:], tail) if tail >= 0 else ()))


def _sentences_of(text: str, offset: int) -> Iterator[Sentence]:
    for start, end, kind in _units(text):
        unit = text[start:end]
        short = kind == "item" and len(unit) <= MAX_ITEM_CHARS and "? " not in unit
        whole = kind == "heading" or short
        for first, last in [(0, len(unit))] if whole else _sentence_spans(unit):
            piece = unit[first:last]
            lead = len(piece) - len(piece.lstrip())
            if piece := piece.strip():
                yield Sentence(piece, offset + start + first + lead, kind)


def _sentence_spans(unit: str) -> Iterator[tuple[int, int]]:
    at = 0
    for end in SENTENCE_END.finditer(unit):
        if end[0] == "." and ABBREVIATION.search(unit, max(at, end.start() - 12), end.start()):
            continue
        yield at, end.end()
        at = end.end()
    yield at, len(unit)


_LineKind: TypeAlias = Kind | Literal["blank", "indented", "pasted"]


class _Line(Struct, frozen=True):
    text: str
    start: int
    indent: int
    kind: _LineKind

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def _units(text: str) -> Iterator[tuple[int, int, Kind]]:
    """Yield the start, the end and the kind of each paragraph, item and heading."""
    open_unit: tuple[int, int, Kind] | None = None
    before: _Line | None = None
    for line in _lines(text):
        if open_unit and before and _continues(open_unit, before, line):
            open_unit = (open_unit[0], line.end, open_unit[2])
        else:
            if open_unit:
                yield open_unit
            open_unit = _unit(line)
        before = line
    if open_unit:
        yield open_unit


def _unit(line: _Line) -> tuple[int, int, Kind] | None:
    match line.kind:
        case "blank" | "indented" | "pasted":
            return None
        case "item":
            marker = LIST_ITEM.match(line.text)
            return (line.start + (marker.end() if marker else 0), line.end, "item")
        case kind:
            return (line.start, line.end, kind)


def _continues(unit: tuple[int, int, Kind], before: _Line, line: _Line) -> bool:
    """Whether a line continues an item, by its indent, or a wrapped paragraph."""
    if line.kind not in {"plain", "indented"} or unit[2] == "heading":
        return False
    if unit[2] == "item" and line.indent:
        first = before.kind == "item"
        return line.indent > before.indent if first else line.indent == before.indent
    return (
        line.kind == "plain"
        and len(before.text) >= MIN_WRAPPED_CHARS
        and before.text[-1] not in ".!?:;。！？"
        and (line.text[0].islower() or before.text[-1] == ",")
    )


def _lines(text: str) -> Iterator[_Line]:
    rows = text.split("\n")
    indents = [len(row) - len(row.lstrip()) for row in rows if row.strip()]
    base = min(indents, default=0)
    fence = before = ""
    start = comment_end = 0
    last_comment_end = text.rfind(COMMENT_END)
    for row in rows:
        bare = row.strip()
        indent = len(row) - len(row.lstrip()) if bare else 0
        if bare.startswith(COMMENT_START) and comment_end <= start < last_comment_end and not fence:
            comment_end = text.find(COMMENT_END, start) + len(COMMENT_END)
        if bare.startswith(FENCES) and (not fence or bare.startswith(fence)):
            fence = "" if fence else bare[:3]
            kind = "pasted"
        elif fence or start < comment_end or _is_test_report(before, bare):
            kind = "pasted"
        else:
            kind = _line_kind(row, bare, indent - base)
        yield _Line(bare, start + indent, indent, kind)
        start += len(row) + 1
        before = bare


def _is_test_report(before: str, bare: str) -> bool:
    """Whether a line is the outcome of the test in the line above, in the output of a test run."""
    return TEST_STATUS.search(bare) is not None and TEST_NAME_LINE.match(before) is not None


def _line_kind(row: str, bare: str, indent: int) -> _LineKind:
    if not bare:
        return "blank"
    if bare.startswith("#"):
        return "heading" if bare.lstrip("#").startswith(" ") else "pasted"
    if LIST_ITEM.match(bare):
        return "item"
    if PASTED_LINE_START.match(bare):
        return "pasted"
    return "indented" if indent >= 4 or row.startswith("\t") else "plain"


def without_html_comments(text: str) -> str:
    """Remove the comments of a page from its text."""
    first, *parts = text.split(COMMENT_START)
    shown = (part.partition(COMMENT_END) for part in parts)
    return first + "".join(rest if end else f"{COMMENT_START}{part}" for part, end, rest in shown)


QUESTION_START = Pattern(
    r"^(?:(?:ok|so|and|but|also|hmm|wait|then|well|q)[,:]? ){0,3}"
    r"(?:should (?:we|i|it|they|this|that)"
    r"|why|how (?:do|does|can|would|about|should|come)|what(?:'s| is| are| do| does| about| should)"
    r"|where|who|which|do (?:we|i|you)|does|did|is (?:it|there|this|that)|are (?:we|there|you)"
    r"|can (?:we|i)|could we|would (?:it|that)|isn't|aren't|can't we|shouldn't|don't we)\b"
)
POLITE_REQUEST = Pattern(
    r"(?<!why )(?<!how )(?<!what )(?<!where )\b(?:can|could|would|will) you (?!say\b|think\b"
    r"|suggest|recommend|prefer|explain)|\bplease\b"
)


def is_question(text: str) -> bool:
    """Whether a sentence asks something; a polite request ("could you …") does not."""
    words = plain_words(text)
    if QUESTION_START.match(words):
        return True
    return words.rstrip("\"')*_ ").endswith(("?", "？")) and not POLITE_REQUEST.search(words)


def plain_words(text: str) -> str:
    """Normalize a text for patterns: lower case, straight apostrophes, no bold, one line."""
    return text.lower().replace("’", "'").replace("**", "").replace("\n", " ")


ANNOUNCEMENT = Pattern(
    r"(?:now |next,? |first,? |ok(?:ay)?,? |perfect[.!,]? |good[.!,]? |great[.!,]? ){0,3}"
    r"(?:let me|let's|i'll|i will|i need to|i should|looking at|here(?:'s| is| are))\b"
)


def is_announcement(text: str) -> bool:
    """Whether a sentence only announces the next action."""
    return ANNOUNCEMENT.match(text.lstrip().lower()) is not None


LOOKUP_ANNOUNCEMENT = Pattern(
    r"(?:now |next,? |first,? |ok(?:ay)?,? ){0,3}(?:let me|let's|i'll|i will|i need to|i should) "
    r"(?:first |also |now |just |quickly ){0,2}"
    r"(?:check|look|see|read|find|search|explore|examine|inspect|investigate|verify|understand"
    r"|view|review|try to|take a look|get|fetch|list|confirm|figure)\b"
)


def announces_lookup(text: str) -> bool:
    """Whether a sentence announces that its author will look something up."""
    return LOOKUP_ANNOUNCEMENT.match(text.lstrip().lower()) is not None
