"""Split a user message into typed words and pastes.

A paste is a log, a trace, code, a table, JSON, a diff or a document: a fenced block, many lines of
one shape, or a block too long to have been typed. Pastes are found line by line in linear time; the
joined pieces are always the whole text. A doubtful line counts as typed: keeping a log line costs a
few tokens, losing an instruction costs the task.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from msgspec import Struct

from holdfast.core.faults import rule_or
from holdfast.core.ledger.marks import PASTE_LINE, PASTE_MARK, SUMMARY_MARK, is_stand_in
from holdfast.text.patterns import Pattern
from holdfast.text.sentences import FENCES, LIST_ITEM, PASTED_LINE_START

PieceKind: TypeAlias = Literal["words", "paste", "cut"]
"""Typed words, a paste, or a paste that was cut before."""

MIN_PASTE_LINES = 6
"""Minimum number of lines of one shape in a paste."""
MIN_PASTE_CHARS = 600
"""A block of this length is a paste even if it has fewer lines."""
LONG_LINE_CHARS = 2_000
"""A longer line is searched for a paste inside it."""
MAX_TYPED_LINE_CHARS = 8_000
"""A longer line contains a paste in any case."""
MIN_DOCUMENT_CHARS = 32_000
"""A longer block of words is a pasted document."""
EDGE_CHARS = 1_000
"""Characters at either end of a document or long line that may be typed."""
SHAPE_CHARS = 400
"""Characters of a line that decide its label."""
MARK_RATIO = 8
"""A line is code or output if at least one in this many characters is a mark."""
MAX_GAP_LINES = 4
"""Maximum number of other lines inside a run of shaped lines."""
DELIMITERS = ",\t|;"

WORD = Pattern(r"[^\W\d_][^\W\d_'’-]{0,40}[,.;:!?)\"'”]{0,3}")
MARKS = Pattern(r"[“”{}\[\]()<>=;:/\\|_$#@&*+~^\"`%]")
SENTENCE_CLOSE = Pattern(r"[.!?:。！？…：]{1,3}[\"'”’)*_`]{0,3}$")
OPENS_DATA = Pattern(r"(?:^|\s)[{\[<](?=[\s\"'{\[<\w!?/])")
UNBROKEN = Pattern(r"\S+")
LONG_WORD_CHARS = 400
"""A longer word is pasted."""
SENTENCE_END = Pattern(r"[.!?](?=\s)|[。！？]")


MAX_CACHED_TEXTS = 48
"""Messages whose pieces are cached: a request is fitted into every summary again."""


class MessagePiece(Struct, frozen=True):
    """A part of a message that is typed or pasted."""

    text: str
    kind: PieceKind


def _all_words(text: str) -> tuple[MessagePiece, ...]:
    """Return the whole message as typed: the fallback of `split_pastes`."""
    return (MessagePiece(text, "words"),) if text else ()


@rule_or(_all_words)
def split_pastes(text: str) -> tuple[MessagePiece, ...]:
    """Split a message into words and pastes; joined, the pieces are the text."""
    return _pieces_of(text)


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _pieces_of(text: str) -> tuple[MessagePiece, ...]:
    if len(text) < MIN_PASTE_CHARS and text.count("\n") < MIN_PASTE_LINES:
        return (MessagePiece(text, _kind_of_short(text)),) if text else ()
    if text.startswith(SUMMARY_MARK) or is_stand_in(text):
        return (MessagePiece(text, "words"),)
    rows = text.splitlines(keepends=True)
    labels = _labelled(rows)
    return tuple(_joined(part for run in _runs(rows, labels) for part in _refined(*run)))


def words_outside_pastes(text: str) -> tuple[str, ...]:
    """Return the typed pieces of a message, stripped, without empty ones."""
    stripped = (piece.text.strip() for piece in split_pastes(text) if piece.kind == "words")
    return tuple(one for one in stripped if one)


def pasted_share(text: str, above: int) -> float:
    """Return the share of a message that is in pastes of more than `above` characters."""
    sizes = (len(piece.text) for piece in split_pastes(text) if piece.kind == "paste")
    return sum(size for size in sizes if size > above) / max(len(text), 1)


def _kind_of_short(text: str) -> PieceKind:
    return "cut" if "\n" not in text.strip() and text.startswith(PASTE_MARK) else "words"


def _joined(parts: Iterator[MessagePiece]) -> Iterator[MessagePiece]:
    """Neighbours of one kind as one piece; a paste that was cut before stays by itself."""
    last: MessagePiece | None = None
    for part in parts:
        if not part.text:
            continue
        if last is not None and part.kind == last.kind and part.kind != "cut":
            last = MessagePiece(last.text + part.text, last.kind)
            continue
        if last is not None:
            yield last
        last = part
    if last is not None:
        yield last


# `diff --git a/x b/x` and `@@ -1,2 +1,3 @@`, but not `diff them`.
DIFF_START = Pattern(r"diff --git \S|@@ -\d")
# ` context`, `+added`, `index 0a1b2c3`, but not `Please fix it.`
DIFF_LINE = Pattern(
    r"[ +@\\-]|(?:diff --git|index|new file mode|deleted file mode|old mode|new mode|rename|copy"
    r"|similarity index|Binary files) \S"
)

LineLabel: TypeAlias = Literal["blank", "shaped", "plain", "said", "fenced", "cut"]
"""Label of a line: certainly pasted, possibly pasted, or typed prose (`said`)."""


def _labelled(rows: Sequence[str]) -> list[LineLabel]:
    labels: list[LineLabel] = []
    fence, cut, diff = "", False, False
    last_fence = max((at for at, row in enumerate(rows) if row.strip() in FENCES), default=-1)
    for at, row in enumerate(rows):
        bare = row.strip()
        cut = row.startswith(PASTE_MARK) or (cut and row.startswith(PASTE_LINE))
        if cut and not fence:
            labels.append("cut")
        elif fence:
            labels.append("fenced")
            fence = "" if bare.startswith(fence) and not bare.strip(fence[0]) else fence
        elif bare.startswith(FENCES) and at < last_fence:
            # A fence that nothing closes is a line like any other.
            fence = bare[:3]
            labels.append("fenced")
        else:
            diff = DIFF_START.match(row) is not None or (diff and DIFF_LINE.match(row) is not None)
            labels.append("shaped" if diff else _label(row, bare))
    return _with_columns(rows, labels)


def _label(row: str, bare: str) -> LineLabel:
    if not bare:
        return "blank"
    indented = row.startswith(("    ", "\t"))
    start = bare[:SHAPE_CHARS]
    if len(bare) > LONG_LINE_CHARS:
        return "said"  # looked at more closely when the stretch is refined
    if _is_said(start):
        return "plain" if indented else "said"
    if LIST_ITEM.match(start) or start.startswith("# "):
        return "plain" if indented or start.startswith("# ") else "said"
    if start.startswith("##") and start.lstrip("#").startswith(" "):
        return "said"
    if (
        indented
        or PASTED_LINE_START.match(start)
        or len(MARKS.findall(start)) * MARK_RATIO >= len(start)
    ):
        return "shaped"
    return "plain"


def _is_said(start: str) -> bool:
    """Whether a line reads like a sentence: words in a row, and few other characters."""
    if PASTED_LINE_START.match(start):
        return False
    words = start.split()
    real = sum(WORD.fullmatch(word) is not None for word in words)
    if not start.isascii() and not real * 2 >= len(words):
        letters = sum(char.isalpha() for char in start)
        return letters * 4 >= len(start) * 3
    if real * 4 < len(words) * 3 or len(MARKS.findall(start)) * 12 > len(start):
        return False
    return len(words) >= 5 or (len(words) >= 2 and SENTENCE_CLOSE.search(start) is not None)


def _with_columns(rows: Sequence[str], labels: list[LineLabel]) -> list[LineLabel]:
    """Lines with the same number of delimiters, many in a row, are those of a table."""
    start = 0
    while start < len(rows):
        shape = _columns(rows[start]) if labels[start] in ("plain", "shaped", "said") else None
        end = start + 1
        while shape and end < len(rows) and _columns(rows[end]) == shape:
            end += 1
        if shape and end - start >= MIN_PASTE_LINES:
            shaped: list[LineLabel] = ["shaped" for _ in range(start, end)]
            labels[start:end] = shaped
        start = end
    return labels


def _columns(row: str) -> tuple[str, int] | None:
    bare = row.strip()
    if not bare or LIST_ITEM.match(bare) or len(bare) > LONG_LINE_CHARS:
        return None
    count, mark = max((bare.count(mark), mark) for mark in DELIMITERS)
    return (mark, count) if count >= 2 else None


def _runs(rows: Sequence[str], labels: Sequence[LineLabel]) -> Iterator[tuple[str, PieceKind]]:
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


def _run_end(rows: Sequence[str], labels: Sequence[LineLabel], at: int) -> int:
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
        if gap > MAX_GAP_LINES:
            break
    return last + 1


def _is_embedded(rows: Sequence[str], labels: Sequence[LineLabel], at: int) -> bool:
    """Whether a sentence stands among pasted lines with nothing that sets it apart."""
    if rows[at].rstrip().endswith((":", "?")) or at + 1 >= len(rows):
        return False
    inside = ("shaped", "plain", "fenced")
    return at > 0 and labels[at - 1] in inside and labels[at + 1] in inside


def _is_paste(labels: Sequence[LineLabel], rows: Sequence[str], at: int) -> bool:
    if "fenced" in labels:
        return True
    shaped = sum(label == "shaped" for label in labels)
    lines = sum(label != "blank" for label in labels)
    long = lines >= 2 and sum(map(len, rows[at : at + len(labels)])) >= MIN_PASTE_CHARS
    return shaped * 2 >= lines and (lines >= MIN_PASTE_LINES or long)


def _refined(text: str, kind: PieceKind) -> Iterator[MessagePiece]:
    """A stretch of words without what is too long to have been typed."""
    if kind != "words" or len(text) <= LONG_LINE_CHARS:
        yield MessagePiece(text, kind)
        return
    for block in _long_lines_apart(text):
        if block.kind == "words" and len(block.text) > MIN_DOCUMENT_CHARS:
            yield from _document(block.text)
        else:
            yield block


def _long_lines_apart(text: str) -> Iterator[MessagePiece]:
    kept: list[str] = []
    for row in text.splitlines(keepends=True):
        span = _pasted_in(row) if len(row) > LONG_LINE_CHARS else None
        if span is None:
            kept.append(row)
            continue
        yield MessagePiece("".join([*kept, row[: span[0]]]), "words")
        yield MessagePiece(row[span[0] : span[1]], "paste")
        kept = [row[span[1] :]]
    if kept:
        yield MessagePiece("".join(kept), "words")


def _pasted_in(row: str) -> tuple[int, int] | None:
    """Where in a long line the part begins and ends that nobody typed."""
    words = (found.span() for found in UNBROKEN.finditer(row))
    long = [(first, last) for first, last in words if last - first >= LONG_WORD_CHARS]
    dense = len(MARKS.findall(row, 0, MAX_TYPED_LINE_CHARS)) * MARK_RATIO >= min(
        len(row), MAX_TYPED_LINE_CHARS
    )
    if not long and not dense and len(row) <= MAX_TYPED_LINE_CHARS:
        return None
    end = len(row.rstrip("\r\n"))
    opened = OPENS_DATA.search(row, 0, EDGE_CHARS) if dense else None
    if opened is not None:
        return opened.start(), _within(max(map(row.rfind, "}]>")) + 1, end)
    if long and row.isascii():
        start = long[0][0] if long[0][0] <= EDGE_CHARS else _sentence_end(row, EDGE_CHARS)
        return start, _within(long[-1][1], end)
    return _sentence_end(row, EDGE_CHARS), end


def _within(last: int, end: int) -> int:
    """Where a paste ends: what follows it is somebody's words only if it is short."""
    return last if end - last <= EDGE_CHARS else end


def _sentence_end(text: str, upto: int) -> int:
    ends = [found.end() for found in SENTENCE_END.finditer(text, 0, upto)]
    return ends[-1] if ends else 0


def _document(text: str) -> Iterator[MessagePiece]:
    """A block that is too long to have been typed: its ends may be the user's own."""
    first = text.rfind("\n", 0, EDGE_CHARS) + 1
    last = text.find("\n", len(text) - EDGE_CHARS) + 1 or len(text)
    yield MessagePiece(text[:first], "words")
    yield MessagePiece(text[first:last], "paste")
    yield MessagePiece(text[last:], "words")
