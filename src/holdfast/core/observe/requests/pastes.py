"""Splits a user's message into the user's own words and what was pasted into it.

A paste is a log, a trace, code, a table, JSON, a diff or a document: a fenced block, many lines of
one shape, or a block too long to have been typed. It is found line by line in linear time, and the
pieces put together are always the text. Where a line could be either, it is the user's: keeping a
line of a log costs a few tokens, losing an instruction costs the task.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from holdfast.core.faults import rule_or
from holdfast.core.ledger.marks import PASTE_LINE, PASTE_MARK, SUMMARY, is_stand_in
from holdfast.core.observe.sentences import FENCE, ITEM, PASTED

Kind: TypeAlias = Literal["words", "paste", "cut"]
"""The user's own words, a paste, or a paste that was cut before."""

LEAST_LINES = 6
"""Lines of one shape from which on they were pasted."""
LEAST_SIZE = 600
"""Characters from which fewer lines were pasted too."""
LONG_LINE = 2_000
"""Characters of a line from which on it is looked at for what was pasted into it."""
TYPED = 8_000
"""Characters of a line that nobody types."""
DOCUMENT = 32_000
"""Characters of words in one block from which on the block is a document."""
EDGE = 1_000
"""Characters at either end of a document or a long line that may be the user's own."""
LOOKED_AT = 400
"""Characters of a line that show its shape."""
DENSE = 8
"""One character in so many that is no letter makes a line one of code or output."""
ABSORBED = 4
"""Lines without a shape that a run of shaped lines goes on over."""
DELIMITERS = ",\t|;"

WORD = re.compile(r"[^\W\d_][^\W\d_'’-]{0,40}[,.;:!?)\"'”]{0,3}")
MARKS = re.compile(r"[{}\[\]()<>=;:/\\|_$#@&*+~^\"`%]")
CLOSES = re.compile(r"[.!?:。！？…：]{1,3}[\"'”’)*_`]{0,3}$")
OPENS_DATA = re.compile(r"(?:^|\s)[{\[<](?=[\s\"'{\[<\w!?/])")
UNBROKEN = re.compile(r"\S+")
LONG_WORD = 400
"""Characters without a space from which on nobody wrote them."""
SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")


class Piece(Struct, frozen=True):
    """A stretch of a message."""

    text: str
    kind: Kind


def _all_words(text: str) -> tuple[Piece, ...]:
    """The whole message as the user's own words."""
    return (Piece(text, "words"),) if text else ()


@rule_or(_all_words)
def pieces(text: str) -> tuple[Piece, ...]:
    """A message in stretches of words and pastes; together they are the text."""
    if len(text) < LEAST_SIZE and text.count("\n") < LEAST_LINES:
        return (Piece(text, _kind_of_short(text)),) if text else ()
    if text.startswith(SUMMARY) or is_stand_in(text):
        return (Piece(text, "words"),)
    rows = text.splitlines(keepends=True)
    labels = _labelled(rows)
    return tuple(_joined(part for run in _runs(rows, labels) for part in _refined(*run)))


def own_words_of(text: str) -> tuple[str, ...]:
    """The user's own words in a message: every stretch that is no paste, without outer blanks."""
    stripped = (piece.text.strip() for piece in pieces(text) if piece.kind == "words")
    return tuple(one for one in stripped if one)


def pasted_share(text: str, above: int) -> float:
    """The part of a message that is in pastes of more than so many characters."""
    sizes = (len(piece.text) for piece in pieces(text) if piece.kind == "paste")
    return sum(size for size in sizes if size > above) / max(len(text), 1)


def _kind_of_short(text: str) -> Kind:
    return "cut" if "\n" not in text.strip() and text.startswith(PASTE_MARK) else "words"


def _joined(parts: Iterator[Piece]) -> Iterator[Piece]:
    """Neighbours of one kind as one piece; a paste that was cut before stays by itself."""
    last: Piece | None = None
    for part in parts:
        if not part.text:
            continue
        if last is not None and part.kind == last.kind and part.kind != "cut":
            last = Piece(last.text + part.text, last.kind)
            continue
        if last is not None:
            yield last
        last = part
    if last is not None:
        yield last


Label: TypeAlias = Literal["blank", "shaped", "plain", "said", "fenced", "cut"]
"""What a line is: one that was surely pasted, one that could be, or one that somebody said."""


def _labelled(rows: Sequence[str]) -> list[Label]:
    labels: list[Label] = []
    fence, cut = "", False
    last_fence = max((at for at, row in enumerate(rows) if row.strip() in FENCE), default=-1)
    for at, row in enumerate(rows):
        bare = row.strip()
        cut = row.startswith(PASTE_MARK) or (cut and row.startswith(PASTE_LINE))
        if cut and not fence:
            labels.append("cut")
        elif fence:
            labels.append("fenced")
            fence = "" if bare.startswith(fence) and not bare.strip(fence[0]) else fence
        elif bare.startswith(FENCE) and at < last_fence:
            # A fence that nothing closes is a line like any other.
            fence = bare[:3]
            labels.append("fenced")
        else:
            labels.append(_label(row, bare))
    return _with_columns(rows, labels)


def _label(row: str, bare: str) -> Label:
    if not bare:
        return "blank"
    indented = row.startswith(("    ", "\t"))
    start = bare[:LOOKED_AT]
    if len(bare) > LONG_LINE:
        return "said"  # looked at more closely when the stretch is refined
    if _is_said(start):
        return "plain" if indented else "said"
    if ITEM.match(start) or start.startswith("# "):
        return "plain" if indented or start.startswith("# ") else "said"
    if start.startswith("##") and start.lstrip("#").startswith(" "):
        return "said"
    if indented or PASTED.match(start) or len(MARKS.findall(start)) * DENSE >= len(start):
        return "shaped"
    return "plain"


def _is_said(start: str) -> bool:
    """Whether a line reads like a sentence: words in a row, and few other characters."""
    if PASTED.match(start):
        return False
    words = start.split()
    real = sum(WORD.fullmatch(word) is not None for word in words)
    if not start.isascii() and not real * 2 >= len(words):
        letters = sum(char.isalpha() for char in start)
        return letters * 4 >= len(start) * 3
    if real * 4 < len(words) * 3 or len(MARKS.findall(start)) * 12 > len(start):
        return False
    return len(words) >= 5 or (len(words) >= 2 and CLOSES.search(start) is not None)


def _with_columns(rows: Sequence[str], labels: list[Label]) -> list[Label]:
    """Lines with the same number of delimiters, many in a row, are those of a table."""
    start = 0
    while start < len(rows):
        shape = _columns(rows[start]) if labels[start] in ("plain", "shaped", "said") else None
        end = start + 1
        while shape and end < len(rows) and _columns(rows[end]) == shape:
            end += 1
        if shape and end - start >= LEAST_LINES:
            shaped: list[Label] = ["shaped" for _ in range(start, end)]
            labels[start:end] = shaped
        start = end
    return labels


def _columns(row: str) -> tuple[str, int] | None:
    bare = row.strip()
    if not bare or ITEM.match(bare) or len(bare) > LONG_LINE:
        return None
    count, mark = max((bare.count(mark), mark) for mark in DELIMITERS)
    return (mark, count) if count >= 2 else None


def _runs(rows: Sequence[str], labels: Sequence[Label]) -> Iterator[tuple[str, Kind]]:
    """Stretches of lines that belong together."""
    at = 0
    while at < len(rows):
        label = labels[at]
        if label == "cut":
            end = at + 1
            while end < len(rows) and labels[end] == "cut" and not rows[end].startswith(PASTE_MARK):
                end += 1
            yield "".join(rows[at:end]), "cut"
        elif label in ("shaped", "fenced"):
            end = _run_end(rows, labels, at)
            yield "".join(rows[at:end]), "paste" if _is_paste(labels[at:end], rows, at) else "words"
        else:
            end = at + 1
            while end < len(rows) and labels[end] in ("blank", "plain", "said"):
                end += 1
            yield "".join(rows[at:end]), "words"
        at = end


def _run_end(rows: Sequence[str], labels: Sequence[Label], at: int) -> int:
    """Where a run of pasted lines ends: before the next line that somebody said."""
    last, gap = at, 0
    for place in range(at, len(rows)):
        label = labels[place]
        if label in ("shaped", "fenced"):
            last, gap = place, 0
            continue
        if label == "cut" or (label == "said" and not _is_embedded(rows, labels, place)):
            break
        gap += label != "blank"
        if gap > ABSORBED:
            break
    return last + 1


def _is_embedded(rows: Sequence[str], labels: Sequence[Label], at: int) -> bool:
    """Whether a sentence stands among pasted lines with nothing that sets it apart."""
    if rows[at].rstrip().endswith((":", "?")) or at + 1 >= len(rows):
        return False
    inside = ("shaped", "plain", "fenced")
    return at > 0 and labels[at - 1] in inside and labels[at + 1] in inside


def _is_paste(labels: Sequence[Label], rows: Sequence[str], at: int) -> bool:
    if "fenced" in labels:
        return True
    shaped = sum(label == "shaped" for label in labels)
    lines = sum(label != "blank" for label in labels)
    long = lines >= 2 and sum(map(len, rows[at : at + len(labels)])) >= LEAST_SIZE
    return shaped * 2 >= lines and (lines >= LEAST_LINES or long)


def _refined(text: str, kind: Kind) -> Iterator[Piece]:
    """A stretch of words without what is too long to have been typed."""
    if kind != "words" or len(text) <= LONG_LINE:
        yield Piece(text, kind)
        return
    for block in _long_lines_apart(text):
        if block.kind == "words" and len(block.text) > DOCUMENT:
            yield from _document(block.text)
        else:
            yield block


def _long_lines_apart(text: str) -> Iterator[Piece]:
    kept: list[str] = []
    for row in text.splitlines(keepends=True):
        span = _pasted_in(row) if len(row) > LONG_LINE else None
        if span is None:
            kept.append(row)
            continue
        yield Piece("".join([*kept, row[: span[0]]]), "words")
        yield Piece(row[span[0] : span[1]], "paste")
        kept = [row[span[1] :]]
    if kept:
        yield Piece("".join(kept), "words")


def _pasted_in(row: str) -> tuple[int, int] | None:
    """Where in a long line the part begins and ends that nobody typed."""
    words = (found.span() for found in UNBROKEN.finditer(row))
    long = [(first, last) for first, last in words if last - first >= LONG_WORD]
    dense = len(MARKS.findall(row, 0, TYPED)) * DENSE >= min(len(row), TYPED)
    if not long and not dense and len(row) <= TYPED:
        return None
    end = len(row.rstrip("\r\n"))
    opened = OPENS_DATA.search(row, 0, EDGE) if dense else None
    if opened is not None:
        return opened.start(), _within(max(map(row.rfind, "}]>")) + 1, end)
    if long and row.isascii():
        start = long[0][0] if long[0][0] <= EDGE else _sentence_end(row, EDGE)
        return start, _within(long[-1][1], end)
    return _sentence_end(row, EDGE), end


def _within(last: int, end: int) -> int:
    """Where a paste ends: what follows it is somebody's words only if it is short."""
    return last if end - last <= EDGE else end


def _sentence_end(text: str, upto: int) -> int:
    ends = [found.end() for found in SENTENCE_END.finditer(text, 0, upto)]
    return ends[-1] if ends else 0


def _document(text: str) -> Iterator[Piece]:
    """A block that is too long to have been typed: its ends may be the user's own."""
    first = text.rfind("\n", 0, EDGE) + 1
    last = text.find("\n", len(text) - EDGE) + 1 or len(text)
    yield Piece(text[:first], "words")
    yield Piece(text[first:last], "paste")
    yield Piece(text[last:], "words")
