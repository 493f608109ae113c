"""Cut pastes in a user's message, or a whole message to a number of tokens.

Windows, summaries and views all use these functions. The user's own words are kept. A paste is
replaced by its first lines, an outline, and the reference of the whole message. A message whose own
words are too long keeps its beginning, the sentences that are constraints, and a reference.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.marks import PASTE_LINE, PASTE_MARK
from holdfast.core.ledger.summary import Intent, Quote
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.requests.constraints import constraints_in
from holdfast.core.observe.requests.intent import IntentReading
from holdfast.core.observe.requests.pastes import MessagePiece, split_pastes, words_outside_pastes
from holdfast.core.observe.sentences import sentences
from holdfast.core.shrink.outline.outline import first_lines, outline
from holdfast.text.clip import most_that_fit

REF_LENGTH = 12
CONTINUES_MARK = "[more "
"""The start of the line that says that a request is longer than shown."""
MAX_CACHED_TEXTS = 64
"""Texts whose parts are cached: a request is fitted several times into each summary."""
MIN_ROOM_TOKENS = 24
"""With fewer tokens, no words of a request are shown."""


class PasteForm(Struct, frozen=True):
    """How much of a paste is kept."""

    max_whole_chars: int
    """A paste of at most so many characters is not cut."""
    head_lines: int = 0
    """Lines of its beginning that are shown."""
    width: int = 160
    preview_chars: int = 0
    """Characters of its beginning that are shown, in all lines together."""
    outline_lines: int = 0
    """Lines of outline."""


IN_SUMMARY = PasteForm(max_whole_chars=1_200, head_lines=5, preview_chars=400, outline_lines=6)
"""For quotations of a request, in summaries, packets and levels."""
ONE_LINE = PasteForm(max_whole_chars=200)
"""For little room: one line with the kind, the size and the reference."""


def cut_pastes(text: str, ref: str, form: PasteForm) -> str:
    """Cut every large paste in a message; return the same text if there is none."""
    return "".join(_cut_piece(piece, ref, form) for piece in split_pastes(text))


def _cut_piece(piece: MessagePiece, ref: str, form: PasteForm) -> str:
    if piece.kind == "words" or len(piece.text) <= form.max_whole_chars:
        return piece.text
    if piece.kind == "cut":
        # A paste that was cut before is not outlined again; only its first line is required.
        return (
            piece.text if form.head_lines else piece.text[: piece.text.find("\n") + 1] or piece.text
        )
    cut = paste_notice(piece.text, ref, form)
    return cut if len(cut) < len(piece.text) else piece.text


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def paste_notice(text: str, ref: str, form: PasteForm) -> str:
    """Return the text that replaces a paste."""
    outlined = outline(text, lines=form.outline_lines, width=form.width)
    size = f"{len(text):,} characters, {text.count(chr(10)) + (not text.endswith(chr(10))):,} lines"
    head = f"{PASTE_MARK}{ref[:REF_LENGTH]}] {size}, {outlined.kind}: {outlined.summary}"
    preview = first_lines(text, lines=form.head_lines, width=form.width, total=form.preview_chars)
    lines = [
        head,
        *(
            f"{PASTE_LINE}{line.rstrip()}"
            for line in (*preview, *_not_in_preview(outlined.lines, preview))
        ),
    ]
    return "\n".join(lines) + ("\n" if text.endswith(("\n", "\r")) else "")


def _not_in_preview(lines: Sequence[str], preview: Sequence[str]) -> Iterator[str]:
    """Yield the lines of an outline that the preview does not show already."""
    known = {line.strip() for line in preview}
    return (line.replace("\n", " ") for line in lines if line.strip() not in known)


def cut_wanted(want: IntentReading) -> IntentReading:
    """Cut the pastes in the intent and the words of a user."""
    return replace(want, intent=cut_intent(want.intent), words=tuple(map(cut_quote, want.words)))


def cut_intent(intent: Intent, form: PasteForm = IN_SUMMARY) -> Intent:
    """Cut the pastes in the first and the current request."""
    return map_requests(intent, lambda quote: cut_quote(quote, form))


def cut_quote(quote: Quote, form: PasteForm = IN_SUMMARY) -> Quote:
    """Cut the pastes in a quotation of the user."""
    text = cut_pastes(quote.text, quote.entry, form)
    return quote if text == quote.text else Quote(text, quote.entry)


def map_requests(intent: Intent, change: Callable[[Quote], Quote]) -> Intent:
    """Apply a function to the requests of an intent; drop parts of a request that become empty.

    If the first request is the current one, the result has one request too.
    """
    original = change(intent.original)
    current = original if intent.current == intent.original else change(intent.current)
    return replace(
        intent,
        original=original,
        current=current,
        original_rest=tuple(part for part in map(change, intent.original_rest) if part.text),
        current_rest=tuple(part for part in map(change, intent.current_rest) if part.text),
    )


def fit_request(text: str, ref: str, room: int, count: CountTokens) -> str:
    """Fit a message into `room` tokens: whole, with its pastes cut, or with its words cut.

    If the words are cut, the beginning and the sentences that are constraints are kept.
    """
    if len(text) <= room or (len(text) <= room * 12 and count(text) <= room):
        return text
    for form in (IN_SUMMARY, ONE_LINE):
        cut = cut_pastes(text, ref, form)
        if len(cut) <= room * 12 and count(cut) <= room:
            return cut
    return _cut_words(text, ref, room, count)


def keeps_users_words(whole: str, shown: str) -> bool:
    """Return whether a cut message has all of the user's own words, in their order.

    If the words themselves were cut, a line must say so, and every other line must be the user's.
    """
    if f"\n{CONTINUES_MARK}" in f"\n{shown}":
        lines = (line for line in shown.split("\n") if not line.startswith(CONTINUES_MARK))
        known = " ".join(whole.split())
        return all(" ".join(line.split()) in known for line in lines)
    start = 0
    for words in words_outside_pastes(whole):
        found = shown.find(words, start)
        if found < 0:
            return False
        start = found + len(words)
    return True


def _cut_words(text: str, ref: str, room: int, count: CountTokens) -> str:
    """Return the beginning of the user's words, their constraints, and the reference."""
    words = "".join(piece.text for piece in split_pastes(text) if piece.kind == "words").strip()
    end = f"{CONTINUES_MARK}{ref[:REF_LENGTH]}] {len(text):,} characters in all"
    left = room - count(end) - 2
    if left < MIN_ROOM_TOKENS:
        return end
    if words and len(words) <= left * 12 and count(words) <= left:
        return f"{words}\n{end}"
    head = head_that_fits(words or text, left * 2 // 3, count)
    rules = _binding_sentences(words, head, left - count(head), count)
    shown = "\n".join([head, *rules, end])
    # Joined lines can cost more than the sum of their counts: then the constraints are left out.
    return (
        shown
        if count(shown) <= room
        else f"{head_that_fits(words or text, left // 2, count)}\n{end}"
    )


def _binding_sentences(words: str, head: str, room: int, count: CountTokens) -> Iterator[str]:
    """Yield the constraints in the user's words that fit, in their order."""
    for text in _rules_in(words):
        cost = count(text) + 2
        if text not in head and cost <= room:
            room -= cost
            yield text


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _rules_in(words: str) -> tuple[str, ...]:
    found = constraints_in(words, sentences(words))
    return tuple(constraint.text.replace("\n", " ") for constraint in found)


def head_that_fits(text: str, room: int, count: CountTokens) -> str:
    """Return the longest beginning of a text that fits, up to the end of a line or a word."""
    most = min(len(text), max(room, 0) * 8)
    size = most_that_fit(most, lambda size: count(text[:size]) <= room)
    if size == len(text):
        return text
    for mark in ("\n", " "):
        end = text.rfind(mark, size // 2, size)
        if end > 0:
            return text[:end].rstrip()
    return text[:size]
