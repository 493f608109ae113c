"""A user's message with its pastes cut: the one function for windows, summaries and views.

The user's own words stay as they are. Of a paste its beginning and an outline stay, and a reference
under which the ledger gives the whole message back. A message that is all words and larger than its
share keeps its beginning, the sentences that bind, and a reference.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.marks import PASTE_LINE, PASTE_MARK
from holdfast.core.ledger.summary import Intent, Quote
from holdfast.core.measure.tokens import CountTokens
from holdfast.core.observe.requests.constraints import constraints_in
from holdfast.core.observe.requests.intent import Wanted
from holdfast.core.observe.requests.pastes import Piece, own_words_of, pieces
from holdfast.core.observe.sentences import sentences
from holdfast.core.shrink.outline.outline import head_of, outline

REF_LENGTH = 12
WORDS_MARK = "[more "
"""How the line begins that says that a request goes on."""
LEAST_ROOM = 24
"""Tokens below which the beginning of a request says nothing."""


class Form(Struct, frozen=True):
    """How much stays of a paste."""

    above: int
    """Characters up to which a paste stays whole."""
    lines: int = 0
    """Lines shown from its beginning."""
    width: int = 160
    preview: int = 0
    """Characters shown of its beginning in all."""
    outline: int = 0
    """Lines of outline."""


IN_SUMMARY = Form(above=1_200, lines=5, preview=400, outline=6)
"""In summaries, packets, levels and wherever else a request is quoted."""
ONE_LINE = Form(above=200)
"""Where room is short: what it was and where it is."""


def cut_pastes(text: str, ref: str, form: Form) -> str:
    """A message with every large paste cut; the same text when there is none."""
    return "".join(_shown(piece, ref, form) for piece in pieces(text))


def _shown(piece: Piece, ref: str, form: Form) -> str:
    if piece.kind == "words" or len(piece.text) <= form.above:
        return piece.text
    if piece.kind == "cut":
        # What was cut before is not cut again; only its first line has to stay.
        return piece.text if form.lines else piece.text[: piece.text.find("\n") + 1] or piece.text
    made = notice(piece.text, ref, form)
    return made if len(made) < len(piece.text) else piece.text


def notice(text: str, ref: str, form: Form) -> str:
    """What stands where a paste was."""
    seen = outline(text, lines=form.outline, width=form.width)
    size = f"{len(text):,} characters, {text.count(chr(10)) + (not text.endswith(chr(10))):,} lines"
    head = f"{PASTE_MARK}{ref[:REF_LENGTH]}] {size}, {seen.kind}: {seen.summary}"
    begun = head_of(text, lines=form.lines, width=form.width, total=form.preview)
    lines = [head, *(f"{PASTE_LINE}{line.rstrip()}" for line in (*begun, *_new(seen.lines, begun)))]
    return "\n".join(lines) + ("\n" if text.endswith(("\n", "\r")) else "")


def _new(lines: Sequence[str], begun: Sequence[str]) -> Iterator[str]:
    """Lines of an outline that the beginning does not show already."""
    known = {line.strip() for line in begun}
    return (line.replace("\n", " ") for line in lines if line.strip() not in known)


def cut_wanted(want: Wanted) -> Wanted:
    """What the user wants, with the pastes in it cut."""
    return replace(want, intent=cut_intent(want.intent), words=tuple(map(cut_quote, want.words)))


def cut_intent(intent: Intent, form: Form = IN_SUMMARY) -> Intent:
    """The first and the newest request, with the pastes in them cut."""
    return over_requests(intent, lambda quote: cut_quote(quote, form))


def cut_quote(quote: Quote, form: Form = IN_SUMMARY) -> Quote:
    """Words of the user, with the pastes in them cut."""
    text = cut_pastes(quote.text, quote.entry, form)
    return quote if text == quote.text else Quote(text, quote.entry)


def over_requests(intent: Intent, change: Callable[[Quote], Quote]) -> Intent:
    """An intent with its requests changed; the one request that is both stays one.

    Parts of a request of which nothing is left are left out.
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


def within(text: str, ref: str, room: int, count: CountTokens) -> str:
    """A message in so many tokens: whole, with its pastes cut, or as far as its words fit.

    The words of a request that has to be cut are its beginning and the sentences that bind.
    """
    if len(text) <= room or (len(text) <= room * 12 and count(text) <= room):
        return text
    for form in (IN_SUMMARY, ONE_LINE):
        shown = cut_pastes(text, ref, form)
        if len(shown) <= room * 12 and count(shown) <= room:
            return shown
    return _begun(text, ref, room, count)


def says_the_same(whole: str, shown: str) -> bool:
    """Whether a message that was cut still says what the user said.

    All of the user's own words are there, in their order; where the words themselves had to be cut,
    a line says so, and every other line is one of theirs.
    """
    if f"\n{WORDS_MARK}" in f"\n{shown}":
        lines = (line for line in shown.split("\n") if not line.startswith(WORDS_MARK))
        known = " ".join(whole.split())
        return all(" ".join(line.split()) in known for line in lines)
    at = 0
    for words in own_words_of(whole):
        found = shown.find(words, at)
        if found < 0:
            return False
        at = found + len(words)
    return True


def _begun(text: str, ref: str, room: int, count: CountTokens) -> str:
    """The beginning of the user's own words, those that bind, and where the rest is."""
    told = "".join(piece.text for piece in pieces(text) if piece.kind == "words").strip()
    end = f"{WORDS_MARK}{ref[:REF_LENGTH]}] {len(text):,} characters in all"
    left = room - count(end) - 2
    if left < LEAST_ROOM:
        return end
    if told and len(told) <= left * 12 and count(told) <= left:
        return f"{told}\n{end}"
    begun = beginning(told or text, left * 2 // 3, count)
    rules = _binding(told, begun, left - count(begun), count)
    shown = "\n".join([begun, *rules, end])
    # What lines cost together is known only once they stand there.
    return shown if count(shown) <= room else f"{beginning(told or text, left // 2, count)}\n{end}"


def _binding(told: str, begun: str, room: int, count: CountTokens) -> Iterator[str]:
    """Sentences that bind the agent, as far as they fit, in their order."""
    for found in constraints_in(told, sentences(told)):
        text = found.text.replace("\n", " ")
        cost = count(text) + 2
        if text not in begun and cost <= room:
            room -= cost
            yield text


def beginning(text: str, room: int, count: CountTokens) -> str:
    """As much of a text from its beginning as fits, up to the end of a line or a word."""
    most = min(len(text), max(room, 0) * 8)
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    if low == len(text):
        return text
    for mark in ("\n", " "):
        end = text.rfind(mark, low // 2, low)
        if end > 0:
            return text[:end].rstrip()
    return text[:low]
